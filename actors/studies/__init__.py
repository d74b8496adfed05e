"""Studies: leagues that are run many times over to measure a claim about their monitors.

Here: `calibrating` (when is it an alarm), `detecting` (how well, how fast, who), `containing` (what
harm is avoided), each over many seeds and on all processors. Not here: the monitors themselves
(``monitors``) and benchmarks of speed (``tests/bench``).
"""
