"""Looking into a run: why something happened, what an agent did, where two runs part.

Everything here reads a run's folder, finished or not, and answers in words; `hanse trace` prints
what it finds.
"""
