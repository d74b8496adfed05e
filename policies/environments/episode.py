"""An episode: a league's run without hosts, log and store, which waits for the levers of its seats.

Town, strategies, luck and the order of everything are those of a league with the same run file and
seed, so the books come out the same to the cent; `tests/policies/environments/test_episode.py`
compares them. What is left out are envelopes for turns and commands, records and checkpoints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from policies.environments.conduct import Cadence, Conduct
from services.config import RunConfig
from services.economy.commands import Command
from services.economy.results import Result
from services.economy.setup import TownSetup
from services.economy.state import FirmState
from services.economy.town import Town
from services.economy.town import Turn as TownTurn
from services.errors import HanseError
from services.messages import MINUTES_PER_DAY, Message, filled

if TYPE_CHECKING:
    from actors.agent import Agent
    from actors.strategies.strategy import Strategy

_in_order: Final = itemgetter(0, 1, 2)


class _QuietTown(Town):
    """A town that counts its commands and writes down neither them nor the day's figures."""

    def _record_action(self, name: str, tool: str, command: Command, result: Result) -> None:
        self.state.actions += 1

    def _note_figures(self) -> None:
        pass


def playable(config: RunConfig, seats: Iterable[str] = ()) -> None:
    """Refuses a league that an episode would play differently.

    Args:
        config: The league.
        seats: Firms whose strategies do not matter, as they are not played.

    Raises:
        HanseError: it has several towns, is interfered with, or is played by a person.
    """
    if len(config.town_names) > 1:
        raise HanseError(
            f"an environment plays one town, this league has {len(config.town_names)};"
            " keep one of towns, or set generate.towns = 1"
        )
    for key in ("injections", "interventions", "containment"):
        if getattr(config, key):
            raise HanseError(
                f"an environment plays without {key}; remove the table from the run file"
            )
    for firm in config.firms:
        if firm.strategy == "human" and firm.name not in seats:
            raise HanseError(
                f"firms.{firm.name}.strategy: an environment has no terminal for a person;"
                " choose another strategy"
            )


def _talks(strategy: Strategy) -> bool:
    """Whether a strategy sends messages, hears them, or asks to be woken."""
    from actors.strategies.strategy import Strategy as Base

    kind = type(strategy)
    return not (
        kind.start is Base.start
        and kind.wake is Base.wake
        and kind.heard is Base.heard
        and kind.contacts is Base.contacts
    )


class Episode:
    """One run of a league's town in which some firms, the seats, wait for levers.

    Args:
        config: What is run; its seed is the episode's.
        seats: The firms that wait for levers; the others play the strategies of ``config``.
        cadence: When a seat decides (:class:`~policies.environments.conduct.Conduct`).
        keep_ledger: Whether the ledger is kept, for comparisons.

    Raises:
        HanseError: a firm that is not there, or a league that an episode cannot play.
    """

    def __init__(
        self,
        config: RunConfig,
        seats: Iterable[str] = (),
        cadence: Cadence = "day",
        keep_ledger: bool = False,
    ) -> None:
        from actors.cast import Cast
        from actors.context import Clock, Context
        from actors.exchange import Turn
        from actors.firm import Firm
        from actors.letters import post_letters
        from actors.wakes import Wakes

        seats = tuple(seats)
        playable(config, seats)
        cast = Cast(config)
        self.config = config
        self.cadence = cadence
        setup = cast.setup(cast.towns[0])
        self.town = _QuietTown(setup)
        self.conducts = {name: Conduct(name, self._role(name), setup, cadence) for name in seats}
        self.levers: dict[str, Mapping[str, float]] = {}
        """What the seats that wait have decided; set it before :meth:`proceed`."""
        self.waiting: list[str] = []
        """The seats that wait for levers."""
        self.refused: dict[str, Counter[str]] = {name: Counter() for name in self.conducts}
        """Commands of each seat that the town has refused, by code."""
        self.commands: Counter[str] = Counter()
        """Commands carried out or refused, by seat."""
        self.missed = 0
        """Turns that a strategy lost by an error, as in a league."""
        self.ledger: list[Any] | None = [] if keep_ledger else None
        self._turn, self._turn_fields = Turn, set(Turn.model_fields)
        self._post_letters = post_letters
        self._exchange = cast.exchanges[cast.towns[0]]
        self._strategies: dict[str, Strategy] = {}
        self._agents: dict[str, Agent] = {}
        for name in cast.names:
            if name in self.conducts or name == self._exchange or name in cast.monitors:
                continue
            agent = cast.make(name)
            if isinstance(agent, Firm):
                self._strategies[name] = agent.strategy
            else:
                self._agents[name] = agent
        self._talks = bool(self._agents) or any(map(_talks, self._strategies.values()))
        self._clock = Clock()
        self._contexts = {n: Context(n, config.seed, clock=self._clock) for n in cast.names}
        self._results: dict[str, Result] = {}
        self._wakes = Wakes()
        self._mail: list[Message] = []
        self._last_minute = config.days * MINUTES_PER_DAY
        self._play = self._run()

    @property
    def setup(self) -> TownSetup:
        """The town's rules, catalogue and numbers."""
        return self.town.setup

    @property
    def over(self) -> bool:
        """Whether the town has closed."""
        return self.town.closed

    def firm(self, name: str) -> FirmState:
        """A firm's books and belongings."""
        return self.town.firms[name]

    def proceed(self) -> list[str]:
        """Plays until seats wait for levers; returns them, or none when the run is over.

        Raises:
            HanseError: a seat that waits has been given no levers.
        """
        for name in self.waiting:
            if name not in self.levers:
                raise HanseError(f"{name} waits for its levers; set them before going on")
        self.waiting = next(self._play, [])
        return self.waiting

    def minute_begins(self, minute: int) -> None:
        """Called before turns and mail of each minute are worked off; does nothing here."""

    def _role(self, name: str) -> str:
        firm = self.town.firms.get(name)
        if firm is None:
            raise HanseError(
                f"there is no firm {name!r} in this league; allowed: {', '.join(self.town.firms)}"
            )
        return firm.role

    # ---- the clock -------------------------------------------------------------------------------

    def _run(self) -> Iterator[list[str]]:
        for name, strategy in self._strategies.items():
            strategy.start(self._contexts[name])
        for name, agent in self._agents.items():
            agent.start(self._contexts[name])
        yield from self._work_off(0, [], self._collect())
        town, wakes = self.town, self._wakes
        while True:
            minute = town.next_minute()
            wake = wakes.first
            if wake is not None and (minute is None or wake < minute):
                minute = wake
            if minute is None or minute >= self._last_minute:
                break
            self._clock.now = minute
            turns: list[TownTurn] = []
            while not turns and (due := town.next_minute()) is not None and due <= minute:
                turns = town.advance(due)
            self._forget()
            for _, name in wakes.take(minute):
                self._wake(name)
            self.minute_begins(minute)
            yield from self._work_off(minute, turns, self._collect() if self._talks else [])
        self._forget()

    def _work_off(
        self, minute: int, turns: list[TownTurn], mail: list[Message]
    ) -> Iterator[list[str]]:
        """A minute's rounds: turns and mail are delivered, and commands applied a round later."""
        commands: list[tuple[str, Command | None]] = []
        town = self.town
        while turns or mail or commands:
            new_turns: list[TownTurn] = []
            if commands:
                for name, command in commands:
                    self._apply(name, command)
                while not new_turns and (due := town.next_minute()) is not None and due <= minute:
                    new_turns = town.advance(due)
            answers: dict[str, Command | None] = {}
            waiting: list[str] = []
            if mail:
                self._deliver_all(turns, mail, answers, waiting)
            else:
                for name, reason in turns:
                    self._deliver(name, reason, answers, waiting)
            if waiting:
                yield waiting
                for name in waiting:
                    answers[name] = self.conducts[name].choose(self.levers.pop(name))
            commands = [(name, answers[name]) for name, _ in turns]
            turns = new_turns
            mail = self._collect() if self._talks else []

    def _deliver(
        self,
        name: str,
        reason: str | None,
        answers: dict[str, Command | None],
        waiting: list[str],
    ) -> None:
        conduct = self.conducts.get(name)
        strategy = None if conduct is not None else self._strategies[name]
        observation = None
        if reason is not None:
            if strategy is None or strategy.observes:
                observation = self.town.observe(name, reason)
            else:
                self.town.dismiss_notices(name)
        now = self._clock.now
        values = {
            "type": "turn",
            "day": now // MINUTES_PER_DAY,
            "minute_of_day": now % MINUTES_PER_DAY,
            "reason": reason,
            "result": self._results.pop(name, None),
            "observation": observation,
        }
        turn = filled(self._turn, values, self._turn_fields)
        if conduct is not None:
            command = conduct.turn(turn)
            if command is None:
                waiting.append(name)
            answers[name] = command
            return
        assert strategy is not None
        try:
            answers[name] = strategy.decide(turn, self._contexts[name])
        except Exception:
            self.missed += 1
            answers[name] = None

    def _apply(self, name: str, command: Command | None) -> None:
        if command is None:
            self.town.skip(name)
            return
        self._results[name] = result = self.town.apply(name, command)
        if name in self.conducts:
            self.commands[name] += 1
            if not result.ok:
                self.refused[name][str(result.code)] += 1
        if self.town.mail.outbox:
            if self._talks:
                self._post_letters(self.town.mail, self._contexts[self._exchange])
            self.town.mail.outbox.clear()

    # ---- mail between agents ---------------------------------------------------------------------

    def _collect(self) -> list[Message]:
        """What has been sent, and the wake-ups that were asked for, in the round that ends."""
        mail: list[Message] = []
        for name, context in self._contexts.items():
            if context.wakes:
                self._wakes.add(name, context.wakes)
                context.wakes.clear()
            if context.outbox:
                mail += context.outbox
                context.outbox.clear()
        return mail

    def _deliver_all(
        self,
        turns: list[TownTurn],
        mail: list[Message],
        answers: dict[str, Command | None],
        waiting: list[str],
    ) -> None:
        """Turns among other mail, in a league's order: recipient, sender, the sender's counter."""
        rows: list[tuple[str, str, int, Message | str | None]] = [
            (m.recipient, m.sender, m.number, m) for m in mail
        ]
        sent = self._contexts[self._exchange].number
        rows += [(n, self._exchange, sent + k, reason) for k, (n, reason) in enumerate(turns, 1)]
        self._contexts[self._exchange].number = sent + len(turns)
        for name, _, _, what in sorted(rows, key=_in_order):
            if isinstance(what, Message):
                self._hand_over(name, what)
            else:
                self._deliver(name, what, answers, waiting)

    def _hand_over(self, name: str, message: Message) -> None:
        context = self._contexts.get(name)
        if context is None or name == self._exchange or name in self.conducts:
            return
        context.handled = message
        agent = self._agents.get(name)
        if agent is None:
            self._strategies[name].heard(message, context)
        else:
            agent.handle(message, context)
        context.handled = None

    def _wake(self, name: str) -> None:
        if name in self._strategies:
            self._strategies[name].wake(self._contexts[name])
        elif name in self._agents:
            self._agents[name].wake(self._contexts[name])

    def _forget(self) -> None:
        """Drops the records; an episode has no log."""
        world = self.town.world
        world.events.clear()
        if self.ledger is not None:
            self.ledger += world.ledger
        world.ledger.clear()
