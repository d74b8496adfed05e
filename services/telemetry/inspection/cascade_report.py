"""A cascade as a monitor has reported it in a run's log: the body of an alert, read back.

Monitors write it as `monitors.caspian.alert.CascadeReport`; here it is what the log holds, so that
whoever only reads a run needs no monitor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeVar

Facts = Mapping[str, Any]
_T = TypeVar("_T")

ROLES: Final = ("origin", "bridge", "amplifier")
"""The parts that an agent can have played in a cascade."""
_KINDS: Final = ("abrupt", "gradual")
_STATES: Final = ("pending", "provisional", "final")


class Suspects(NamedTuple):
    """Who seems to have played a part."""

    state: str
    """``pending`` (nothing can be said yet), ``provisional`` or ``final``."""
    agents: tuple[str, ...]
    """The likeliest first."""


class Spine(NamedTuple):
    """A path along which a cascade seems to have travelled."""

    path: tuple[str, ...]
    """Agents, the origin first."""
    channel: str


class Report(NamedTuple):
    """What was known of a cascade at some time."""

    id: str
    kind: str
    """``abrupt`` or ``gradual``."""
    onset: int
    """The tick at which it seems to have begun."""
    reported_tick: int
    """The last tick that it knows of."""
    score: float
    """The largest statistic over its threshold at the alarm."""
    statistics: dict[str, float]
    thresholds: dict[str, float]
    roles: dict[str, Suspects]
    """For each of :data:`ROLES`."""
    spines: tuple[Spine, ...]
    evidence: tuple[str, ...]
    """Ids of messages."""


def report_in(facts: object) -> Report | None:
    """The report that the body of an alert is; None if it is none.

    A monitor of a user's own may say something else under the same name.
    """
    try:
        return _read(facts)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _read(facts: Any) -> Report:
    return Report(
        _one_of(str, facts["id"]),
        _known(facts["kind"], _KINDS),
        _one_of(int, facts["onset"]),
        _one_of(int, facts["reported_tick"]),
        _figure(facts["score"]),
        {name: _figure(value) for name, value in _one_of(dict, facts["statistics"]).items()},
        {name: _figure(value) for name, value in _one_of(dict, facts["thresholds"]).items()},
        {role: _suspects(facts.get(role, {})) for role in ROLES},
        tuple(_spine(spine) for spine in facts.get("spines", ())),
        tuple(_one_of(str, id) for id in facts.get("evidence", ())),
    )


def _suspects(facts: Facts) -> Suspects:
    agents = (_one_of(str, suspect["agent"]) for suspect in facts.get("suspects", ()))
    return Suspects(_known(facts.get("state", "pending"), _STATES), tuple(agents))


def _spine(facts: Facts) -> Spine:
    path = tuple(_one_of(str, agent) for agent in facts["path"])
    return Spine(path, _one_of(str, facts["channel"]))


def _one_of(kind: type[_T], value: object) -> _T:
    if not isinstance(value, kind):
        raise TypeError
    return value


def _known(value: object, names: tuple[str, ...]) -> str:
    if value not in names:
        raise ValueError
    return str(value)


def _figure(value: object) -> float:
    if not isinstance(value, int | float):
        raise TypeError
    return float(value)
