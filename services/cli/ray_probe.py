"""Does Ray start here? `hanse doctor` runs this module in a process that it can give up on."""

from __future__ import annotations

import json
import time

from actors.local_ray import local_ray


def answer() -> bool:
    """The body of the task."""
    return True


def main() -> None:
    """Start Ray, run a task, stop it; print the seconds as JSON."""
    begin = time.perf_counter()
    with local_ray(1) as ray:
        started = time.perf_counter()
        ray.get(ray.remote(answer).remote())
        done = time.perf_counter()
    print(json.dumps({"start": started - begin, "task": done - started}))


if __name__ == "__main__":
    main()
