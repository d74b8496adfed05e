"""Environments: the coffee economy, and any other task, as something that a policy learns in.

There is one economy, `services.economy`; an episode plays it with the strategies of a league, so a
policy learns by the rules by which actors act. In the order of reading:

- `view`, `mirror`: what a firm has looked at, and the economy's own verdict on what it may do
- `observation_layout`, `action_layout`, `deciding`: what a policy sees, its levers, their commands
- `conduct`: a firm's day, turn by turn; an environment and an actor use the same one
- `episode`: a league's run without hosts, log and store, which waits for the levers of its seats
- `rewards`, `checks`: objectives and costs with their units; what is refused before it can do harm
- `leagues`, `seeds`, `seat`: which league, which seed, and one firm of it as a learner has it
- `firm_env`, `league_game`, `league_env`, `parallel_env`: gymnasium, RLlib, PettingZoo around it
- `variants`: the same levers as `Discrete` or `Box`
- `convention`, `intent`, `drift`, `exposed_signal`, `corruption`: wrappers for whatever has vector
  rewards; `multi_objective` makes such an environment of mo-gymnasium's
- `tradeoff_desk`, `desk_env`: a small task whose objective drifts
- `procurement`, `procurement_episode`: what a roaster is after whose purchasing a controller does,
  the line over which it says so, and an episode in which a learner is that controller
- `speed`: how many steps a second, and where the time goes

What a policy needs to act (up to `conduct`) imports neither gymnasium nor torch. Nothing is
exported here: import from the modules.
"""
