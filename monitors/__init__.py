"""Who watches the traffic: observers that measure, check and report what the actors exchange.

A monitor never acts in the economy. Those who do live in `actors`, the rules they follow in
`policies`, and the run store that keeps what monitors saw in `services`.
"""
