"""One factor for each stated variance, so that 80 % intervals hold the truth 80 % of the time.

Heads are trained by likelihood, which fits the mean of squared errors; errors have heavier tails
than a Gaussian, so that intervals come out too wide in the middle. The factors are refitted on
rollouts that nothing was trained on.
"""

from __future__ import annotations

import torch
from torch import Tensor

Z80 = 1.2815515594457831
"""Half width of the central 80 % of a standard normal."""
SHARE = 0.8
LEAST, MOST = 0.05, 20.0


def calibration(error: Tensor, variance: Tensor) -> Tensor:
    """The factors for the variances of w and of d.

    Args:
        error: (M, K + 1), truth minus mean: w, then d.
        variance: (M, 2), uncalibrated: of a weight of w, of d.

    Returns:
        (2,): within 0.05 to 20.

    Raises:
        ValueError: there are no steps.
    """
    if not len(error):
        raise ValueError("no held-out steps to calibrate on")
    deviation = variance.sqrt().clamp(min=1e-6)
    of_w = (error[:, :-1].abs() / deviation[:, :1]).flatten()
    of_d = error[:, -1].abs() / deviation[:, 1]
    widths = torch.stack([torch.quantile(each, SHARE) for each in (of_w, of_d)])
    return ((widths / Z80) ** 2).clamp(LEAST, MOST)
