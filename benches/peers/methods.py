"""The packages that run: how each is made ready for a fold, and asked about one person.

Each has its documented defaults and gives one answer. Where a package has a word for what cannot change, or for how
long it may take, it is told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from permitted import permitted
from questions import Questions

Answer = Callable[[pd.DataFrame], pd.Series | None]
"""Takes a frame of one row, gives the features of the answer, or nothing."""
Ready = Callable[[Questions, float], Answer]
"""Takes a fold, and the most seconds for a person."""


@dataclass(frozen=True)
class Method:
    title: str
    """Its name in the table of answers."""
    package: str
    ready: Ready


def dice(method: str) -> Ready:
    """DiCE (`dice-ml`), told which features may vary, and, anew for every person, within which values. Of its two answers
    the sparser one counts, as in its display."""

    def ready(asked: Questions, limit: float) -> Answer:
        import dice_ml
        from raiutils.exceptions import UserConfigValidationException

        frame = asked.training.assign(accepted=asked.accepted)
        data = dice_ml.Data(dataframe=frame, continuous_features=asked.numbers, outcome_name="accepted")
        model = dice_ml.Model(model=asked.classifier, backend="sklearn")

        def answer(row: pd.DataFrame) -> pd.Series | None:
            # The genetic search keeps its last population: every person gets an explainer of their own.
            explainer = dice_ml.Dice(data, model, method=method)
            ranges = {
                name: permitted(asked.features[name], row[name].iat[0], data.permitted_range[name])
                for name in asked.free
            }
            try:
                found = explainer.generate_counterfactuals(
                    row, total_CFs=1, desired_class=1, features_to_vary=asked.free, permitted_range=ranges
                ).cf_examples_list[0]
            except UserConfigValidationException as error:
                if "No counterfactuals found" in str(error):
                    return None
                raise
            sparse = found.final_cfs_df_sparse
            rows = found.final_cfs_df if sparse is None else sparse
            return None if rows is None or len(rows) == 0 else rows[asked.names].iloc[0]

        return answer

    return ready


def nice(optimization: str) -> Ready:
    """NICE (`NICEx`), which has no word for what cannot change."""

    def ready(asked: Questions, limit: float) -> Answer:
        from nice import NICE

        explainer = NICE(
            predict_fn=lambda rows: asked.classifier.predict_proba(asked.frame(rows)),
            X_train=asked.training.to_numpy(dtype=object),
            cat_feat=[asked.names.index(name) for name in asked.texts],
            num_feat=[asked.names.index(name) for name in asked.numbers],
            y_train=asked.labels,
            optimization=optimization,
        )
        return lambda row: asked.frame(explainer.explain(row.to_numpy(dtype=object), target_class=[1])).iloc[0]

    return ready


def cfnow(strategy: str) -> Ready:
    """CFNOW (`cfnow`) on one-hot columns, which has no word for what cannot change, nor for ranges.

    It improves its answer until its time is over (120 seconds unless told), and is given nine tenths of the limit.
    """

    def ready(asked: Questions, limit: float) -> Answer:
        from cfnow import find_tabular

        # Columns with the same text before `_` are one category.
        columns = [(name, value) for name in asked.texts for value in asked.categories[name]]
        titles = [f"{asked.texts.index(name)}_{value}" for name, value in columns]
        order = [*asked.numbers, *titles]
        kinds = dict.fromkeys(asked.numbers, "num") | dict.fromkeys(titles, "cat")
        places = {
            name: [order.index(title) for title, column in zip(titles, columns) if column[0] == name]
            for name in asked.texts
        }
        values = {name: np.array(asked.categories[name], dtype=object) for name in asked.texts}

        def decoded(rows: object) -> pd.DataFrame:
            rows = np.asarray(rows, dtype=float).reshape(-1, len(order))
            parts = {name: rows[:, place] for place, name in enumerate(asked.numbers)}
            parts |= {name: values[name][rows[:, places[name]].argmax(axis=1)] for name in asked.texts}
            return pd.DataFrame(parts)

        def answer(row: pd.DataFrame) -> pd.Series | None:
            own = row.iloc[0]
            cells = [*(own[name] for name in asked.numbers), *(own[name] == value for name, value in columns)]
            factual = pd.Series(np.array(cells, dtype=float), index=order)
            found = find_tabular(
                factual=factual,
                model_predict_proba=lambda rows: asked.classifier.predict_proba(decoded(rows)),
                feat_types=kinds,
                has_ohe=True,
                cf_strategy=strategy,
                limit_seconds=min(0.9 * limit, 120),
            )
            return decoded(found.cfs[0])[asked.names].iloc[0] if found.total_cf > 0 else None

        return answer

    return ready


METHODS = {
    "dice-random": Method("dice-ml random", "dice-ml", dice("random")),
    "dice-genetic": Method("dice-ml genetic", "dice-ml", dice("genetic")),
    "dice-kdtree": Method("dice-ml kdtree", "dice-ml", dice("kdtree")),
    "nice": Method("NICEx sparsity", "NICEx", nice("sparsity")),
    "nice-proximity": Method("NICEx proximity", "NICEx", nice("proximity")),
    "nice-none": Method("NICEx none", "NICEx", nice("none")),
    "cfnow": Method("cfnow random", "cfnow", cfnow("random")),
    "cfnow-greedy": Method("cfnow greedy", "cfnow", cfnow("greedy")),
}
