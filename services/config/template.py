"""The run file that `hanse new` writes: every key with its default, ready to run."""

from __future__ import annotations

from services.strategy_lines import AUTO_PLACEMENT, STRATEGY_LINES

_TEMPLATE = """\
# A run of the coffee league. Start it with:  hanse run {file}
# A line that begins with '#' is a comment; what is left out has the default shown.

format = 1              # of this file; leave it
name = "{name}"         # names the run's folder: runs/<name>-seed<seed>-<n>
seed = 0                # one seed, one run, to the byte
days = 90               # 1 to 3660
rules = "hanse"         # "coffeebench" keeps the original's defects, for comparison
placement = "auto"      # inline (no Ray), one (a Ray actor for each agent), packed (on hosts);
                        # {auto}
hosts = 2               # Ray actors that carry the agents when packed
turn_timeout = 10.0     # seconds an agent may think before it loses its turn
mailbox_limit = 10000   # messages that may wait for one agent; more are refused and counted
# stop_when_bankrupt = "roaster_A"   # end the run when this firm is bankrupt

# ---- the firms -------------------------------------------------------------------------------
# role:     farmer, roaster or retailer; the league needs each of them
# strategy: {strategies}
#           or a class of your own: "my_package.my_module:MyFirm" or "my_firm.py:MyFirm"
#           or a trained policy: "policy:FOLDER" (hanse train)
#           (debug it with --placement inline: what it prints is then in your terminal)
# Without [[firms]] the league has these six.

[[firms]]
name = "farmer_A"
role = "farmer"
strategy = "scripted"
# town = "town"                  # with several towns: where it trades
# cash = 15000.0                 # dollars at the start
# opex = 25.0                    # dollars a day
# stock_cap = 120                # kg
# stock = {{ green_coffee_kg = 60 }}
# options = {{ }}                  # passed to the strategy; of a managed roaster, for instance
#                                # {{ drift = "jumps", line = "severe" }}: what it wants, unseen
# controller = "buyer"           # hands its purchasing to a controller, see below
# host = 0                       # when packed: the host that carries it

[[firms]]
name = "farmer_B"
role = "farmer"

[[firms]]
name = "roaster_A"
role = "roaster"
strategy = "heuristic"

[[firms]]
name = "roaster_B"
role = "roaster"

[[firms]]
name = "retailer_A"
role = "retailer"

[[firms]]
name = "retailer_B"
role = "retailer"

# Or, in place of [[firms]], a league made from the seed:
# [generate]
# firms = 300
# towns = 10
# farmers = 1.0                  # shares of the roles
# roasters = 1.0
# retailers = 1.0
# strategy = "scripted"

# ---- towns, routers, controllers -------------------------------------------------------------
# A town is one exchange. Trade between towns goes through a router.
# [[towns]]
# name = "town"
#
# [[routers]]
# name = "forwarder"
# rule = "cheapest"              # direct, cheapest, least_loaded
# policy = "policy:FOLDER"       # in place of the rule: a router's policy of hanse train
#
# [[controllers]]
# name = "buyer"
# rule = "base_stock"
# options = {{ }}
# policy = "policy:FOLDER"       # in place of the rule: a purchasing policy of hanse train
# source = "gated"               # where its context comes from: gated, history, filter, exposed
# kappa = 0.5                    # deviations of the budget that it holds back; as it was trained

# On a cluster of several machines: which of them carries a host, a town or an agent, by the
# machine's name or address. The result does not depend on it, nor does a run on one machine.
# [machines]
# "host-0" = "192.168.1.11"
# monitors = "192.168.1.12"

# ---- talk --------------------------------------------------------------------------------------
# Firms of the strategy "informed" write to each other, to their town's board and forecaster, and
# believe what they hear; this is how. Without the table it is as shown.
# [talk]
# boards = true                  # each town has one
# forecasters = true
# edges = 0.3                    # who writes to whom: chance of an edge within a town, besides a
#                                # ring (0.2 from 96 firms on)
# careful = 0.25                 # share of the firms that nobody convinces
# trust = 1.0                    # how much the others are inclined to believe, at most
# adoption = 0.8                 # how easily firms are convinced
# rate = 1.0                     # how much they talk, as a multiple
#
# What is done to a league that talks: attacks (price_rumour, corrupted_memory, faulty_tool,
# retry_storm, mixed), what only looks like one (harvest_shock, promotion_burst,
# contract_handover), or your own as "my_module:MyInjection" or "my_file.py:MyInjection".
# [[injections]]
# kind = "price_rumour"
# day = 8
# hour = 9
# hours = 60                     # working hours that it lasts
# origin = "farmer_1"            # all three are drawn from the seed if left out
# bridge = "roaster_1"
# amplifier = "retailer_1"
# options = {{ factor = 0.6 }}     # the claimed price, as a multiple of the normal one

# ---- monitors and containment ----------------------------------------------------------------
# Who watches what firms say to each other, and raises an alert when influence begins to cascade;
# without the table nobody does. See: hanse monitor --help
# [monitor]
# caspian = true                 # over the messages
# calibration = "standard"       # from when on it is an alarm: of talking leagues like those in the
#                                # examples; or a file, written by: hanse monitor calibrate {file}
#                                # without one there are scores, and no alarms
# tick_minutes = 60              # virtual minutes of a step
# shards = 1                     # the traffic is scored in so many parts, with the same result
# max_events = 40000             # scored in a tick; of more, a sample is
# bace = false                   # over the activity: who drives whom
# refit_ticks = 500              # how often it learns that anew
#
# What is done about an alert; without the table nothing. To lift a measure before its time:
# hanse monitor lift RUN MEASURE
# [containment]
# policy = "quarantine"          # what suspects say is withheld; throttle: they may say little;
#                                # approval: what states an odd price is stopped; the rest passes,
#                                # requests too, so that it is no help against a retry storm;
#                                # advise: nothing but the advice below; alerts: not even that
# hours = 168                    # how long a measure stands
# per_hour = 1                   # messages an hour when throttled
# suspects = 5                   # how many it may fall on, the origin first
# advise = true                  # firms are told to doubt what they heard since it began
# doubt_hours = 48               # and what they hear from now on, for so long

# ---- the economy -----------------------------------------------------------------------------
[economy]
# loss_probability = 0.015       # a shipment is lost
# delay_probability = 0.07       # a shipment comes a day later
# spoilage_per_day = 0.005       # share of the stock
# late_fee_per_day = 0.001       # share of an overdue invoice
# return_window_days = 14
# roast_cap_kg = 50              # kg of green coffee a day and roaster
# demand_sigma = 0.5             # noise of the consumers' demand, kg
# market_cap = 130.0             # kg a day
# festival_days = [40, 53]
# festival_factor = 3.0
# credit_limit = 15000.0         # dollars that one firm may owe another
# listing_days = 7               # after which an open listing or offer lapses
# max_terms_days = 60            # longest term of payment
# freight_days = 2               # between towns
# freight_per_kg = 0.25          # between towns

# Items: green_coffee_kg, roasted_coffee_kg, green_specialty_kg, roasted_specialty_kg
# [items.green_coffee_kg]
# cost = 2.0
# daily_cap = 30
#
# [items.roasted_coffee_kg]
# reservation_price = 30.0
# demand_base = 80.0
# floor = 5
#
# [recipes.green_coffee_kg]
# labour = 3.0
# yield = 0.85
# lag = 1
"""


def commented_template(name: str = "coffee", file: str = "FILE") -> str:
    """The text of a new run file; read back unchanged it is the standard run.

    Args:
        name: of the run.
        file: what the user calls the file, for the line that says how to start it.
    """
    width = max(map(len, STRATEGY_LINES))
    lines = [f"{strategy:{width}}  {what}" for strategy, what in STRATEGY_LINES.items()]
    return _TEMPLATE.format(
        name=name,
        file=file,
        auto=AUTO_PLACEMENT.replace("; ", ";\n                        # "),
        strategies="\n#           ".join(lines),
    )
