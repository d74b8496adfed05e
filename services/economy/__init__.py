"""The coffee economy: pure, deterministic rules of trade, without Ray, clock or I/O.

Here: catalogue, commands, production, market, shipping, invoices, consumers, audit, and the town
that joins them. Not here: who decides (``actors``), how a run is kept (``services.runs``).
"""
