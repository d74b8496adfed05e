"""How policies are trained: what run files, trainer and learners of several methods share.

A method's own losses and modules live in its folder (`chain`, `balanced`, `becon`, `concave`), the
worlds that it is trained in live in `environments`.
"""
