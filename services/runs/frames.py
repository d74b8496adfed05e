"""A run as pandas frames, for notebooks."""

from typing import TYPE_CHECKING, Any

from services.errors import HanseError
from services.messages import MINUTES_PER_DAY
from services.runs.bodies import sound_body
from services.runs.schema import TABLES
from services.runs.sheets import flat

if TYPE_CHECKING:
    import pandas

    from services.runs.run import Run

_COLUMNS_OF_EVENTS = {
    "action": ("seq", "tool", "args", "status", "new_id", "error_code"),
    "deal": (
        "deal",
        "listing",
        "offer",
        "seller",
        "buyer",
        "item",
        "qty",
        "unit_price",
        "total_price",
        "terms_days",
        "delivery_day",
    ),
}
"""The columns that a frame has even when nothing of the kind has happened."""


def table(run: "Run", name: str) -> "pandas.DataFrame":
    """A table as it is stored, with the day of each row in front."""
    frame = _pandas().DataFrame.from_records(
        list(run.rows(name)), columns=list(TABLES[name].columns)
    )
    frame.insert(0, "day", frame["minute"] // MINUTES_PER_DAY)
    return frame


def ledger(run: "Run") -> "pandas.DataFrame":
    """The ledger, with amounts in dollars beside the exact ones."""
    frame = table(run, "ledger")
    frame["amount"] = frame["micros"] / 1_000_000
    return frame


def events(run: "Run", kind: str) -> "pandas.DataFrame":
    """The events of a kind, the parts of their bodies as columns."""
    records = [
        {
            "day": minute // MINUTES_PER_DAY,
            "minute": minute,
            "exchange": agent,
            "firm": subject,
            **sound_body(body, run.database, "events"),
        }
        for minute, _, agent, _, _, _, subject, body in run.rows("events", "kind = ?", (kind,))
    ]
    known = ["day", "minute", "exchange", "firm", *_COLUMNS_OF_EVENTS.get(kind, ())]
    return _frame(records, known)


def metrics(run: "Run") -> "pandas.DataFrame":
    """The metrics, what is kept for each item flattened to one column for each."""
    records = [
        {"day": day, "firm": firm, **flat(sound_body(body, run.database, "metrics"))}
        for day, firm, body in run.rows("metrics")
    ]
    return _frame(records, ["day", "firm"])


def _frame(records: list[dict[str, Any]], known: list[str]) -> "pandas.DataFrame":
    columns = dict.fromkeys(known)
    for record in records:
        columns.update(dict.fromkeys(record))
    return _pandas().DataFrame.from_records(records, columns=list(columns))


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise HanseError(
            "frames need pandas, which is not installed: pip install 'hanse[data]'"
        ) from error
    return pandas
