"""BECON: acting on a task whose objective and budget drift, and are told only through a bad line.

From the published abstract: preference and budget are partly observed; a belief from recent history
estimates them; gates that depend on uncertainty fuse it with the exposed descriptor; the fused
context conditions both the policy and the constraint. No paper text or code was found, so the
design is ours. In the order of reading:

- `preference_filter`, `budget_filter`, `quality`, `belief`: what needs no learning (numpy)
- `observation`: one flat vector per step, with the belief in it (numpy)
- `history`, `ensemble`, `gates`, `line_error`, `fitting`, `calibration`, `context`, `estimator`:
  what is learned about the task (torch)
- `critic`, `scaling`, `multiplier`, `constraint`, `network`, `losses`: acting on it (torch)
- `variants`, `inferred`: what it is compared with; `forms`: shapes as plain data
- `metrics`: how well that went (numpy)
- `acting`: a trained agent where it works, without RLlib and without labels
- `procurement`: a controller that buys for a roaster of the league, learned and played there
- `study`: the experiments behind ``python -m policies.becon``; `binding`: the same on RLlib

The desk is in `policies.environments`; CHAIN, which can train a BECON policy, in `policies.chain`.
"""
