"""What is learned or optimised, and the classical rules it is measured against.

A policy turns what an actor knows into what it does next. Who acts on the decision lives in
`actors`; messages, configuration and the economy itself live in `services`.
"""
