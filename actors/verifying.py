"""Checking an attribution: what would not have happened without each of the suspects?

A monitor's attribution is statistical evidence. The league can do better than believe it: it is
played again from before the cascade began, once with each suspect silent, and the harm that does
not come about is that suspect's doing. So it is with those to whom they had listened::

    found = verify(Path("runs/talk24-seed0-001"))
    print(found.tested[0].agent, found.tested[0].avoided)
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pydantic import ValidationError

from actors.cast import Cast
from actors.containment import chosen
from actors.replaying import config_of, counterfactual, harm_figures, net_incomes, play_again
from actors.shared_sources import shared_sources
from monitors.caspian.alert import CascadeReport
from services.config import InterventionConfig, RunConfig
from services.config.problems import unknown
from services.errors import HanseError
from services.messages import MINUTES_PER_DAY
from services.runs import Run
from services.runs.bodies import body_of

MARGIN: Final = 24
"""Ticks before the estimated onset from which suspects are silent. The estimate may be some ticks
late, and what has spread by then nobody can take back; silence before a cascade has begun avoids
nothing, so that too much of a margin costs but a day of playing."""
SOURCES: Final = 2
"""So many are tried to whom the likeliest suspects had listened."""
SOURCE: Final = "source"
CONFIRMED: Final = 0.5
"""The share of the harm that must be avoided without a suspect for it to count as its doing."""

Measure = Literal["harmed_hours", "net_income"]
"""Hours that firms believed something wrong or were overloaded; where nobody talks, what all firms
earn together."""


class Tested(NamedTuple):
    """What is without one suspect."""

    agent: str
    roles: tuple[str, ...]
    """The roles in which it is suspected: origin, bridge, amplifier; ``source``: it is not, but
    the likeliest suspects had listened to it."""
    harmed_hours: float | None
    """Of all firms together, from the onset on; None where nobody talks."""
    avoided: float | None
    """The share of the run's harmed hours that is avoided without it: negative if there are more.
    None where nobody talks, or where nothing is harmed."""
    income: float
    """What all firms earn more without it, in dollars."""
    figures: dict[str, float]
    """More on the harm; see :func:`actors.replaying.harm_figures`."""


class Verification(NamedTuple):
    """An alert, and what would have been without its suspects."""

    run: Path
    alert: str
    """The cascade's id; empty if the suspects were named by somebody else."""
    silent_from: int
    """The minute from which a suspect is silent in its replay."""
    last_day: int
    """The last day that was looked at."""
    measure: Measure
    """What :attr:`tested` is ordered by."""
    harmed_hours: float | None
    """In the run itself, without containment."""
    replayed: bool
    """Whether that is a replay, too: measures were taken in the run."""
    contained: dict[str, float] | None
    """The figures of the run as it was, with its measures; None if it had none."""
    contained_income: float | None
    """And what all firms earned in it, dollars."""
    figures: dict[str, float]
    net_income: float
    """Of all firms in the run, without containment; dollars."""
    tested: list[Tested]
    """The suspect without whom most is avoided first."""

    @property
    def confirmed(self) -> bool:
        """Whether at least half of the harm is some suspect's doing."""
        return any(t.avoided is not None and t.avoided >= CONFIRMED for t in self.tested)

    def document(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            **self._asdict(),
            "run": str(self.run),
            "confirmed": self.confirmed,
            "tested": [one._asdict() for one in self.tested],
        }


def reports_of(run: Run) -> dict[str, CascadeReport]:
    """The cascades that a run's log tells of, by id: each as it was known last."""
    found = {}
    for row in run.rows("events", "kind IN ('alert', 'alert_revised')"):
        with suppress(ValidationError):  # of a monitor of the user's own, who says it otherwise
            report = CascadeReport.model_validate(body_of(row[7]))
            found[report.id] = report
    return found


def report_of(run: Run, config: RunConfig, alert: str | None = None) -> CascadeReport:
    """A run's alert by its id, or the first that it has.

    Raises:
        HanseError: there is none.
    """
    found = reports_of(run)
    if alert is not None:
        if alert not in found:
            raise HanseError(f"--alert: {unknown(alert, found, 'alert of ' + str(run.folder))}")
        return found[alert]
    if found:
        return next(iter(found.values()))
    if config.monitor is None:
        remedy = "nobody watched it; put [monitor] into its run file"
    elif config.monitor.calibration is None:
        remedy = (
            "its monitor has no calibration, so that it raises none;"
            ' put calibration = "standard" into [monitor]'
        )
    else:
        remedy = "there is nothing to verify"
    raise HanseError(f"{run.folder}: no alert has been raised in this run: {remedy}")


def verify(
    run: Path,
    *,
    alert: str | None = None,
    suspects: int = 3,
    sources: int = SOURCES,
    margin: int = MARGIN,
    days: int | None = None,
    cast: type[Cast] = Cast,
    on_replay: Callable[[str, int, int], None] | None = None,
) -> Verification:
    """Plays a run again without each of an alert's suspects.

    Args:
        run: The run's folder; it is not changed.
        alert: The alert's id; the first one if None.
        suspects: How many of them; in the order in which containment would restrain them.
        sources: How many of those to whom the likeliest had listened are tried, too.
        margin: How many ticks before the estimated onset they fall silent.
        days: How many days are looked at, beginning with the first silent one; all if None.
        cast: Who plays, if the run had a cast of its own.
        on_replay: Told before each replay who is silent in it ("" for nobody), how many replays
            are done, and how many there are.

    Raises:
        HanseError: there is no such alert, or it names nobody.
    """
    original = Run(run)
    config = config_of(original)
    report = report_of(original, config, alert)
    agents = chosen(report, suspects)
    if not agents:
        raise HanseError(f"{run}: {report.id} names no suspects; there is nothing to verify")
    assert config.monitor is not None
    ticks = config.monitor.tick_minutes
    since = max(0, (report.onset - margin) * ticks)
    shared = shared_sources(
        original,
        agents,
        since,
        (report.alert_tick + 1) * ticks,
        most=sources,
        beside=cast(config).beyond_restraint,
    )
    found = try_without(
        original, [*agents, *shared], since, days=days, cast=cast, on_replay=on_replay
    )
    tested = [
        one._replace(roles=(SOURCE,) if one.agent in shared else _roles(report, one.agent))
        for one in found.tested
    ]
    return found._replace(alert=report.id, tested=tested)


def try_without(
    run: Run,
    agents: Sequence[str],
    since: int,
    *,
    days: int | None = None,
    cast: type[Cast] = Cast,
    on_replay: Callable[[str, int, int], None] | None = None,
) -> Verification:
    """Plays a run again without each of some agents, whoever suspects them.

    Nobody watches the replays, and nobody is restrained in them. They run in this process and in
    folders that are gone afterwards.

    Args:
        run: The run.
        agents: Those who are silent, one in each replay.
        since: The minute from which they are, and from which harm counts.
        days: How many days are looked at, the one of ``since`` among them; all if None.
        cast: Who plays.
        on_replay: As for :func:`verify`.
    """
    config = config_of(run)
    if run.day is None or run.day < since // MINUTES_PER_DAY:
        raise HanseError(f"{run.folder}: day {since // MINUTES_PER_DAY} of it is not complete yet")
    day = since // MINUTES_PER_DAY
    last = run.day if days is None else min(run.day, day + days - 1)
    bare = counterfactual(config, (), watched=False)
    players = cast(bare)
    for name in agents:
        if name not in players.names:
            raise HanseError(f"{run.folder}: {unknown(name, players.names, 'agent')}")
    contained = any(
        run.count(table, condition)
        for table, condition in (("events", "kind = 'measure'"), ("messages", "type = 'advisory'"))
    )
    total = len(agents) + contained
    done = 0

    def measured(source: Run) -> tuple[dict[str, float], float]:
        figures = harm_figures(source, players, since, last)
        return figures, round(sum(net_incomes(source, last).values()), 6)

    def again(changed: RunConfig, agent: str) -> tuple[dict[str, float], float]:
        nonlocal done
        if on_replay is not None:
            on_replay(agent, done, total)
        done += 1
        with tempfile.TemporaryDirectory(prefix="hanse-replay-") as place:
            folder = Path(place) / "run"
            return measured(
                play_again(run, changed, day, folder, days=last - day + 1, traced=False, cast=cast)
            )

    before, income = as_it_was = measured(run)
    if contained:
        before, income = again(bare, "")
    harmed = _harmed(before)
    tested = []
    for agent in agents:
        silent = InterventionConfig(kind="mute", agent=agent, begin=since)
        after, earned = again(counterfactual(config, [silent], watched=False), agent)
        hours = _harmed(after)
        avoided = None if hours is None or not harmed else round(1 - hours / harmed, 6)
        gain = round(earned - income, 6)
        tested.append(Tested(agent, (), hours, avoided, gain, after))
    measure: Measure = "harmed_hours" if harmed is not None else "net_income"
    tested.sort(key=lambda one: (-(one.avoided or 0.0), -one.income))
    return Verification(
        run.folder,
        alert="",
        silent_from=since,
        last_day=last,
        measure=measure,
        harmed_hours=harmed,
        replayed=contained,
        contained=as_it_was[0] if contained else None,
        contained_income=as_it_was[1] if contained else None,
        figures=before,
        net_income=income,
        tested=tested,
    )


def _harmed(figures: dict[str, float]) -> float | None:
    return figures["wrong_hours"] + figures["overloaded_hours"] if figures else None


def _roles(report: CascadeReport, agent: str) -> tuple[str, ...]:
    return tuple(
        name
        for name in ("origin", "bridge", "amplifier")
        if any(suspect.agent == agent for suspect in getattr(report, name).suspects)
    )
