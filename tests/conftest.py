"""How hypothesis looks for counterexamples.

By default the examples are the same in every run, so that a red test stays red until it is mended.
``HYPOTHESIS_PROFILE=search`` looks further and somewhere else each time.
"""

import os

from hypothesis import HealthCheck, Phase, settings

# Explaining a counterexample takes far longer than finding one when each is a whole little world.
_COMMON = settings(
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("same", _COMMON, max_examples=30, derandomize=True)
settings.register_profile("search", _COMMON, max_examples=400)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
