"""How CASPIAN is measured: synthetic traffic whose truth is known, rival detectors, and a table."""

from monitors.caspian.benchmark.synthetic import Trace, generate

__all__ = ["Trace", "generate"]
