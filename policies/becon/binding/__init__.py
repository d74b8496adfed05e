"""BECON on RLlib's new API stack: a thin shell around `policies.becon.network` and `losses`.

- `belief_observation`: a gymnasium wrapper that puts the analytic belief into the observation
- `module`: the RLModule; `columns`: labels and advantages for the learner; `learner`: the loss
- `curriculum`: perfect descriptors early in training; `config`: all that as a `PPOConfig`

What acts without RLlib is `policies.becon.acting`. This package imports ray.
"""
