"""A league's runs as activity signals: what every firm did, tick by tick, from the log alone.

    runs = [Run(folder) for folder in folders]       # one configuration, several seeds
    graphs = analyse_runs(runs, DAILY).graphs

A run is a trial; several runs of one configuration with different seeds are pooled, which is the
surest way to enough data. Ticks are virtual days (prices, stock, income, messages) or hours
(messages, prices). A day's context is normal, festival or shortage.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np

from monitors.bace.analysis import Analysis, AnalysisSettings, Progress, analyse
from monitors.bace.signals import Recording, Refused, Trial, stabilised, unstable_series
from monitors.bace.windows import Shares, Windowing
from services.config import RunConfig
from services.economy.setup import TownSetup
from services.messages import MINUTES_PER_DAY
from services.runs import Run

Channel = Literal["price", "stock", "income", "messages"]
CONTEXTS: Final = ("normal", "festival", "shortage")
NORMAL, FESTIVAL, SHORTAGE = range(3)
PRICING: Final = {"post_listing": "asking_price", "set_retail_price": "price_per_unit"}
"""The commands that set a price, and where it stands."""


@dataclass(frozen=True, slots=True)
class View:
    """What is looked at, and how finely."""

    tick_minutes: int
    channels: tuple[Channel, ...]
    settings: AnalysisSettings
    block_days: int = 30
    """Runs are cut into blocks of so many days, so that they can be halved and shared out."""
    empty_shelves: float = 0.9
    """Share of the retailers' shelves that are empty in the evening, from which a day is short.
    High, since shops that sell all they have every evening are nothing unusual."""
    warm_up_days: int = 7
    """Days at the start of a run that do not count: stores fill and first prices are set."""

    def __post_init__(self) -> None:
        if MINUTES_PER_DAY % self.tick_minutes:
            raise ValueError(f"a day is no whole number of ticks of {self.tick_minutes} minutes")
        evening = {"stock", "income"} & set(self.channels)
        if evening and self.tick_minutes != MINUTES_PER_DAY:
            raise ValueError(f"{', '.join(sorted(evening))} is known in the evening only")


_NO_TEST: Final = Shares(0.85, 0.15)
"""Nothing is tested on a league's signals: their graph is not known."""
DAILY: Final = View(
    MINUTES_PER_DAY,
    ("price", "stock", "income", "messages"),
    AnalysisSettings(
        windowing=Windowing(length_in=8, length_out=2, stride=1), shares=_NO_TEST, lags=1
    ),
)
"""Prices, stock, income and messages a day."""
HOURLY: Final = View(
    60,
    ("messages",),
    AnalysisSettings(windowing=Windowing(length_in=10, length_out=3, stride=2), shares=_NO_TEST),
)
"""Messages an hour. Hours of the day in which nobody ever sends are left out."""


def analyse_runs(
    runs: Sequence[Run], view: View = DAILY, seed: int = 0, on_step: Progress | None = None
) -> Analysis:
    """Who drives whom in these runs, by context.

    Raises:
        Refused: the runs are of several configurations, or hold too little data; the text says
            what would be needed.
    """
    recording, period = recording_of(runs, view)
    days = sum(run.manifest.days for run in runs)
    # What grows over a run is taken as changes already; within a block it means nothing.
    settings = replace(view.settings, period=period, stability_check=False)
    try:
        return analyse(recording, settings, seed, on_step)
    except Refused as refused:
        raise Refused(
            f"{len(runs)} run{'s' * (len(runs) != 1)} of {days} days altogether: {refused};"
            " play longer, or pool more seeds of this configuration (hanse sweep)"
        ) from refused


def recording_of(runs: Sequence[Run], view: View = DAILY) -> tuple[Recording, int]:
    """The signals of runs, cut into blocks, and the ticks of a day that were kept.

    A series that grows is taken as changes from tick to tick instead.

    Raises:
        Refused: there is no run, no whole day after the warm-up, or not one configuration.
    """
    if not runs:
        raise Refused("no run")
    _one_configuration(runs)
    played = [run for run in runs if (run.day or 0) >= view.warm_up_days]
    if not played:
        raise Refused(f"no run has a day after the first {view.warm_up_days}")
    logs = [_RunLog(run, view) for run in played]
    nodes = tuple(logs[0].firms)
    per_day = MINUTES_PER_DAY // view.tick_minutes
    active = np.any([log.sent.reshape(len(nodes), -1, per_day).any((0, 1)) for log in logs], axis=0)
    if not active.any():
        raise Refused("nobody sent anything")
    trials = []
    for log in logs:
        kept = np.tile(active, log.days)
        start = view.warm_up_days * int(active.sum())
        values = np.stack([log.channel(name)[:, kept] for name in view.channels], axis=1)
        contexts = np.repeat(log.contexts(), int(active.sum()))
        trials.append(Trial(values[:, :, start:], contexts[start:]))
    recording = Recording(nodes, view.channels, CONTEXTS, tuple(trials), view.tick_minutes)
    recording = _without_growth(recording)
    return recording.blocks(view.block_days * int(active.sum())), int(active.sum())


def message_edges(runs: Sequence[Run]) -> set[tuple[str, str]]:
    """Who has told whom anything, as :func:`monitors.bace.compare.compare` takes it.

    A letter counts for its author, though an exchange hands it over; the exchanges' own turns and
    answers do not count.
    """
    edges: set[tuple[str, str]] = set()
    for run in runs:
        exchanges = {agent for _, _, agent, *_ in run.rows("events", "kind = 'action'")}
        for _, _, sender, _, recipient, _, kind, *_, body in run.rows("messages"):
            author = json.loads(body)["author"] if kind == "letter" else sender
            if author not in exchanges:
                edges.add((author, recipient))
    return edges


def _one_configuration(runs: Sequence[Run]) -> None:
    varying = ("seed", "days", "placement", "hosts", "name")
    rest = [{k: v for k, v in run.manifest.config.items() if k not in varying} for run in runs]
    for run, its in zip(runs, rest, strict=True):
        if its != rest[0]:
            differing = sorted(key for key in its if its[key] != rest[0].get(key))
            raise Refused(
                f"{run.folder} is of another configuration than {runs[0].folder}"
                f" ({', '.join(differing)}); only runs that differ in their seed can be pooled"
            )


def _without_growth(recording: Recording) -> Recording:
    growing = set(unstable_series(recording))
    if not growing:
        return recording
    places = [
        (n, c)
        for n, node in enumerate(recording.nodes)
        for c, channel in enumerate(recording.channels)
        if f"{node}/{channel}" in growing
    ]
    trials = []
    for trial in recording:
        values = trial.values.copy()
        for n, c in places:
            values[n, c] = np.diff(values[n, c], prepend=values[n, c, :1])
        trials.append(Trial(values, trial.context))
    return recording.with_trials(trials)


@dataclass
class _RunLog:
    """What the log of one run says of its firms."""

    run: Run
    view: View
    days: int = field(init=False)
    firms: list[str] = field(init=False)
    sent: np.ndarray = field(init=False)
    """float64 (N, T): messages sent."""

    def __post_init__(self) -> None:
        self.days = (self.run.day or 0) + 1
        self._evenings: dict[tuple[int, str], dict[str, Any]] = {
            (day, firm): json.loads(body) for day, firm, body in self.run.rows("metrics")
        }
        self.firms = sorted({firm for _, firm in self._evenings})
        self._place = {firm: place for place, firm in enumerate(self.firms)}
        self.ticks = self.days * MINUTES_PER_DAY // self.view.tick_minutes
        self.sent = np.zeros((len(self.firms), self.ticks))
        for minute, _, sender, *_ in self.run.rows("messages"):
            place, tick = self._place.get(sender), minute // self.view.tick_minutes
            # Minute 0 is when agents introduce themselves, which is no part of their business.
            if place is not None and minute > 0 and tick < self.ticks:
                self.sent[place, tick] += 1

    def channel(self, name: Channel) -> np.ndarray:
        """float64 (N, T)."""
        if name == "messages":
            return stabilised(self.sent)
        if name == "price":
            return self._prices()
        if name == "stock":
            return stabilised(self._evening(lambda facts: float(sum(facts["stock"].values()))))
        income = self._evening(lambda facts: float(facts["net_income"]))
        return np.diff(income, axis=1, prepend=0.0)

    def _evening(self, figure: Any) -> np.ndarray:
        """A figure of every firm and evening; NaN where there is none."""
        found = np.full((len(self.firms), self.days), np.nan)
        for (day, firm), facts in self._evenings.items():
            if day < self.days:
                found[self._place[firm], day] = figure(facts)
        return found

    def _prices(self) -> np.ndarray:
        """Mean over a firm's items of log(price / its first price); the price asked last holds.

        0 before a firm has asked any price.
        """
        set_: dict[tuple[int, str], dict[int, float]] = {}
        for minute, _, _, _, _, _, firm, body in self.run.rows("events", "kind = 'action'"):
            facts = json.loads(body)
            key = PRICING.get(facts.get("tool"))
            tick = minute // self.view.tick_minutes
            if key is None or facts.get("status") != "success" or tick >= self.ticks:
                continue
            price = facts["args"].get(key)
            if firm in self._place and isinstance(price, int | float) and price > 0:
                item = (self._place[firm], str(facts["args"].get("item_id")))
                set_.setdefault(item, {})[tick] = float(price)
        total = np.zeros((len(self.firms), self.ticks))
        number = np.zeros((len(self.firms), 1))
        for (place, _), prices in set_.items():
            marks = sorted(prices)
            logs = np.log([prices[mark] for mark in marks])
            latest = np.searchsorted(marks, np.arange(self.ticks), side="right") - 1
            total[place] += logs[np.maximum(latest, 0)] - logs[0]
            number[place] += 1
        return np.asarray(total / np.maximum(number, 1))

    def contexts(self) -> np.ndarray:
        """The context of each day: festival as configured, short where shelves are empty."""
        first, last = festival_days(self.run)
        found = np.full(self.days, NORMAL, dtype=np.int64)
        for day in range(self.days):
            if first <= day <= last:
                found[day] = FESTIVAL
            elif self._empty_shelves(day) >= self.view.empty_shelves:
                found[day] = SHORTAGE
        return found

    def _empty_shelves(self, day: int) -> float:
        """Share of the items that retailers have a price for, but none in stock."""
        shelves = [
            facts["stock"].get(item, 0) <= 0
            for firm in self.firms
            if (facts := self._evenings.get((day, firm))) is not None and not facts["bankrupt"]
            for item in facts["retail_prices"]
        ]
        return sum(shelves) / len(shelves) if shelves else 0.0


def festival_days(run: Run) -> tuple[int, int]:
    """First and last day of the festival, as configured or as the rules have it."""
    config = RunConfig.parse(run.manifest.config, str(run.folder))
    days = config.economy.festival_days
    return (days[0], days[1]) if days is not None else TownSetup().festival_days
