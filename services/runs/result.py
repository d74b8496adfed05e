"""What a finished run came to."""

from pydantic import BaseModel, ConfigDict


class FirmResult(BaseModel):
    """Where one firm stands at the end; money in dollars."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    firm: str
    town: str
    role: str
    strategy: str
    net_income: float
    revenue: float
    cash: float
    stock_kg: int
    messages_sent: int
    deals: int
    bankrupt_day: int | None = None


class RunResult(BaseModel):
    """The summary of a run, as ``hanse run --json`` prints it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str
    """The run's folder."""
    name: str
    seed: int
    days: int
    rules: str
    placement: str
    hosts: int
    log_sha256: str
    ledger_sha256: str
    messages: int
    actions: int
    seconds: float
    firms: list[FirmResult]
    counters: dict[str, int]
    """agent_errors, turns_missed, mail_refused, host_restarts."""
    spans: int = 0
    """Spans of the run's messages (sent, received, handled) that are there."""
    spans_expected: int = 0
    """Spans that its messages must have; 0 if nothing was traced."""
