"""Concave scalarisation: raise f(J), a concave utility of several expected returns (MLMC-NPG).

Fairness, a target for one objective, or diminishing returns are utilities of the *expected* vector
return J, and their gradient weighs objectives by omega = df(J). An omega from the mean of few
trajectories is biased, and the bias does not average out over iterations; multi-level Monte Carlo
removes it at the price of a few trajectories on average. Of arXiv 2603.08518 only the abstract was
readable to us, so the details are our reconstruction. In the order of reading:

- `scalarisation`, `utilities`, `reading`: the utilities f, and how a file names them (numpy)
- `draws`, `ray_draws`: fresh trajectories in parts of different size, in this process or on Ray
- `estimator`: omega without the bias (multi-level), and with it (plug-in)
- `objective`: f, a constraint g and its price, measured once per iteration
- `natural_gradient`, `tabular`, `softmax`, `ascent`: natural policy gradient on finite worlds
- `module`, `losses`, `ppo`, `algorithm`: the same omega in RLlib's PPO (torch)
- `study`: the experiments behind ``python -m policies.concave``

Weights that are stated by somebody, and change, are `policies.becon`; advantages for a vector of
rewards are `policies.training.vector_gae`.
"""
