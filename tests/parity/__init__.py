"""Parity: our economy, driven or replayed, against ledgers measured on CoffeeBench itself.

    python -m tests.parity FOLDER ... [--replay]

``reference`` reads a folder of measured ledgers, ``play`` plays its world through our economy,
``tables`` says what each of its files means in our terms, ``compare`` finds the first difference.
"""
