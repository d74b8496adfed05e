"""The price of cost in PPO with a Lagrangian: it rises while the budget is exceeded, else it falls.

PPO maximises E[reward - price (cost - budget)] over the policy, and the price is moved against it:
projected gradient ascent on the dual, once per iteration (Ray, Achiam, Amodei: Benchmarking Safe
Exploration in Deep Reinforcement Learning, 2019, section 5.2). Steps are plain: Adam would move a
single number by constant steps, however small the excess.

One thing is ours: the cost that counts is the larger of two, that of the policy that explores and
that of the likeliest levers in the last validation. It is the second that will act, and it may be
far dearer: levers that are drawn, such as early payment, are cheap by chance.
"""

from __future__ import annotations

from policies.training.settings import LagrangianConfig


def moved(price: float, cost: float, budget: float, settings: LagrangianConfig) -> float:
    """The price after an iteration.

    Args:
        price: Rewards for a unit of cost, as it was in the iteration.
        cost: The mean cost of a step, 0 to 1.
        budget: What that may be, 0 to 1.
        settings: How fast it moves, and how far.

    Returns:
        Between 0 and ``settings.most``.
    """
    return min(max(price + settings.rate * (cost - budget), 0.0), settings.most)
