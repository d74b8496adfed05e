"""How CASPIAN is measured: synthetic traffic whose truth is known, rival detectors, and a table.

One call, or ``python -m monitors.caspian.benchmark``::

    from monitors.caspian.benchmark import QUICK, run_benchmark

    results = run_benchmark(QUICK, processes=2)
    print(results.detection("CASPIAN-R").auroc)
"""

from monitors.caspian.benchmark.benchmark import run_benchmark
from monitors.caspian.benchmark.results import FULL, QUICK, Results, Size
from monitors.caspian.benchmark.synthetic import Trace, generate

__all__ = ["FULL", "QUICK", "Results", "Size", "Trace", "generate", "run_benchmark"]
