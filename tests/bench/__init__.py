"""Benchmarks that a user starts by hand: ``python -m tests.bench [NAME ...]``.

Each prints what it ran on, how often, and the spread. Goals are ratios or CPU seconds; nothing here
is part of the test suite, because a loaded machine must not fail it.
"""
