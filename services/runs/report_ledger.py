"""The ledger of a run: a trial balance for each firm and, where they fit, the entries."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

from services.runs import Run
from services.runs.report_scope import Scope, plural

ALL: Final = "all firms"


def collect_ledger(run: Run, scope: Scope) -> dict[str, Any]:
    """Debits and credits by firm and account in whole micro-dollars, and the list of entries.

    Strings are stored once and referred to by index: fifteen thousand entries stay below a
    megabyte.
    """
    shown = set(scope.shown)
    books: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    names: dict[str, int] = {}
    references: dict[str, int] = {}
    accounts: dict[str, int] = {}
    entries: list[list[int]] = []
    listed = scope.entries_listed
    keys: dict[str, list[dict[str, list[int]]]] = {}
    for minute, _, _, _, firm, debit, credit, micros, reference in run.rows(
        "ledger", days=range(scope.days)
    ):
        if firm not in keys:
            role = f"all {plural(scope.role(firm) or 'other')}"
            groups = [firm, role, ALL] if firm in shown else [role, ALL]
            keys[firm] = [books[group] for group in groups]
        for book in keys[firm]:
            book[debit][0] += micros
            book[credit][1] += micros
        if listed:
            entries.append(
                [
                    minute,
                    names.setdefault(firm, len(names)),
                    accounts.setdefault(debit, len(accounts)),
                    accounts.setdefault(credit, len(accounts)),
                    micros,
                    references.setdefault(reference, len(references)),
                ]
            )
    groups = [ALL, *(f"all {plural(role)}" for role in scope.roles)]
    rest = sorted(set(books) - set(groups) - shown)
    return {
        "books": [
            {"name": name, "accounts": [[a, *books[name][a]] for a in sorted(books[name])]}
            for name in (*groups, *rest, *scope.shown)
            if name in books
        ],
        "listed": listed,
        "count": scope.entries,
        "firms": list(names),
        "accounts": list(accounts),
        "references": list(references),
        "entries": entries,
    }
