"""BECON for a roaster's purchasing in the league: what is bought, for whom, within which budget.

The client, its drift and its bad line are in `policies.environments.procurement`; filters, heads,
gates and their training are those of `policies.becon`. In the order of reading:

- `levers`: what a controller sees of a firm, and what it may set (numpy)
- `values`: what levers are worth, objective by objective, and the best within a budget (numpy)
- `forward`: the estimator's networks in numpy, so that a host needs no torch
- `artefact`, `buyer`: a trained policy as a folder, and one that acts for one firm
- `collecting`, `settings`, `training`: how it is learned on the league's economy (torch)
- `study`, `table`: whole leagues against what BECON is compared with; ``python -m
  policies.becon.procurement``
"""
