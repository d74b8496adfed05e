"""The command line: reads arguments, starts a run and prints what came of it.

It is the one part of `services` that imports `actors`; the work itself is done there.
"""
