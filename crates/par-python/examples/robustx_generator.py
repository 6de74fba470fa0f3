"""PAR as a generator of RobustX, beside its own in `default_benchmark`.

RobustX is github.com/RobustCounterfactualX/RobustX; this follows its `CEGenerator`, `Task` and `BaseModel` as of commit
8d09d4e.

```python
default_benchmark(task, {"PAR": Par, "KDTreeNNCE": KDTreeNNCE}, neg_value=0, column_name="target")
Par(task, immutable=["age"]).generate_for_all()
```

- The answer has the columns of `task.training_data.X`, a row for every instance, in their order. As RobustX's own
  generators do, it repeats the instance where there is no counterfactual.
- An answer was verified with `task.model`: it gives the class that is not `neg_value`, with at least one half.
- RobustX does not say what people can change: `immutable` names columns that stay, `schema` says all that a schema can.
  Without one, columns of zeros and ones are categories, and all others are numbers.
- The first question about a class fits a model, which is part of the time that the benchmark measures.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy
import pandas
from robustx.generators.CEGenerator import CEGenerator

from par_recourse import Recourse


class Par(CEGenerator):
    """Counterfactuals by PAR. `method` and `budget` are those of `Recourse.recourse`, the rest is `Recourse`'s."""

    def __init__(
        self,
        ct: Any,
        custom_distance_func: Any = None,
        *,
        schema: Any = None,
        immutable: Sequence[str] | None = None,
        method: str = "refine",
        budget: int | None = None,
        config: dict[str, Any] | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(ct, custom_distance_func)
        self._settings = {"immutable": immutable, "config": config, "random_state": random_state}
        self._schema = schema
        self._request = {"method": method, "budget": budget}
        self._fitted: dict[int, Recourse] = {}

    def generate(
        self, instances: pandas.DataFrame, neg_value: int = 0, column_name: str = "target", **kwargs: Any
    ) -> pandas.DataFrame:
        """All instances at once; RobustX's own asks one at a time."""
        if len(instances) == 0:
            return instances.copy()
        recourse = self._recourse(neg_value, column_name)
        columns = list(recourse.feature_names_in_)
        rows = instances[columns].reset_index(drop=True).astype(float)
        lines = recourse.recourse(rows, **self._request)
        lines = lines[lines[recourse.columns_["status"]] == "found"]
        answers = rows.copy()
        answers.loc[lines[recourse.columns_["id"]].astype(int)] = lines[columns].astype(float).to_numpy()
        return answers.set_axis(instances.index)[list(self.task.training_data.X.columns)]

    def _generation_method(
        self, instance: Any, column_name: str = "target", neg_value: int = 0, **kwargs: Any
    ) -> pandas.DataFrame:
        rows = instance.to_frame().T if isinstance(instance, pandas.Series) else instance
        return self.generate(rows, neg_value=neg_value, column_name=column_name)

    def _recourse(self, neg_value: int, label: str) -> Recourse:
        """The recourse to the class that is not `neg_value`, fitted at the first question."""
        wanted = 1 - neg_value
        if wanted not in self._fitted:
            data = self.task.training_data
            rows = data.X.astype(float)
            target = pandas.Series(numpy.asarray(data.y).reshape(-1), index=rows.index).astype(int)
            self._fitted[wanted] = Recourse(
                self._schema or _schema(rows, label),
                classifier=lambda table: self._probabilities(table[list(rows.columns)], wanted),
                favourable=str(wanted),
                threshold=0.5,
                progress=False,
                **self._settings,
            ).fit(rows.assign(**{label: target}))
        return self._fitted[wanted]

    def _probabilities(self, rows: pandas.DataFrame, wanted: int) -> Any:
        found = numpy.asarray(self.task.model.predict_proba(rows.astype(float)), dtype=float)
        return found[:, wanted] if found.ndim == 2 and found.shape[1] == 2 else found


def _schema(rows: pandas.DataFrame, label: str) -> dict[str, Any]:
    """Everything may change: columns of zeros and ones to the other, numbers within the table's."""
    features: list[dict[str, Any]] = []
    for name in rows.columns:
        if rows[name].isin([0, 1]).all():
            features.append({"name": name, "kind": "nominal", "values": ["0", "1"], "change": "free"})
        else:
            features.append({"name": name, "kind": "continuous", "change": "free"})
    return {"version": 2, "label": {"column": label, "classes": ["0", "1"], "favourable": "1"}, "feature": features}
