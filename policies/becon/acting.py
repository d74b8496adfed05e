"""A trained agent that acts for B clients: what a router or controller holds, without RLlib.

It is given what an actor sees, never labels: neither `decide` nor `Observer` has a way in for them.
So acting and evaluating are one code path, and training, which needs labels, is another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from policies.becon.forms import plain, restored
from policies.becon.network import Agent
from policies.becon.observation import Exposed, Feedback, Observer
from services.errors import HanseError
from services.whole_file import whole

MANIFEST: Final = "manifest.json"
WEIGHTS: Final = "weights.safetensors"
FORMAT: Final = 1
HIDDEN, FRAMES = "history", "frames"
"""Keys of the encoder's state and of the last frames, beside those of the belief."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided for B clients, and on what it stands."""

    action: np.ndarray
    """int (B, levers)."""
    preference: np.ndarray
    """(B, K): w_bar."""
    budget: np.ndarray
    """(B,): d_bar."""
    safe_budget: np.ndarray
    """(B,)."""
    gates: np.ndarray
    """(B, 2): of w, of d."""
    epistemic: np.ndarray
    """(B, 2): of w, of d."""
    price: np.ndarray
    """(B,): lambda."""

    def span_attributes(self, client: int) -> dict[str, float]:
        """For the span of the decision for one client."""
        return {
            "becon.gate_w": float(self.gates[client, 0]),
            "becon.gate_d": float(self.gates[client, 1]),
            "becon.epistemic": float(self.epistemic[client].max()),
            "becon.lambda": float(self.price[client]),
            "becon.budget_safe": float(self.safe_budget[client]),
        }


class BeconPolicy:
    """An agent with the beliefs it holds of its clients.

    ```
    policy = BeconPolicy.load(folder, clients=3)
    decision = policy.decide(features, exposed)                # first step
    decision = policy.decide(features, exposed, feedback)      # after each step
    ```

    Args:
        agent: Weights.
        clients: B.
        window: As in training on RLlib: 0 if the encoder's state goes on from step to step,
            otherwise how many of the last observations are encoded anew each time.
    """

    def __init__(self, agent: Agent, clients: int, window: int = 0) -> None:
        self.agent = agent.eval()
        self.window = window
        self.observer = Observer(agent.layout, clients)
        self._state: Tensor
        """(B, H), of the encoder."""
        self._frames: Tensor
        """(B, window, D), the last observations."""
        self._forget()

    def decide(
        self,
        features: np.ndarray,
        exposed: Exposed,
        feedback: Feedback | None = None,
        *,
        mask: np.ndarray | None = None,
        rng: np.random.Generator | None = None,
    ) -> Decision:
        """Decides for all clients.

        Args:
            features: (B, F), of their states.
            exposed: The descriptors that hold now.
            feedback: What the last step came to; None before the first, which forgets everything.
            mask: bool (B, actions), where the agent was trained with one.
            rng: Draws actions by their probabilities; None: the likeliest are taken.
        """
        if feedback is None:
            x = self.observer.first(features, exposed, mask)
            self._forget()
        else:
            x = self.observer.next(features, exposed, feedback, mask)
        with torch.no_grad():
            seen = torch.as_tensor(x).unsqueeze(1)
            if self.window:
                self._frames = torch.cat([self._frames[:, 1:], seen], dim=1)
                logits, acted, _, _ = self.agent.act(self._frames)
            else:
                logits, acted, _, self._state = self.agent.act(seen, self._state)
        k = self.agent.layout.objectives
        made = {
            name: getattr(acted, name)[:, -1].numpy()
            for name in ("features", "plain", "gates", "epistemic", "price")
        }
        return Decision(
            action=_chosen(logits[:, -1], self.agent.layout.levels, rng),
            preference=made["plain"][:, :k],
            budget=made["plain"][:, k],
            safe_budget=made["features"][:, k],
            gates=made["gates"],
            epistemic=made["epistemic"],
            price=made["price"],
        )

    def get_state(self) -> dict[str, np.ndarray]:
        """Beliefs and histories of all clients, as plain arrays."""
        return {
            **self.observer.get_state(),
            HIDDEN: self._state.numpy().copy(),
            FRAMES: self._frames.numpy().copy(),
        }

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes on where `get_state` was called."""
        self.observer.set_state(dict(state))
        self._state = torch.as_tensor(np.array(state[HIDDEN]))
        self._frames = torch.as_tensor(np.array(state[FRAMES]))

    def _forget(self) -> None:
        clients = self.observer.batch
        self._state = self.agent.initial_state(clients)
        self._frames = torch.zeros(clients, self.window, self.agent.layout.width)

    def save(self, folder: Path) -> None:
        """Writes weights and manifest; loading them runs no code."""
        from safetensors.torch import save

        packed = save({k: v.contiguous() for k, v in self.agent.state_dict().items()})
        manifest = {
            "format": FORMAT,
            "kind": "becon",
            "window": self.window,
            **plain(self.agent.layout, self.agent.form),
            "weights_sha256": hashlib.sha256(packed).hexdigest(),
        }
        folder.mkdir(parents=True, exist_ok=True)
        with whole(folder / WEIGHTS) as target:
            target.write_bytes(packed)
        with whole(folder / MANIFEST) as target:
            target.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, clients: int) -> BeconPolicy:
        """Reads what `save` wrote.

        Raises:
            HanseError: it is not there, is damaged, or is something else.
        """
        manifest = _manifest(folder / MANIFEST)
        layout, form = restored(manifest, str(folder / MANIFEST))
        path = folder / WEIGHTS
        try:
            packed = path.read_bytes()
        except OSError as error:
            raise HanseError(
                f"{path}: cannot be read: {error.strerror or error}; train it anew"
            ) from None
        if hashlib.sha256(packed).hexdigest() != manifest.get("weights_sha256"):
            raise HanseError(
                f"{path}: these are not the weights that {MANIFEST} tells of; restore both"
            )
        from safetensors.torch import load

        agent = Agent(layout, form)
        try:
            agent.load_state_dict(load(packed))
        except RuntimeError as error:
            first = str(error).splitlines()[-1].strip()
            raise HanseError(f"{path}: does not fit {MANIFEST}: {first}; train it anew") from None
        return cls(agent, clients, int(manifest.get("window", 0)))


def _chosen(logits: Tensor, levels: tuple[int, ...], rng: np.random.Generator | None) -> np.ndarray:
    """One level for each lever: int (B, levers)."""
    picked = []
    for part in logits.split(list(levels), dim=-1):
        values = part.double().numpy()
        if rng is not None:
            values = values + rng.gumbel(size=values.shape)
        picked.append(values.argmax(axis=1))
    return np.stack(picked, axis=1)


def _manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_bytes())
    except OSError as error:
        raise HanseError(
            f"{path}: cannot be read: {error.strerror or error};"
            " name the folder that BeconPolicy.save has written"
        ) from None
    except ValueError:
        raise HanseError(f"{path}: is damaged; train it anew") from None
    if not isinstance(manifest, dict) or manifest.get("kind") != "becon":
        raise HanseError(f"{path}: kind: is no BECON policy; name another folder")
    if manifest.get("format") != FORMAT:
        raise HanseError(f"{path}: format: only {FORMAT} is known; train it anew")
    return manifest
