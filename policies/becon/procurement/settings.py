"""The size of a purchasing policy's training, and what may be said of it in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from typing import Annotated, Any, Final, get_type_hints

from pydantic import Field, ValidationError, create_model

from policies.becon.estimator import EstimatorForm
from services.config.base import ConfigModel
from services.config.problems import explain
from services.errors import HanseError

_Leagues = Annotated[int, Field(ge=1, le=10_000)]
_Updates = Annotated[int, Field(ge=1, le=1_000_000)]
_Widths = Annotated[list[Annotated[int, Field(ge=1, le=4096)]], Field(max_length=8)]


@dataclass(frozen=True, slots=True)
class Settings:
    """The size of a training."""

    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 1
    days: Annotated[int, Field(ge=1, le=3660)] = 90
    explored: Annotated[int, Field(ge=2, le=10_000)] = 400
    """Leagues that are explored for values; a tenth of them, but at least one, is left out to judge
    by."""
    hold: Annotated[int, Field(ge=1, le=3660)] = 14
    """Days for which levers are held in exploring."""
    horizon: Annotated[int, Field(ge=1, le=3660)] = 10
    """Days ahead that count."""
    hidden: tuple[int, ...] = (32, 32)
    value_updates: _Updates = 1_500
    value_batch: Annotated[int, Field(ge=1, le=100_000)] = 1_024
    value_decay: Annotated[float, Field(ge=0, le=1)] = 1e-4
    watched: _Leagues = 40
    """Leagues a regime and source from which encoder and heads learn."""
    updates: _Updates = 150
    sequences: Annotated[int, Field(ge=1, le=100_000)] = 64
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 3e-3
    judged: _Leagues = 20
    """Leagues a regime for calibration, and again for gates."""
    gate_updates: _Updates = 500
    line_updates: _Updates = 300
    random_share: Annotated[float, Field(ge=0, le=1)] = 0.05
    """Of days on which levers are drawn, in all leagues but the explored."""
    kappa: Annotated[float, Field(ge=0, le=10)] = 0.7
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
        model = _table()
        try:
            checked = model.model_validate(dict(values))
        except ValidationError as error:
            raise explain(error, model, values, source) from None
        found = checked.model_dump(include=set(values))
        if "hidden" in found:
            found["hidden"] = tuple(found["hidden"])
        made = cls(**found)
        if not 0 < made.horizon <= made.hold < made.days:
            raise HanseError(
                f"{source}: horizon = {made.horizon}, hold = {made.hold}, days = {made.days};"
                " allowed: 0 < horizon <= hold < days"
            )
        return made


@lru_cache(maxsize=1)
def _table() -> type[ConfigModel]:
    """The settings as a table of a file, with what each may be."""
    hints = get_type_hints(Settings, include_extras=True) | {"hidden": _Widths}
    usual = asdict(Settings()) | {"hidden": list(Settings().hidden)}
    known: dict[str, Any] = {name: (hints[name], usual[name]) for name in usual if name != "form"}
    made: type[ConfigModel] = create_model("Procurement", __base__=ConfigModel, **known)
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
