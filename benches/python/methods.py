"""The methods side by side. Each is made ready once, and then asked about one row at a time."""

import random
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.neural_network import MLPRegressor

from classifier import Decision, encoder
from tables import Table

SEED = 0

# Takes a frame of one row, gives a frame of one row or nothing.
Answer = Callable[[pd.DataFrame], pd.DataFrame | None]


def dice(table: Table, decision: Decision, method: str) -> Answer:
    """DiCE, told all that it can be told: what is immutable, what is a number, and, anew for every row, where
    a person may go. It has no word for rules."""
    import dice_ml
    from raiutils.exceptions import UserConfigValidationException

    frame = table.training[table.names].assign(accepted=decision.predict(table.training[table.names]))
    data = dice_ml.Data(dataframe=frame, continuous_features=table.numbers, outcome_name="accepted")
    model = dice_ml.Model(model=decision, backend="sklearn")
    free = [feature["name"] for feature in table.features if not feature.get("immutable")]
    seeded = {"random_seed": SEED} if method == "random" else {}

    def answer(row: pd.DataFrame) -> pd.DataFrame | None:
        random.seed(SEED)
        np.random.seed(SEED)
        # The genetic method keeps its last population, so that each row has an explainer of its own.
        explainer = dice_ml.Dice(data, model, method=method)
        permitted = {
            feature["name"]: permitted_values(feature, row[feature["name"]].iat[0], data.permitted_range)
            for feature in table.features
            if not feature.get("immutable")
        }
        try:
            found = explainer.generate_counterfactuals(
                row, total_CFs=1, desired_class=1, features_to_vary=free, permitted_range=permitted, **seeded
            )
        except UserConfigValidationException as error:
            if "No counterfactuals found" not in str(error):
                raise
            return None
        example = found.cf_examples_list[0]
        sparse = example.final_cfs_df_sparse
        return (example.final_cfs_df if sparse is None else sparse)[table.names][:1]

    return answer


def permitted_values(feature: dict, own, seen: dict) -> list:
    """Where a person may go with a feature: to what rows of training hold, within the bounds, in a direction
    that is allowed. The own value is always there."""
    values = seen[feature["name"]]
    monotone = feature.get("monotone")
    if feature["kind"] == "ordinal" and monotone in ("increasing", "decreasing"):
        order = feature["values"]
        place = order.index(own)
        ahead = order[place:] if monotone == "increasing" else order[: place + 1]
        return [value for value in values if value in ahead or value == own]
    if "values" in feature:
        return list(values)
    low, high = feature["bounds"]
    low, high = max(low, values[0].item()), min(high, values[1].item())
    own = own.item()
    if monotone == "increasing":
        low = own
    if monotone == "decreasing":
        high = own
    return [min(low, own), max(high, own)]


def nice(table: Table, decision: Decision, reward: str) -> Answer:
    """NICE, which walks to the nearest accepted row of training. It has no word for what cannot change."""
    from nice import NICE

    def frame(rows: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame(rows, columns=table.names).astype({name: float for name in table.numbers})

    rows = table.training[table.names].to_numpy(dtype=object)
    explainer = NICE(
        predict_fn=lambda rows: decision.predict_proba(frame(rows)),
        X_train=rows,
        cat_feat=[table.names.index(name) for name in table.texts],
        num_feat=[table.names.index(name) for name in table.numbers],
        y_train=(table.training[table.label] == table.favourable).to_numpy().astype(int),
        optimization=reward,
        auto_encoder=autoencoder(table, frame) if reward == "plausibility" else None,
    )
    return lambda row: frame(explainer.explain(row.to_numpy(dtype=object), target_class=[1]))


def autoencoder(table: Table, frame: Callable) -> Callable:
    """How badly a small network gives rows back that it has squeezed to a third of their width: the error
    that NICE asks for to reward plausibility, and brings no network for."""
    encoded = encoder(table).fit(table.training[table.names])
    rows = encoded.transform(table.training[table.names])
    width = rows.shape[1]
    network = MLPRegressor(
        hidden_layer_sizes=(2 * width // 3, width // 3, 2 * width // 3),
        early_stopping=True,
        random_state=SEED,
    )
    network.fit(rows, rows)

    def error(raw: np.ndarray) -> np.ndarray:
        rows = encoded.transform(frame(raw))
        return ((network.predict(rows) - rows) ** 2).mean(axis=1)

    return error


def fitted(table: Table, decision: Decision):
    """PAR's side of the classifier, made ready through the Python package."""
    from par_recourse import Recourse

    settings = {"threshold": table.threshold, "bins": table.bins, "price": table.price}
    recourse = Recourse(table.schema_file, classifier=decision.model, progress=False, **settings)
    return recourse.fit(table.training[table.names], table.training[table.label])


def par(table: Table, recourse, method: str) -> Answer:
    """PAR, by what was fitted."""

    def answer(row: pd.DataFrame) -> pd.DataFrame | None:
        answers = recourse.recourse(row, method=method, order="likelihood")
        found = answers[answers["status"] == "found"]
        return found[table.names][:1] if len(found) else None

    return answer
