"""A firm that acts by a trained policy, named in a run file as ``strategy = "policy:FOLDER"``.

The folder is what ``hanse train`` has written. The policy sets the firm's levers once a day (or at
every turn, as it was trained); the routine that follows from them is that of its training. It needs
numpy and safetensors, neither torch nor RLlib.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from actors.strategies.strategy import Strategy
from policies.environments.action_layout import ActionLayout
from policies.environments.checks import known_role
from policies.environments.conduct import Conduct
from policies.environments.observation_layout import ObservationLayout
from policies.training.acting import shared
from policies.training.artefact import check_fit
from services.economy.commands import Command
from services.errors import HanseError
from services.messages import Channel

if TYPE_CHECKING:
    from actors.context import Context
    from actors.exchange import Turn
    from services.economy.setup import TownSetup


class Learned(Strategy):
    """A firm that acts by a trained policy.

    Args:
        firm: The firm's name.
        role: Its role, which must be that of the policy.
        setup: Its town, whose rules and goods must be those of the policy's training.
        folder: The policy's folder.
        sampled: Whether levers are drawn by their probabilities, as in training; without it the
            likeliest are taken.
        usual: Whether its networks are left aside and every lever stays as the scripted firm has
            it: what the routine is worth without what was learned.
        where: What an error names as the place to mend.

    Raises:
        HanseError: the policy is not there, damaged, or does not fit.
    """

    def __init__(
        self,
        firm: str,
        role: str,
        *,
        setup: TownSetup,
        folder: str,
        sampled: bool = False,
        usual: bool = False,
        where: str = "strategy",
    ) -> None:
        super().__init__(firm, role)
        for option, given in (("sampled", sampled), ("usual", usual)):
            if not isinstance(given, bool):
                raise HanseError(
                    f"{where}: options.{option}: {given!r} does not fit; true or false"
                )
        try:
            self.policy = shared(folder)
        except HanseError as error:
            raise HanseError(f"{where}: {error}") from None
        manifest = self.policy.manifest
        if manifest.role != role or manifest.cadence == "order":
            raise HanseError(
                f"{where}: policy {manifest.name!r} is for a {manifest.role}, {firm} is a {role};"
                f" train one for a {role}: hanse train FILE"
            )
        self.layout = ObservationLayout(known_role(role), setup)
        self.actions = ActionLayout(known_role(role), setup.catalogue)
        check_fit(manifest, self.layout, self.actions, setup.rules, where)
        self.conduct = Conduct(firm, role, setup, manifest.cadence)
        self.sampled = sampled
        self.usual = usual

    def contacts(self) -> Mapping[str, Iterable[Channel]]:
        """It writes to nobody but its exchange."""
        return {}

    def decide(self, turn: Turn, context: Context) -> Command:
        """The next command of the routine; when it is time to decide, the policy sets the levers.

        A decision is an event ``policy_decision`` of the run, with the levers that are not as the
        scripted firm has them, and the profit that the policy expects.
        """
        conduct = self.conduct
        command = conduct.turn(turn)
        if command is not None:
            return command
        assert conduct.view is not None and conduct.mirror is not None
        seen = self.layout.encode(conduct.view)
        mask = self.actions.mask(conduct.mirror)
        draw = context.rng("policy") if self.sampled else None
        action = self.actions.usual if self.usual else self.policy.act(seen, mask, draw)
        levers = self.actions.values(action)
        told = {
            lever.name: levers[lever.name]
            for lever, level in zip(self.actions.levers, action.tolist(), strict=True)
            if level != lever.usual
        }
        value = float(f"{self.policy.value(seen):.4g}")
        context.record("policy_decision", self.firm, {"levers": told, "value": value})
        return conduct.choose(levers)
