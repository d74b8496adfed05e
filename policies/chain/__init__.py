"""CHAIN, churn-reduced training of policies (arXiv 2409.04792; continual: arXiv 2506.00592).

A step of the optimiser on one mini-batch moves the outputs at all other states, too: churn. CHAIN
adds to the loss how far the outputs at an independent reference batch moved in the last step. In
the order of reading:

- `losses`, `heads`, `metrics`: churn as a loss, for each kind of policy, and as a figure to log
- `coefficient`, `reference`, `rows`: the weight that sets itself, the network of one step ago, the
  rows to compare on
- `settings`, `regulariser`: all that for one module, still without RLlib
- `learner`, `ppo`, `dqn`, `sac`: the binding to RLlib's learners
- `serial`: agents that see what those before them have committed to; off unless asked for
- `drifting`, `study`, `benchmark`, `table`: what it does on CartPole with drifting observations,
  and what it costs (``python -m policies.chain``)

That CHAIN stands for this method is our reading of the name; no other method of that name is known.
"""
