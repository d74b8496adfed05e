"""The size of a purchasing policy's training, and what may be said of it in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from policies.becon.estimator import EstimatorForm
from services.errors import HanseError


@dataclass(frozen=True, slots=True)
class Settings:
    """The size of a training."""

    seed: int = 1
    days: int = 90
    explored: int = 400
    """Leagues that are explored for values."""
    hold: int = 14
    """Days for which levers are held in exploring."""
    horizon: int = 10
    """Days ahead that count."""
    hidden: tuple[int, ...] = (32, 32)
    value_updates: int = 1_500
    value_batch: int = 1_024
    value_decay: float = 1e-4
    watched: int = 40
    """Leagues a regime and source from which encoder and heads learn."""
    updates: int = 150
    sequences: int = 64
    learning_rate: float = 3e-3
    judged: int = 20
    """Leagues a regime for calibration, and again for gates."""
    gate_updates: int = 500
    line_updates: int = 300
    random_share: float = 0.05
    """Of days on which levers are drawn, in all leagues but the explored."""
    kappa: float = 0.7
    """How many deviations of the budget the policy will hold back; no part of what is learned.

    Of 0, 0.35, 0.5, 0.7 and 1 it is the largest whose safe regret on the tuning seeds is within
    0.001 of the least: .020 (4.8 % violations), .015 (2.8), .016 (2.5), .015 (1.6), .025 (1.3).
    """
    form: EstimatorForm = field(default_factory=EstimatorForm)

    @classmethod
    def parse(cls, values: Mapping[str, Any], source: str) -> Settings:
        """Settings from plain data, such as a table of a training file; ``form`` is left out.

        Args:
            values: Those that are not as usual.
            source: What an error names, such as ``buyer.toml: procurement``.

        Raises:
            HanseError: there is no such setting, or its value does not fit.
        """
        known = {each.name for each in fields(cls)} - {"form"}
        for name in values:
            if name not in known:
                raise HanseError(
                    f"{source}: there is no {name!r}; allowed: {', '.join(sorted(known))}"
                )
        try:
            made: Settings = TypeAdapter(cls).validate_python(dict(values))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(map(str, first["loc"]))
            raise HanseError(
                f"{source}: {key}: {first['msg'][:1].lower()}{first['msg'][1:]},"
                f" got {first['input']!r}"
            ) from None
        if not 0 < made.horizon <= made.hold < made.days:
            raise HanseError(
                f"{source}: horizon = {made.horizon}, hold = {made.hold}, days = {made.days};"
                " allowed: 0 < horizon <= hold < days"
            )
        return made


QUICK: Final = Settings(
    explored=60,
    value_updates=400,
    watched=6,
    updates=25,
    sequences=32,
    judged=4,
    gate_updates=200,
    line_updates=100,
)
"""For a first look: a tenth of the time."""
