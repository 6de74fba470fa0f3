"""The interfaces of other libraries, answered by PAR.

- `par_recourse.compat.dice` replaces `dice_ml`,
- `par_recourse.compat.carla` is a recourse method for CARLA's benchmarks.

Neither library has to be installed. Both interfaces take pandas frames.
"""

from . import carla, dice

__all__ = ["carla", "dice"]
