"""Tests of `services`."""
