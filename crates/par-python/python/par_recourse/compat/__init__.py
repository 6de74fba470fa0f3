"""The interfaces of other libraries, answered by PAR.

- `par_recourse.compat.dice` replaces `dice_ml` 0.12,
- `par_recourse.compat.carla` is a recourse method for the benchmarks of CARLA 0.0.5.

Neither library has to be installed. Both interfaces take pandas frames.
"""

from . import carla, dice

__all__ = ["carla", "dice"]
