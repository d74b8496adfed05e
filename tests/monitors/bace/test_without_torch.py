"""Torch takes seconds to import and is not always there: nothing but fitting may need it."""

import subprocess
import sys

import pytest

from monitors.bace import needs_torch
from monitors.bace.analysis import AnalysisSettings
from monitors.bace.connectivity import ConnectivityMonitor, ConnectivitySettings, refit
from services.errors import HanseError
from tests.monitors.bace.test_analysis import WINDOWING, chain

TORCHLESS = (
    *("analysis", "baselines", "benchmark", "compare", "connectivity", "drawing"),
    *("graph", "league", "nulls", "reliability", "scores", "signals", "synthetic", "windows"),
)


def test_only_the_model_and_its_training_import_torch() -> None:
    imports = "".join(f"import monitors.bace.{name}\n" for name in TORCHLESS)
    code = f"import sys\n{imports}assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_torch_fitting_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monitors.bace.find_spec", lambda name: None)
    monitor = ConnectivityMonitor(
        ("node_0", "node_1"),
        ("channel_0",),
        ("calm",),
        ConnectivitySettings(analysis=AnalysisSettings(windowing=WINDOWING)),
    )
    for number, trial in enumerate(chain(1.0, nodes=2, trials=6)):
        for tick in range(trial.length):
            monitor.observe(1000 * number + tick, trial.values[:, :, tick], "calm")
    with pytest.raises(HanseError, match=r"pip install 'hanse\[monitors\]'"):
        refit(monitor.job())
    with pytest.raises(HanseError, match="make torch"):
        needs_torch()
