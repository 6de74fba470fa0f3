"""Options of DiCE that have no effect here, and say so once."""

from __future__ import annotations

import warnings
from typing import Any, Mapping

from ...errors import IgnoredOptionWarning

_SEARCH = "the search has no such step"

_WHY = {
    "random_seed": "the same query always has the same answer",
    "sample_size": "rows are searched for, not sampled",
    "limit_steps_ls": _SEARCH,
    "initialization": _SEARCH,
    "algorithm": "`method` chooses the search",
    "proximity_weight": "the least effort comes first, which `feature_weights` tell",
    "sparsity_weight": "`fewest_changes=True` asks for the fewest changes",
    "diversity_weight": "each row leaves out a change of every one before it",
    "categorical_penalty": "categories are always valid",
    "yloss_type": _SEARCH,
    "diversity_loss_type": _SEARCH,
    "maxiterations": "a search ends when it has found its row",
    "thresh": "a search ends when it has found its row",
    "posthoc_sparsity_param": "no row has a change that it does not need; `fewest_changes=True` asks for the fewest",
    "posthoc_sparsity_algorithm": "no row has a change that it does not need; `fewest_changes=True` asks for the fewest",
    "feature_weights": "a change is measured by its effort; a dict of weights has an effect",
    "test_size": "all rows of the frame are used",
    "continuous_features_precision": "numbers have the decimals of the table",
}
"""Why each has no effect."""

_ONLY_OF_DATA = {"test_size", "continuous_features_precision"}


class IgnoredOptions:
    """Warns of options without effect, of each once."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def tell(self, where: str, options: Mapping[str, Any]) -> None:
        """Warns of these keywords of a function, and refuses those that DiCE does not know."""
        for name in options:
            if name not in _WHY or name in _ONLY_OF_DATA:
                raise TypeError(f"{where}() got an unexpected keyword argument '{name}'")
        for name in options:
            self.tell_of(name)

    def tell_of_given(self, options: Mapping[str, Any]) -> None:
        """Warns of those that are not None."""
        for name, value in options.items():
            if value is not None:
                self.tell_of(name)

    def tell_of_sparsity(self, parameter: float | None, algorithm: str | None) -> None:
        """Warns of options of sparsity that are neither DiCE's defaults nor None."""
        if parameter not in (None, 0.1):
            self.tell_of("posthoc_sparsity_param")
        if algorithm not in (None, "linear"):
            self.tell_of("posthoc_sparsity_algorithm")

    def tell_of_weights(self, weights: str) -> None:
        """Warns of weights that are named, not listed."""
        self.tell_of("feature_weights", f"feature_weights={weights!r}")

    def tell_of(self, name: str, words: str | None = None) -> None:
        """Warns of one option."""
        if name not in self._told:
            self._told.add(name)
            warnings.warn(f"`{words or name}` has no effect: {_WHY[name]}", IgnoredOptionWarning, stacklevel=4)
