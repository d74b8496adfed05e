"""How hypothesis looks for counterexamples.

By default the examples are the same in every run, so that a red test stays red until it is mended.
``HYPOTHESIS_PROFILE=search`` looks further and somewhere else each time.
"""

import os

from hypothesis import HealthCheck, settings

_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "same", deadline=None, max_examples=20, derandomize=True, suppress_health_check=_SLOW_IS_FINE
)
settings.register_profile(
    "search", deadline=None, max_examples=400, suppress_health_check=_SLOW_IS_FINE
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
