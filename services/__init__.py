"""What the actors rely on: messages, configuration, the coffee economy, runs, the command line.

Apart from `services.cli`, which starts everything, nothing here imports `actors`, `policies` or
`monitors`.
"""
