"""The training file that `hanse new --training` writes: every key with its default."""

from __future__ import annotations

_TEMPLATE = """\
# A training. Start it with:  hanse train {file}
# A line that begins with '#' is a comment; what is left out has the default shown.

format = 1                  # of this file; leave it
name = "{name}"             # names the folder: trainings/<name>-seed<seed>
seed = 1                    # one seed, one policy

[environment]
# run = "coffee.toml"       # the league, relative to this file; the standard one without
# league = {{ days = 30 }}   # or the league itself, with the keys of a run file
firm = "roaster_A"          # which of its firms learns
# firms = ["roaster_A", "retailer_A"]   # or several at the same time, each a policy of its own
# router = "router"         # or the router between the towns of a league, in place of a firm; then
                            # objectives are of: surplus (tens of dollars), filled (0 to 1), and
                            # cost is empty_handed
share = "none"              # with firms: whether those of a role share their networks: none, role
# strategies = {{ roaster_B = "repaired" }}   # others than the run file has, for other firms
cadence = "day"             # how often it decides: day, or turn
objectives = {{ profit = 1.0 }}   # weights that sum to 1, of: profit (hundreds of dollars),
                            # service (0 to 1), waste (tens of dollars), liquidity (-1 to 0)
cost = "stock_out"          # measured against the budget: stock_out, debt, overdraft, overdue
budget = 0.5                # what the mean cost of a step may be, 0 to 1: see [lagrangian]

[network]
hidden = [128, 128]         # widths of the hidden layers, of policy and value alike
usual = 2.0                 # how much the untrained policy prefers what the scripted firm does

[ppo]
iterations = 100
episodes = 16               # of an iteration; as many leagues run side by side
epochs = 6
minibatch = 240             # steps; an episode of the standard league has 90, so 1440 are there
learning_rate = 0.001       # at the start; it falls linearly ...
final_learning_rate = 0.0001   # ... to this
# decay = 100               # in so many iterations; without it in all
discount = 0.99
gae_lambda = 0.95
clip = 0.2
entropy = 0.003
value_weight = 0.5
gradient_norm = 0.5
runners = 0                 # processes that play the episodes; 0: the trainer's own

[chain]                     # churn reduction (arXiv 2409.04792)
enabled = true
beta = 0.1                  # its term beside the policy's loss

[lagrangian]                # keeps the mean cost within the budget, by a price that cost has
enabled = false
rate = 5.0                  # how far the price moves in an iteration, for a cost 1 above the budget
start = 0.0                 # the price before training, in rewards
most = 50.0                 # and the most that it becomes

[validation]                # keeps the best policy: with [lagrangian] first by the budget, then by
                            # net income, or by the weighted objectives where profit is not alone
every = 10                  # iterations
seeds = [500, 507]          # the first and the last; seeds below 1000 are never learned from
"""


def training_template(name: str, file: str) -> str:
    """The file's text.

    Args:
        name: Of the training.
        file: As the user has typed it.
    """
    return _TEMPLATE.format(name=name, file=file)
