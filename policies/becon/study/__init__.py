"""The studies that show what BECON is worth, at the desk of `policies.environments.tradeoff_desk`.

`level_one`: the best deal is computed, so only belief and gates are on trial. `level_two`: costs
pile up, so a policy is learned by PPO. Both are run by ``python -m policies.becon``.
"""
