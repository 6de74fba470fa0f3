"""DiCE's names, answered by PAR: change the import, keep the script.

```python
from par_recourse.compat import dice as dice_ml

d = dice_ml.Data(dataframe=train, continuous_features=["age", "hours"], outcome_name="income")
m = dice_ml.Model(model=pipeline, backend="sklearn")
exp = dice_ml.Dice(d, m, method="random")
found = exp.generate_counterfactuals(queries, total_CFs=4, desired_class="opposite", features_to_vary=["hours"])
found.visualize_as_dataframe(show_only_changes=True)
```

Keywords, results, messages and JSON are those of DiCE 0.12 for classifiers on tables; its modules `utils.helpers` and
`counterfactual_explanations` are here too. What differs:

- Every counterfactual is verified with the model itself, which gives it the desired class, with at least the
  probability of `stopping_threshold`. None changes a feature outside `features_to_vary`, or moves one outside
  `permitted_range`.
- They are plausible rows of the desired class that take the least effort, not random ones. Each leaves out a
  change of every one before it, so there may be fewer than `total_CFs`.
- `fewest_changes=True` asks for the fewest changes instead: rows with one change come first, then those with two, and so
  on. They take more effort, or are less plausible, than the best row with one more change.
- The same query always has the same answer. Options of DiCE's searches have no effect, and say so once
  (`IgnoredOptionWarning`): `random_seed`, `sample_size`, `limit_steps_ls`, `proximity_weight`, `sparsity_weight`,
  `diversity_weight`, `categorical_penalty`, `algorithm`, `initialization`, `yloss_type`, `diversity_loss_type`,
  `maxiterations`, `thresh`, and any `posthoc_sparsity_param` and `posthoc_sparsity_algorithm` but the usual ones and
  None. All methods accept all of them. Any other keyword is a TypeError, also in `Data`.
- `feature_weights` may be a dict of weights above 0, for every method: a change of a feature with a weight of 2 takes
  twice the effort. ``"inverse_mad"`` has no effect, and says so.
- `method` may be ``"random"``, ``"genetic"`` or ``"kdtree"``, which all mean ``"refine"``, or one of PAR's own:
  ``"generate"``, ``"refine"``, or ``"exact"``, which proves its answers.
- A query that already has the desired class, with the required probability, has no counterfactuals. DiCE changes it
  all the same.
- `stopping_threshold` is symmetric around one half for every class: 0.8 and 0.2 both require 80 %. DiCE accepts only
  the one that suits the class, and replaces the other by its own number. With more than two classes the desired one
  has at least one half.
- The first query for a class fits a model: seconds for thousands of rows. Later ones take milliseconds, also of another
  `Dice` with the same `Data`, `Model` and settings. Keywords of `Dice` beyond DiCE's are settings of
  `par_recourse.Recourse`, such as ``config={"generator": {"steps": 500}}``.
- `Data` also takes a `schema`, as `Recourse` does: immutable features, features that change in one direction only, and
  rules between features. `continuous_features` may then be left out. Its `test_size` and
  `continuous_features_precision` have no effect, and say so: all rows are used, and numbers have the decimals of the table.
- `Model` also takes an ONNX file, or a function that gives probabilities for a frame. For a function, and for a model
  that cannot be converted, the search uses a surrogate, and the results are verified with the model itself.
- Nothing is printed without `verbose`.
- There are no regressors, no private data (`features=` instead of a frame), no gradients, and no trained models to download.
"""

from . import counterfactual_explanations, utils
from .counterfactual_explanations import (
    CounterfactualExamples,
    CounterfactualExplanations,
    UserConfigValidationException,
)
from .explainer import Dice
from .interfaces import Data, Model

__all__ = [
    "CounterfactualExamples",
    "CounterfactualExplanations",
    "Data",
    "Dice",
    "Model",
    "UserConfigValidationException",
    "counterfactual_explanations",
    "utils",
]
