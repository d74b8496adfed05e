"""BACE: who drives whom, learned by forecasting what everybody does (arXiv 2510.20831).

CASPIAN reads what firms tell each other; BACE sees only what they do (messages sent, prices,
stock, income), and finds influence that carries no message, such as one firm's prices following
another's. In the order of reading:

- `signals`, `windows`: from figures per tick to windows of z-scores, and when data are refused
- `model`, `training`: the forecaster and its fit; the only files that need torch
- `nulls`, `reliability`, `baselines`, `scores`: what makes a weight an edge, and a graph credible
- `analysis`: all that together, an `InfluenceGraph` (`graph`, `drawing`) per context
- `league`: a finished run's figures as signals; `connectivity`: the same while a league runs
- `compare`: what BACE and the message traffic say of the same influence
- `synthetic`, `benchmark`: signals with a known graph, and how well it is found
"""

from importlib.util import find_spec

from services.errors import HanseError

__all__ = ["needs_torch", "torch_is_there"]


def torch_is_there() -> bool:
    """Whether torch is installed; it is not imported."""
    return find_spec("torch") is not None


def needs_torch() -> None:
    """Raises if torch is not installed.

    Raises:
        HanseError: it is not.
    """
    if not torch_is_there():
        raise HanseError(
            "BACE needs torch, which is not installed: pip install 'hanse[monitors]'"
            " (in a checkout: make torch)"
        )
