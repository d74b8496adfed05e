"""Chance: the original's single stream, or one stream for each purpose.

Under the rules ``coffeebench`` everything comes from one ``random.Random(seed)``, drawn in the
original's order: demand noise for all days and items, the retailers' loyalty, then one number for
each shipment whenever it falls due. Under the rules ``hanse`` each purpose has its own stream,
named after what it is for, so that decisions of one firm never change the luck of another.
"""

from __future__ import annotations

import hashlib
import random

from services.economy.setup import TownSetup


def stream(seed: int, *names: object) -> random.Random:
    """A generator of its own for a purpose; the same names give the same numbers everywhere."""
    return random.Random(":".join(map(str, (seed, *names))))


def uniform(seed: int, *names: object) -> float:
    """One number in [0, 1) for a purpose, from the SHA-256 of its name."""
    digest = hashlib.sha256(":".join(map(str, (seed, *names))).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2.0**64


class Luck:
    """Demand noise, loyalty and the fate of shipments, for one town."""

    def __init__(self, setup: TownSetup, shipments_drawn: int = 0) -> None:
        self._setup = setup
        self._named = setup.rules.named_random_streams
        items = setup.catalogue.consumer_items
        retailers = [f.name for f in setup.firms if f.role == "retailer"]
        if self._named:
            self.loyalty = {
                name: stream(setup.seed, setup.name, "loyalty", name).uniform(0.85, 1.15)
                for name in retailers
            }
            return
        self._single = random.Random(setup.seed)
        self._noise = {
            item.id: [self._single.gauss(0.0, setup.demand_sigma) for _ in range(setup.days + 2)]
            for item in items
        }
        self.loyalty = {name: self._single.uniform(0.85, 1.15) for name in retailers}
        for _ in range(shipments_drawn):
            self._single.random()

    def demand_noise(self, item: str, day: int) -> float:
        """The day's noise in kilograms, normal with the town's sigma (note, S8)."""
        if not self._named:
            return self._noise[item][day]
        setup = self._setup
        return stream(setup.seed, setup.name, "demand", item, day).gauss(0.0, setup.demand_sigma)

    def shipment(self, seller: str, buyer: str, nth: int) -> float:
        """A number in [0, 1) that decides whether a shipment is lost, late or on time."""
        if not self._named:
            return self._single.random()
        return uniform(self._setup.seed, self._setup.name, "shipment", seller, buyer, nth)
