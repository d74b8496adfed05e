"""Balanced multi-task updates: the worst-served task gets as much as any step can give it.

Tasks are firms that share the trunk of a policy, or objectives of one controller. Each task's
improvement by a shared step is measured against its best improvement alone, which makes it free of
the loss's unit, and the least of these rates is made as large as possible. In the order of reading:

- `solver`: the step, in closed form for the tasks that are worst off, and the search for them
- `curvature`, `direction`: how far a task could go alone, and what noisy gradients need
- `step`: for a plain torch loop; `learner`: for RLlib, where it composes with CHAIN
- `baselines`, `study`: other rules, and how all fare on least squares with conflicting optima

The derivation is ours; no paper or code of the method was found beyond its abstract.
"""
