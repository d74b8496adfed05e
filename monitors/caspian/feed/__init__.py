"""From the league's log to events: what was said becomes vectors, and is joined with its effect.

`rows` reads the log's rows and puts them into their order; `registry` says which parts of a payload
are words and which are numbers; `hashing`, `numeric` and `encoding` turn them into vectors;
`joining` pairs each message with what its recipient did afterwards; `league_graph` says who can
reach whom; `offline` watches a finished run::

    nodes, edges = cast.possibility_edges()
    joiner = Joiner(league_graph(edges, nodes))
    for tick, rows in by_tick(run.rows("messages")):
        signals = caspian.observe(joiner.feed(tick, rows))
"""

from monitors.caspian.feed.encoding import Encoder
from monitors.caspian.feed.joining import Joiner, JoinSettings
from monitors.caspian.feed.league_graph import league_graph
from monitors.caspian.feed.rows import TICK_MINUTES, LogRow, by_tick

__all__ = [
    "Encoder",
    "JoinSettings",
    "Joiner",
    "LogRow",
    "TICK_MINUTES",
    "by_tick",
    "league_graph",
]
