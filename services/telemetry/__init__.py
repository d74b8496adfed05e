"""What a run did, span by span.

Spans are not written one by one: they are derived from the log (messages and events with their
causes), from the times that hosts note (``timings``) and from the few that are recorded as such
(``handling``: users' own; the league's days and checkpoints). ``reader`` and ``spans`` do that;
``inspection`` answers questions, ``view`` shows them in a browser, ``exporting`` and its like hand
them to OpenTelemetry, Perfetto and files. Metrics and log records live here, too.

What does not live here: the log itself (``services.runs``), and whoever watches a run and acts on
what it sees (``monitors``).
"""
