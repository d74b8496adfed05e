"""The tests of Hanse and its benchmarks (`python -m tests.bench`).

Nothing in here is installed with the distribution, and no other package imports it.
"""
