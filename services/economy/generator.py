"""Makes leagues of any size from a seed: towns, firms and how they differ."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.economy.catalogue import (
    GREEN,
    GREEN_SPECIALTY,
    ROASTED,
    ROASTED_SPECIALTY,
    ROLES,
    Role,
)
from services.economy.luck import stream

STANDARD_ASKS: dict[Role, dict[str, float]] = {
    "farmer": {GREEN: 4.1, GREEN_SPECIALTY: 15.75},
    "roaster": {ROASTED: 9.9, ROASTED_SPECIALTY: 34.5},
    "retailer": {},
}


@dataclass(frozen=True, slots=True)
class GeneratedFirm:
    """A firm of a made league; amounts in dollars."""

    name: str
    role: Role
    town: str
    cash: float
    asks: dict[str, float] = field(default_factory=dict)
    """Asking prices for a scripted firm."""
    correspondents: tuple[str, ...] = ()
    """Roasters of its town to which a scripted retailer writes."""


def generate_firms(
    seed: int, firms: int, towns: int = 1, shares: tuple[float, float, float] = (1.0, 1.0, 1.0)
) -> list[GeneratedFirm]:
    """A league of ``firms`` firms in ``towns`` towns.

    Towns are as equal in size as can be; within a town the roles have these ``shares``, at least
    one firm each. Cash is drawn from 10,000 to 20,000 dollars, asking prices within 10 % of the
    reference firms', each from the firm's own stream.

    Raises:
        ValueError: fewer than three firms a town.
    """
    if firms < 3 * towns:
        raise ValueError(f"{firms} firms cannot fill {towns} towns with all three roles")
    made: list[GeneratedFirm] = []
    number = dict.fromkeys(ROLES, 0)
    for index in range(towns):
        town = "town" if towns == 1 else f"town_{index + 1}"
        size = firms // towns + (index < firms % towns)
        names: dict[Role, list[str]] = {}
        for role, count in zip(ROLES, split(size, shares), strict=True):
            names[role] = []
            for _ in range(count):
                number[role] += 1
                names[role].append(f"{role}_{number[role]}")
        for role in ROLES:
            for name in names[role]:
                rng = stream(seed, "generate", name)
                made.append(
                    GeneratedFirm(
                        name,
                        role,
                        town,
                        float(rng.randrange(10_000, 20_001, 100)),
                        {
                            item: round(ask * rng.uniform(0.9, 1.1), 2)
                            for item, ask in STANDARD_ASKS[role].items()
                        },
                        tuple(names["roaster"][:2]) if role == "retailer" else (),
                    )
                )
    return made


def split(size: int, shares: tuple[float, float, float]) -> list[int]:
    """Divides ``size`` by ``shares``, at least one each, by largest remainder."""
    free = size - len(shares)
    exact = [free * share / sum(shares) for share in shares]
    counts = [1 + int(x) for x in exact]
    order = sorted(range(len(shares)), key=lambda i: (int(exact[i]) - exact[i], i))
    for i in order[: size - sum(counts)]:
        counts[i] += 1
    return counts
