"""Logging that says where it was: run, agent, virtual day and time, trace; and no secrets.

It is Python's own logging. A league keeps a `Where` and opens a `RunLog` for its run::

    where = Where(run=manifest.id, look=host.whereabouts, trace_of=trace_of)
    with RunLog(folder, where):
        logging.getLogger("mine").warning("no beans left")

Every record of this process then has the attributes ``run``, ``agent``, ``day``, ``time``,
``message_id`` and ``trace_id``, and lands in ``log.jsonl`` in the run's folder and on stderr.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TextIO

from services.errors import HanseError
from services.telemetry.attributes import text
from services.telemetry.redaction import redact

FILE = "log.jsonl"
"""The file in a run's folder. Lines of other machines come to it at the end of a day."""
_MINUTES_PER_DAY = 1440
_ADDED = ("run", "agent", "day", "time", "message_id", "trace_id")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class Place(NamedTuple):
    """Who does what at the moment."""

    agent: str | None = None
    minute: int | None = None
    """Virtual minutes since the start of the run."""
    message: str | None = None
    """The id of the message that is being handled."""


class Where:
    """Where a run is at the moment; asked only when something is logged.

    Args:
        run: The run's id.
        look: Tells the place. Without it the attributes ``agent``, ``minute`` and ``message`` of
            this object do, which whoever works may set.
        trace_of: Gives a message's trace id, as 32 hexadecimal digits, or None.
    """

    def __init__(
        self,
        run: str = "",
        look: Callable[[], Place] | None = None,
        trace_of: Callable[[str], str | None] | None = None,
    ) -> None:
        self.run = run
        self.agent: str | None = None
        self.minute: int | None = None
        self.message: str | None = None
        self._look = look
        self._trace_of = trace_of

    def facts(self) -> dict[str, Any]:
        """What is added to a record; None where it is not known."""
        try:
            place = Place(self.agent, self.minute, self.message)
            if self._look is not None:
                place = self._look()
            trace = None
            if place.message is not None and self._trace_of is not None:
                trace = self._trace_of(place.message)
        except Exception:  # a log record must never be lost to its own decoration
            place, trace = Place(), None
        day = time = None
        if place.minute is not None:
            day, minute = divmod(place.minute, _MINUTES_PER_DAY)
            time = f"{minute // 60:02}:{minute % 60:02}"
        return {
            "run": self.run or None,
            "agent": place.agent,
            "day": day,
            "time": time,
            "message_id": place.message,
            "trace_id": trace,
        }


class Located(logging.Filter):
    """Adds to each record where the run is; to a record that has been added to, nothing more."""

    def __init__(self, where: Where) -> None:
        super().__init__()
        self._where = where

    def filter(self, record: logging.LogRecord) -> bool:
        """Lets every record pass."""
        if "trace_id" not in record.__dict__:
            for name, value in self._where.facts().items():
                record.__dict__.setdefault(name, value)
        return True


class Redacting(logging.Filter):
    """Takes secrets out of each record: message, arguments, exception, stack and extras.

    Args:
        environ: Whose variables are secrets, if not the process's own.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._environ = environ

    def filter(self, record: logging.LogRecord) -> bool:
        """Lets every record pass, as a text without arguments."""
        try:
            message = record.getMessage()
        except Exception:  # arguments that do not fit: logging would print them to stderr
            message = f"{_printed(record.msg)} {_printed(record.args)}"
        record.msg, record.args = redact(message, self._environ), None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(_whole(record.exc_info))
        if record.exc_text:
            record.exc_text = redact(record.exc_text, self._environ)
        # Whoever formats the exception again would bring its text back.
        record.exc_info = None
        if record.stack_info:
            record.stack_info = redact(record.stack_info, self._environ)
        for name in _extras(record):
            record.__dict__[name] = self._clean(record.__dict__[name])
        return True

    def _clean(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        return redact(value if isinstance(value, str) else _printed(value), self._environ)


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        facts: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        for name in _ADDED:
            value = getattr(record, name, None)
            if value is not None:
                facts[name] = value
        for name in _extras(record):
            if not name.startswith("_"):  # a library's own, such as Ray's
                facts[name] = record.__dict__[name]
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(_whole(record.exc_info))
        if record.exc_text:
            facts["exception"] = record.exc_text
        if record.stack_info:
            facts["stack"] = record.stack_info
        clean = {key: text(v) if isinstance(v, str) else v for key, v in facts.items()}
        return text(json.dumps(clean, ensure_ascii=False, default=str))


class Plain(logging.Formatter):
    """A record as a person reads it: ``day 3 09:30 roaster_A: no beans left``."""

    def format(self, record: logging.LogRecord) -> str:
        """The text; an exception follows on lines of its own."""
        day = getattr(record, "day", None)
        when = "" if day is None else f"day {day} {getattr(record, 'time', '')} "
        who = getattr(record, "agent", None) or record.name
        level = "" if record.levelno <= logging.INFO else f"{record.levelname.lower()}: "
        lines = [f"{when}{who}: {level}{record.getMessage()}"]
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(_whole(record.exc_info))
        lines += filter(None, (record.exc_text, record.stack_info))
        return text("\n".join(lines))


class RunLog:
    """Sends a logger's records to the run's folder and to stderr while it is open.

    Args:
        folder: The run's folder, or None for no file.
        where: Where the run is.
        stream: Where people read, None for nowhere; by default stderr.
        level: What is too unimportant for the file.
        stream_level: What is too unimportant for people.
        logger: By default the root logger, so that every library's records are caught.
        keep: Is given the lines of the file where the run's folder is not; see :func:`append`.

    Raises:
        HanseError: the file cannot be written.
    """

    def __init__(
        self,
        folder: Path | str | None,
        where: Where,
        *,
        stream: TextIO | str | None = "stderr",
        level: int = logging.INFO,
        stream_level: int = logging.WARNING,
        logger: logging.Logger | None = None,
        keep: Callable[[str], None] | None = None,
    ) -> None:
        self._logger = logging.getLogger() if logger is None else logger
        self._handlers: list[logging.Handler] = []
        ours_alone = not self._logger.handlers
        filters = (Located(where), Redacting())
        self._path = None if folder is None else Path(folder) / FILE
        if self._path is not None:
            path = self._path
            try:
                file: logging.Handler = logging.FileHandler(path, encoding="utf-8")
            except OSError as error:
                raise HanseError(f"{path} cannot be written: {error.strerror or error}") from error
            self._add(file, JsonLines(), level, filters)
        if keep is not None:
            self._add(_Kept(keep), JsonLines(), level, filters)
        if stream is not None:
            out = sys.stderr if isinstance(stream, str) else stream
            self._add(logging.StreamHandler(out), Plain(), stream_level, filters)
        self._level = self._logger.level
        lowest = min((handler.level for handler in self._handlers), default=self._level)
        # Handlers of the user's may rely on the logger's level, so then it stays.
        if ours_alone and self._logger.getEffectiveLevel() > lowest:
            self._logger.setLevel(lowest)

    def close(self) -> None:
        """Leaves the logger as it was found. May be repeated."""
        for handler in self._handlers:
            self._logger.removeHandler(handler)
            handler.close()
        with suppress(OSError):
            if self._path is not None and self._path.stat().st_size == 0:
                self._path.unlink()  # nothing has happened that is worth a file
        if self._handlers:
            self._logger.setLevel(self._level)
        self._handlers = []

    def __enter__(self) -> Self:
        """The log itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes it."""
        self.close()

    def _add(
        self,
        handler: logging.Handler,
        formatter: logging.Formatter,
        level: int,
        filters: tuple[logging.Filter, ...],
    ) -> None:
        handler.setFormatter(formatter)
        handler.setLevel(level)
        for one in filters:
            handler.addFilter(one)
        self._logger.addHandler(handler)
        self._handlers.append(handler)


class _Kept(logging.Handler):
    """Gives each record's line to whoever keeps it."""

    def __init__(self, keep: Callable[[str], None]) -> None:
        super().__init__()
        self._keep = keep

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._keep(self.format(record))
        except Exception:  # as in every handler of Python's own
            self.handleError(record)


def append(folder: Path, lines: Iterable[str]) -> None:
    """Adds lines of other machines to the log of a run.

    Args:
        folder: The run's folder.
        lines: As they were given to ``keep`` there; they begin with their time.

    Raises:
        HanseError: the file cannot be written.
    """
    text = "".join(f"{line}\n" for line in sorted(lines))
    if not text:
        return
    path = folder / FILE
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise HanseError(
            f"{path} cannot be written: {error.strerror or error}; mend that, then: hanse resume"
            f" {folder}"
        ) from error


def _extras(record: logging.LogRecord) -> list[str]:
    """The names of what users and libraries have added to a record."""
    return [name for name in record.__dict__ if name not in _STANDARD and name not in _ADDED]


def _printed(value: Any) -> str:
    """A value as a text, also if its own way to say so fails: a line in the log costs no turn."""
    try:
        return value if isinstance(value, str) else repr(value)
    except Exception as error:
        return f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"


def _whole(given: Any) -> Any:
    """The exception's details: a record may also carry the exception alone, or just True."""
    if isinstance(given, BaseException):
        return type(given), given, given.__traceback__
    return given if isinstance(given, tuple) else sys.exc_info()
