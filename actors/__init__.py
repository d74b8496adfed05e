"""Who acts: agents, firms, routers, controllers, the exchange, hosts and the league.

How an actor decides lives in `policies`, who watches it in `monitors`, and what all of them rely
on in `services`; only the command line imports this package.
"""
