"""Counterfactual replay: a run again from a day on, in which something does not happen.

One seed gives one run to the byte, so whatever differs afterwards follows from what was changed::

    without = InterventionConfig(kind="mute", agent="farmer_2", begin=8 * 1440)
    found = replay(Path("runs/talk24-seed0-001"), 8, [without], Path("runs/without"))
    print(found.net_income["roaster_1"], found.harm)

So an attribution can be checked: :func:`verify` silences the suspects of an alert one by one, and
looks how much of the harm goes away with each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgpack

from actors.cast import Cast
from actors.guard import JournalRow
from actors.orders import KIND as ORDER
from actors.strategies.fingerprint import fingerprints
from services.config import INTERVENTIONS, InterventionConfig, RunConfig
from services.config.problems import unknown
from services.errors import HanseError
from services.messages import MINUTES_PER_DAY
from services.runs import Run, RunStore, database
from services.runs import branch as branch_run
from services.runs.bodies import body_of
from services.talk.harm import EVENTS, TALK, Harm
from services.talk.harm import harm as measure_harm

if TYPE_CHECKING:
    from actors.league import League, Progress
    from services.telemetry.inspection.diff import Difference

COUNTED: Final = ("alert", "measure", "withheld")
"""Events of which a comparison says how many there were, if there were any."""
_INTERVENED: Final = " OR ".join(f'instr(body, \'"measure":"{kind}"\')' for kind in INTERVENTIONS)
"""Of what is withheld: what an intervention withholds, which has no measure's id."""
WITHHELD: Final = {
    "withheld_by_measures": f"kind = 'withheld' AND NOT ({_INTERVENED})",
    "withheld_by_interventions": f"kind = 'withheld' AND ({_INTERVENED})",
}
"""What is withheld is counted apart as well: by the league's measures, and by what is changed."""

Pair = tuple[float, float]
"""A figure of the run, and of its replay."""


class Comparison(NamedTuple):
    """A run beside its replay."""

    run: Path
    replay: Path
    day: int
    """The first day that was replayed."""
    last_day: int
    """The last whole day that both have."""
    parting: Difference
    """Where the two part, and what follows."""
    net_income: dict[str, Pair]
    """Dollars at the end of the last day, by firm."""
    messages: Pair
    """Sent since the first day that was replayed."""
    events: dict[str, Pair]
    """By kind, since then; what is withheld is split (:data:`WITHHELD`), too."""
    harm: dict[str, Pair] | None
    """Wrong beliefs and what else there is of harm since then; None where nobody talks."""

    @property
    def total(self) -> Pair:
        """Net income of all firms."""
        both = list(self.net_income.values())
        return round(sum(one for one, _ in both), 6), round(sum(two for _, two in both), 6)

    def document(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "run": str(self.run),
            "replay": str(self.replay),
            "from": self.day,
            "last_day": self.last_day,
            "net_income": _named(self.net_income) | {"all": _pair(self.total)},
            "messages": _pair(self.messages),
            "events": _named(self.events),
            "harm": None if self.harm is None else _named(self.harm),
            "parting": self.parting.document(),
        }


def _named(pairs: Mapping[str, Pair]) -> dict[str, dict[str, float]]:
    return {name: _pair(pair) for name, pair in pairs.items()}


def _pair(pair: Pair) -> dict[str, float]:
    return {"run": pair[0], "replay": pair[1]}


# ---- what is changed -----------------------------------------------------------------------------


def counterfactual(
    config: RunConfig, interventions: Iterable[InterventionConfig], *, watched: bool = True
) -> RunConfig:
    """The configuration of a replay: the run's own, in one process, and what is changed.

    Args:
        config: Of the run.
        interventions: What does not happen; in addition to what the run itself has of them.
        watched: Whether monitors and containment are there as in the run, or not at all.
    """
    values = config.dump()
    added = [i.model_dump(mode="json", exclude_none=True) for i in interventions]
    values["interventions"] = [*values.get("interventions", ()), *added]
    values["placement"] = "inline"
    if not watched:
        values |= {"monitor": None, "containment": None}
    return RunConfig.parse(values, "replay")


def without(state: bytes, agents: Iterable[str]) -> bytes:
    """A league's saved state without some agents, and without the measures that they have taken."""
    league: dict[str, Any] = msgpack.unpackb(state, strict_map_key=False)
    for name in agents:
        league["agents"].pop(name, None)
    for saved in league["agents"].values():
        saved.pop("restraints", None)
    return msgpack.packb(league)  # type: ignore[no-any-return]


def check_interventions(
    run: Run, cast: Cast, day: int, interventions: Sequence[InterventionConfig]
) -> None:
    """Refuses what would change nothing, as far as that can be known before.

    Raises:
        HanseError: an agent or a message that is not there, or that nothing can be done about.
    """
    if not interventions:
        raise HanseError(
            "there is nothing to change; say what is not to happen: --mute AGENT, --cut A:B or"
            " --drop MESSAGE"
        )
    market, exchanges = set(cast.beyond_restraint), set(cast.exchanges.values())
    for one in interventions:
        option = f"--{one.kind}"
        for name in (one.agent, one.recipient):
            if name is not None and name not in cast.names:
                raise HanseError(f"{option}: {unknown(name, cast.names, 'agent')}")
        if one.agent in market or one.recipient in market:
            named = one.recipient if one.recipient in market else one.agent
            what = "the market itself" if named in exchanges else "no part of the talk"
            raise HanseError(
                f"{option}: {named} is {what}: a firm's commands and turns, its purchasing and what"
                " monitors say cannot be withheld, only what agents say to each other"
            )
        if one.agent is not None and one.agent == one.recipient:
            raise HanseError(f"{option}: {one.agent} says nothing to itself; name two agents")
        if one.drop is not None:
            _check_message(run, one.drop, day, market)


def _check_message(run: Run, message: str, day: int, market: set[str]) -> None:
    sender, _, number = message.rpartition("#")
    found = list(run.rows("messages", "sender = ? AND number = ?", (sender, int(number))))
    if not found:
        raise HanseError(
            f"--drop {message}: there is no such message in the log of {run.folder}; look for it"
            f" with: hanse trace {run.folder} find --agent {sender or 'AGENT'}"
        )
    minute, recipient = found[0][0], found[0][4]
    if minute < day * MINUTES_PER_DAY:
        raise HanseError(
            f"--drop {message}: was sent on day {minute // MINUTES_PER_DAY}, before the replay"
            f" begins; allowed: --from {minute // MINUTES_PER_DAY}, or an earlier day"
        )
    if recipient in market or sender in market:
        raise HanseError(
            f"--drop {message}: is a command or a turn of the market, which cannot be withheld;"
            " drop what agents say to each other"
        )


# ---- replaying -----------------------------------------------------------------------------------


def replay(
    run: Path,
    day: int,
    interventions: Sequence[InterventionConfig],
    folder: Path,
    *,
    days: int | None = None,
    cast: type[Cast] = Cast,
    on_day: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Plays a run again from a day on, with something that does not happen, and compares the two.

    Args:
        run: The run's folder; it is not changed, and may still be going on.
        day: The first day that is played again.
        interventions: What does not happen.
        folder: The replay's folder; to be made.
        days: How many days to play; to the end of the run if None.
        cast: Who plays, if the run had a cast of its own.
        on_day: Called at the end of every day.

    Raises:
        HanseError: a day, an agent or a message that the run does not have; nothing to change.
    """
    original = Run(run)
    config = config_of(original)
    check_day(original, day)
    players = cast(config, str(run))
    check_interventions(original, players, day, interventions)
    after = counterfactual(config, interventions)
    played = play_again(original, after, day, folder, days=days, cast=cast, on_day=on_day)
    return compare(original, played, day, players)


def config_of(run: Run) -> RunConfig:
    """The configuration that a run has kept."""
    return RunConfig.parse(run.manifest.config, str(run.folder / "manifest.json"))


def check_day(run: Run, day: int) -> None:
    """Refuses a day that the run has not played."""
    last = run.day
    if last is None:
        raise HanseError(f"{run.folder}: no day of it is complete yet; wait for the first")
    if not 0 <= day <= last:
        raise HanseError(
            f"{run.folder}: day {day} cannot be played again: it has days 0 to {last};"
            f" allowed: --from 0 to {last}"
        )


def play_again(
    run: Run,
    config: RunConfig,
    day: int,
    folder: Path,
    *,
    days: int | None = None,
    traced: bool = True,
    cast: type[Cast] = Cast,
    on_day: Callable[[Progress], None] | None = None,
) -> Run:
    """Plays a run again from a day on under another configuration, in this process.

    Args:
        run: The run.
        config: Its configuration but for interventions, monitors and containment.
        day: The first day that is played again: the run needs a checkpoint of the day before.
        folder: To be made.
        days: How many days to play; to the end if None. The replay can be resumed then.
        traced: Whether to note when messages are handled.
        cast: Who plays.
        on_day: Called at the end of every day.
    """
    # To its last day is to its end: the league closes then.
    until = None if days is None or day + days >= config.days else day + days - 1
    with _league(run, config, day, folder, traced, cast) as league:
        league.run(on_day=on_day, until_day=until)
    return Run(folder)


def _league(
    run: Run, config: RunConfig, day: int, folder: Path, traced: bool, cast: type[Cast]
) -> League:
    from actors.league import League  # what is checked before needs none
    from actors.tracing import Telemetry

    telemetry = Telemetry(traced=traced)
    orders = _orders(run, day * MINUTES_PER_DAY) if config.containment is not None else []
    if day == 0:
        league = League.create(config, folder, cast=cast, telemetry=telemetry)
        if not orders:
            return league
        league.close()
    else:
        before, after = cast(config_of(run)), cast(config)
        gone = set(before.names) - set(after.names)
        branch_run(
            run.folder,
            day - 1,
            folder,
            config=config.dump(),
            strategies=fingerprints(after.classes),
            refit=(lambda state: without(state, gone)) if gone else lambda state: state,
        )
    if orders:
        with closing(RunStore.open(folder)) as store:
            store.journal(orders)
    return League.resume(folder, placement="inline", cast=cast, telemetry=telemetry)


def _orders(run: Run, minute: int) -> list[JournalRow]:
    """What an operator has ordered in a run from a minute on: it is ordered in a replay, too."""
    with database.reading(run.database) as connection:
        return connection.execute(
            "SELECT minute, round, agent, kind, body FROM journal WHERE kind = ? AND minute >= ?"
            " ORDER BY rowid",
            (ORDER, minute),
        ).fetchall()


# ---- comparing -----------------------------------------------------------------------------------


def compare(run: Run, again: Run, day: int, cast: Cast | None = None) -> Comparison:
    """A run beside its replay, from a day on, as far as both go."""
    from services.telemetry.inspection.diff import diff
    from services.telemetry.reader import TraceReader

    last = min(run.day or 0, again.day or 0)
    days = range(day, last + 1)
    incomes = [net_incomes(one, last) for one in (run, again)]
    events: dict[str, Pair] = {}
    for name, condition in ({kind: f"kind = '{kind}'" for kind in COUNTED} | WITHHELD).items():
        one, two = (r.count("events", condition, days=days) for r in (run, again))
        if one or two:
            events[name] = one, two
    cast = Cast(config_of(run)) if cast is None else cast
    harms = [harm_figures(one, cast, day * MINUTES_PER_DAY, last) for one in (run, again)]
    harm = {name: (value, harms[1][name]) for name, value in harms[0].items()} or None
    return Comparison(
        run.folder,
        again.folder,
        day,
        last,
        diff(TraceReader(run), TraceReader(again)),
        {firm: (income, incomes[1].get(firm, 0.0)) for firm, income in incomes[0].items()},
        (run.count("messages", days=days), again.count("messages", days=days)),
        events,
        harm,
    )


def net_incomes(run: Run, day: int) -> dict[str, float]:
    """Every firm's net income in dollars at the end of a day.

    On the last day of a finished run that is after its close, when the last goods have arrived.
    """
    result = run.result
    if result is not None and day == run.day:
        return {firm.firm: firm.net_income for firm in result.firms}
    rows = run.rows("metrics", days=range(day, day + 1))
    return {firm: float((body_of(text) or {}).get("net_income", 0.0)) for _, firm, text in rows}


def harm_of(run: Run, cast: Cast, since: int, last_day: int) -> Harm | None:
    """The harm that a run's log tells of.

    Args:
        run: The run.
        cast: Who plays in it.
        since: The minute from which harm counts.
        last_day: The last day that is looked at.

    Returns:
        ``None`` where nobody talks, so that nobody can believe something wrong.
    """
    if not cast.talkers.talks:
        return None
    days = range(last_day + 1)
    towns = {name: town for name in cast.names if (town := cast.talkers.town_of(name)) is not None}
    return measure_harm(
        run.rows("events", f"kind IN {EVENTS}", days=days),
        run.rows("messages", f"type IN {TALK}", days=range(since // MINUTES_PER_DAY, last_day + 1)),
        last_day + 1,
        towns,
        since,
    )


def harm_figures(run: Run, cast: Cast, since: int, last_day: int) -> dict[str, float]:
    """The same as figures with names; none where nobody talks."""
    found = harm_of(run, cast, since, last_day)
    if found is None:
        return {}
    return {
        "wrong_hours": found.wrong_hours,
        "overloaded_hours": found.overloaded_hours,
        "infected_agents": len(found.infected),
        "infected_messages": found.infected_messages,
    }
