"""Rival detectors: classical ones, and small CPU versions of those in the literature (note 11).

None needs training data beyond the traffic that it watches, but for the isolation forest, which
learns from the benign traces that thresholds are calibrated on.
"""
