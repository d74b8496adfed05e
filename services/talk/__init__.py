"""What firms say to each other and what they make of it: claims, minds, load, and who knows whom.

Here: the model, plain and deterministic. Not here: the agents that talk
(``actors.strategies.informed``, ``actors.board``, ``actors.forecaster``) and the attacks on them
(``actors.injections``).
"""
