"""Monitors as agents: a thin shell around what ``monitors`` computes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from actors.context import Context
from actors.monitor import Monitor
from monitors.caspian import Calibration, Caspian, Settings
from monitors.caspian.alert import CascadeAlert
from monitors.caspian.feed import Joiner, JoinSettings, league_graph
from monitors.caspian.possibility import PossibilityGraph
from services.config import MonitorConfig
from services.errors import HanseError

if TYPE_CHECKING:
    from actors.cast import Cast

STANDARD: Final = Path(__file__).parent.parent / "monitors" / "caspian" / "standard.json"
"""The calibrations of the standard talking leagues, by their number of firms; made by
``python -m actors.studies.standard``."""


class CaspianMonitor(Monitor):
    """CASPIAN over the messages of a league.

    Args:
        name: Its name.
        graph: Who can reach whom.
        settings: What the run file says of monitors.
        calibration: When it raises an alarm; ``None``: never.
        subscribers: Who is told of an alarm.
    """

    def __init__(
        self,
        name: str,
        graph: PossibilityGraph,
        settings: MonitorConfig,
        calibration: Calibration | None,
        subscribers: Sequence[str] = (),
    ) -> None:
        super().__init__(name)
        self.joiner = Joiner(graph, settings=JoinSettings(tick_minutes=settings.tick_minutes))
        self.caspian = Caspian(graph, calibration, caspian_settings(settings), settings.shards)
        self.subscribers = tuple(subscribers)
        self._told: set[str] = set()
        """The cascades of which there has been an alert."""

    def observe(self, tick: int, rows: Sequence[tuple[Any, ...]], context: Context) -> None:
        """Scores a tick; notes its signals; raises, or revises, an alert."""
        signals = self.caspian.observe(self.joiner.feed(tick, rows))
        body: dict[str, Any] = {"tick": tick, "events": signals.events}
        figures = {**signals.values, **signals.evidence}
        if signals.score is not None:
            figures["score"] = signals.score
        body |= {name: float(f"{value:.6g}") for name, value in figures.items()}
        if signals.alarm:
            body["alarm"] = True
        if signals.flags:
            body["flags"] = list(signals.flags)
        if signals.dropped:
            body["dropped"] = signals.dropped
        if signals.sampled < 1:
            body["sampled"] = float(f"{signals.sampled:.6g}")
        context.record("signals", "", body)
        for report in self.caspian.reports():
            kind = "alert_revised" if report.id in self._told else "alert"
            self._told.add(report.id)
            context.record(kind, report.origin.best or "", report.model_dump(mode="json"))
            for subscriber in self.subscribers:
                context.send(subscriber, CascadeAlert(report=report))

    def save(self) -> dict[str, Any]:
        """The joiner's and the monitor's state."""
        return {
            "joiner": self.joiner.save(),
            "caspian": self.caspian.save(),
            "told": sorted(self._told),
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Goes on from :meth:`save`."""
        self.joiner.load(saved["joiner"])
        self.caspian.load(saved["caspian"])
        self._told = set(saved["told"])

    def summary(self) -> dict[str, Any]:
        """What could not be used, by reason."""
        return {"dropped": dict(sorted((self.joiner.dropped + self.caspian.dropped).items()))}


def caspian_settings(config: MonitorConfig) -> Settings:
    """CASPIAN's constants as a run file has them."""
    return Settings() if config.max_events is None else Settings(max_events=config.max_events)


def standard_calibrations() -> dict[int, Calibration]:
    """The calibrations that come with Hanse, by the number of firms that they were made for.

    Raises:
        HanseError: they are damaged, or not there.
    """
    try:
        held = json.loads(STANDARD.read_bytes())
    except (OSError, ValueError) as error:
        raise HanseError(
            f"{STANDARD}: the standard calibrations cannot be read; calibrate your own:"
            " hanse monitor calibrate"
        ) from error
    return {int(firms): Calibration.parse(one, str(STANDARD)) for firms, one in held.items()}


def calibration_of(config: MonitorConfig, firms: int, source: str) -> Calibration | None:
    """The calibration that a run file names; of the standard ones, that of the next size.

    Args:
        config: What the run file says.
        firms: How many firms the league has.
        source: What an error names.

    Raises:
        HanseError: it is damaged.
    """
    held = config.calibration
    if held is None:
        return None
    if held == "standard":
        known = standard_calibrations()
        return known[min(known, key=lambda size: (abs(log(size / max(firms, 1))), size))]
    return Calibration.parse(held, f"{source}: monitor.calibration")


def graph_of(cast: Cast) -> PossibilityGraph:
    """Who can reach whom in a league, as its run file has it."""
    nodes, edges = cast.possibility_edges()
    return league_graph(edges, nodes)


def make_monitor(name: str, cast: Cast) -> Monitor:
    """A monitor of a league by its name.

    Raises:
        HanseError: its calibration does not fit.
    """
    from actors.cast import BACE

    config = cast.config.monitor
    assert config is not None
    if name == BACE:
        from actors.bace_monitor import BaceMonitor  # torch is for who wants it

        if find_spec("torch") is None:
            raise HanseError(
                f"{cast.source}: monitor.bace: needs torch: make torch, or pip install torch"
            )
        days = cast.config.economy.festival_days or [40, 53]
        firms = [firm.name for firm in cast.firms]
        festival = days[0], days[1]
        return BaceMonitor(name, firms, config.refit_ticks, festival, cast.config.seed)
    calibration = calibration_of(config, len(cast.firms), cast.source)
    ticks = None if calibration is None else calibration.tick_minutes
    if ticks not in (None, config.tick_minutes):
        raise HanseError(
            f"{cast.source}: monitor.tick_minutes: {config.tick_minutes}, but its calibration was"
            f" made with ticks of {ticks} minutes; calibrate anew: hanse monitor calibrate"
        )
    try:
        return CaspianMonitor(name, graph_of(cast), config, calibration, cast.containment)
    except HanseError as error:
        raise HanseError(f"{cast.source}: monitor.calibration: {error}") from None
