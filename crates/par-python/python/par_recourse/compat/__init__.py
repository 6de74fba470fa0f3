"""Doors for those who come from other libraries: the names they know, answered by PAR.

- `par_recourse.compat.dice` takes the place of `dice_ml`,
- `par_recourse.compat.carla` is a recourse method for CARLA's benchmarks.

Neither library has to be installed. Both doors speak pandas.
"""

from . import carla, dice

__all__ = ["carla", "dice"]
