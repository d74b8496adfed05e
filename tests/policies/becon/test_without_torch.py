"""Torch takes seconds to import: what needs no learning must do without it, and without RLlib."""

import subprocess
import sys

TORCHLESS = (
    *("belief", "budget_filter", "metrics", "observation", "preference_filter"),
    *("quality", "study.desk_watch", "study.planner"),
)


def test_only_what_learns_imports_torch() -> None:
    imports = "".join(f"import policies.becon.{name}\n" for name in TORCHLESS)
    code = (
        f"import sys\n{imports}import policies.environments.tradeoff_desk\n"
        "assert not {'torch', 'ray', 'gymnasium'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_agent_and_its_losses_do_without_rllib() -> None:
    names = ("acting", "losses", "network", "study.level_one", "study.ppo")
    imports = "".join(f"import policies.becon.{name}\n" for name in names)
    code = f"import sys\n{imports}assert 'ray' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
