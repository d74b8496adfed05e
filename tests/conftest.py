"""How hypothesis looks for counterexamples, and which tests share a process.

By default the examples are the same in every run, so that a red test stays red until it is mended.
``HYPOTHESIS_PROFILE=search`` looks further and somewhere else each time, and makes what it finds as
small as it can, which takes minutes when the example is a whole little world.
"""

import os

import pytest
from hypothesis import HealthCheck, Phase, settings

_COMMON = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile(
    "same",
    _COMMON,
    max_examples=20,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
)
settings.register_profile(
    "search",
    _COMMON,
    max_examples=400,
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Says which tests have to share a process where several are used (``pytest -n``).

    The tests of a module stay together, for what its fixtures have made. Those with Ray all do:
    some of them count the processes that are left, or what listens.
    """
    on_ray = {item.path for item in items if item.get_closest_marker("ray")}
    for item in items:
        group = "ray" if item.path in on_ray else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))
