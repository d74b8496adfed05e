"""Log records say where they come from, and no secrets."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from services.errors import HanseError
from services.telemetry.logs import FILE, Place, Redacting, RunLog, Where
from services.telemetry.redaction import REDACTED

_SECRET = "t0ps3cret/value"
_TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def logger() -> logging.Logger:
    """A logger that nobody else knows, so that no test runner listens to it."""
    return logging.Logger("tests.of.logs", logging.WARNING)


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SOME_TOKEN", _SECRET)
    return _SECRET


def _where() -> Where:
    return Where(
        "coffee-7",
        look=lambda: Place("roaster_A", 3 * 1440 + 570, "exchange#12"),
        trace_of={"exchange#12": _TRACE}.get,
    )


def _logged(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / FILE).read_text("utf-8").split("\n")[:-1]]


# ---- where -------------------------------------------------------------------------------------


def test_a_record_says_run_agent_virtual_time_and_trace(
    tmp_path: Path, logger: logging.Logger
) -> None:
    with RunLog(tmp_path, _where(), stream=None, logger=logger):
        logger.info("no %s left", "beans")
    [record] = _logged(tmp_path)
    assert record.pop("at").endswith("+00:00")
    assert record == {
        "level": "INFO",
        "logger": "tests.of.logs",
        "message": "no beans left",
        "run": "coffee-7",
        "agent": "roaster_A",
        "day": 3,
        "time": "09:30",
        "message_id": "exchange#12",
        "trace_id": _TRACE,
    }


def test_people_read_one_short_line(logger: logging.Logger) -> None:
    out = io.StringIO()
    with RunLog(None, _where(), stream=out, logger=logger):
        logger.info("not for people")
        logger.warning("no beans left")
    assert out.getvalue() == "day 3 09:30 roaster_A: warning: no beans left\n"


def test_outside_of_any_work_only_the_run_is_known(tmp_path: Path, logger: logging.Logger) -> None:
    with RunLog(tmp_path, Where("coffee-7"), stream=None, logger=logger):
        logger.info("starting")
    [record] = _logged(tmp_path)
    assert record.keys() == {"at", "level", "logger", "message", "run"}


def test_whoever_works_may_say_where_it_is(tmp_path: Path, logger: logging.Logger) -> None:
    where = Where("coffee-7")
    with RunLog(tmp_path, where, stream=None, logger=logger):
        where.agent, where.minute = "router", 600
        logger.info("here")
    [record] = _logged(tmp_path)
    assert (record["agent"], record["day"], record["time"]) == ("router", 0, "10:00")


def test_a_record_is_not_lost_when_nobody_can_tell_where_it_was(
    tmp_path: Path, logger: logging.Logger
) -> None:
    def look() -> Place:
        raise RuntimeError("lost")

    with RunLog(tmp_path, Where("coffee-7", look), stream=None, logger=logger):
        logger.info("still here")
    [record] = _logged(tmp_path)
    assert (record["run"], record["message"]) == ("coffee-7", "still here")


def test_what_a_user_adds_to_a_record_is_kept(tmp_path: Path, logger: logging.Logger) -> None:
    with RunLog(tmp_path, _where(), stream=None, logger=logger):
        logger.info("bought", extra={"kilograms": 30, "of": Path("beans"), "_library": 1})
    [record] = _logged(tmp_path)
    assert "_library" not in record
    assert record["kilograms"] == 30
    assert "beans" in record["of"]


def test_an_exception_is_kept_on_its_record(tmp_path: Path, logger: logging.Logger) -> None:
    out = io.StringIO()
    with RunLog(tmp_path, _where(), stream=out, logger=logger):
        try:
            raise ValueError("a bad bean")
        except ValueError:
            logger.exception("turn failed")
    [record] = _logged(tmp_path)
    assert record["exception"].startswith("Traceback")
    assert record["exception"].endswith("ValueError: a bad bean")
    assert "ValueError: a bad bean" in out.getvalue()


def test_every_record_is_one_line_of_utf8(tmp_path: Path, logger: logging.Logger) -> None:
    with RunLog(tmp_path, _where(), stream=None, logger=logger):
        logger.info("two\nlines, half \ud800, ☕")
    [record] = _logged(tmp_path)
    assert record["message"] == "two\nlines, half \\ud800, ☕"


def test_arguments_that_do_not_fit_lose_no_record(tmp_path: Path, logger: logging.Logger) -> None:
    with RunLog(tmp_path, _where(), stream=None, logger=logger):
        logger.info("%d beans", "many")
    [record] = _logged(tmp_path)
    assert record["message"] == "%d beans ('many',)"


# ---- secrets -----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["message", "argument", "mapping", "extra", "exception", "cause"])
def test_no_secret_is_logged(how: str, tmp_path: Path, logger: logging.Logger, token: str) -> None:
    out = io.StringIO()
    with RunLog(tmp_path, _where(), stream=out, stream_level=0, logger=logger):
        if how == "message":
            logger.error(f"token {token}")
        elif how == "argument":
            logger.error("headers %s of %d", {"Authorization": f"Bearer {token}"}, 1)
        elif how == "mapping":
            logger.error("token %(token)s", {"token": token})
        elif how == "extra":
            logger.error("see the extras", extra={"token": token, "all": [token]})
        else:
            try:
                try:
                    raise ValueError(f"refused {token}")
                except ValueError as error:
                    if how == "exception":
                        raise
                    raise RuntimeError("gave up") from error
            except (ValueError, RuntimeError):
                logger.exception("failed", stack_info=True)
    text = (tmp_path / FILE).read_text("utf-8") + out.getvalue()
    assert token not in text
    assert text.count(REDACTED) >= 2


def test_no_secret_is_logged_url_encoded_or_as_an_otlp_header(
    tmp_path: Path, logger: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20t0ps3cret%2Fvalue")
    with RunLog(tmp_path, _where(), stream=None, logger=logger):
        logger.info("sent authorization: Bearer t0ps3cret/value")
        logger.info("GET /?key=t0ps3cret%2Fvalue")
        logger.info("GET /?key=t0ps3cret%2fvalue")
    assert "t0ps3cret" not in (tmp_path / FILE).read_text("utf-8")


def test_handlers_that_come_later_do_not_see_it_either(logger: logging.Logger, token: str) -> None:
    seen: list[logging.LogRecord] = []

    class Later(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(record)

    with RunLog(None, _where(), stream=io.StringIO(), logger=logger):
        logger.addHandler(Later())
        try:
            raise ValueError(token)
        except ValueError:
            logger.exception("key %s", token)
    [record] = seen
    assert token not in repr(vars(record))
    assert record.exc_info is None


def test_the_filter_alone_serves_any_logger(logger: logging.Logger) -> None:
    out = io.StringIO()
    logger.addHandler(logging.StreamHandler(out))
    redacting = Redacting({"API_KEY": "hunter-two"})
    logger.addFilter(redacting)
    logger.warning("it is %s", "hunter-two")
    logger.removeFilter(redacting)
    assert out.getvalue() == f"it is {REDACTED}\n"


# ---- the log itself ----------------------------------------------------------------------------


def test_the_logger_is_left_as_it_was_found(tmp_path: Path, logger: logging.Logger) -> None:
    before = (logger.level, list(logger.handlers), list(logger.filters))
    with RunLog(tmp_path, _where(), logger=logger) as log:
        assert logger.isEnabledFor(logging.INFO)
    log.close()
    assert (logger.level, list(logger.handlers), list(logger.filters)) == before


def test_a_users_own_handler_is_not_sent_more_than_before(
    tmp_path: Path, logger: logging.Logger
) -> None:
    out = io.StringIO()
    logger.addHandler(logging.StreamHandler(out))
    logger.setLevel(logging.WARNING)
    with RunLog(tmp_path, _where(), stream=None, logger=logger):
        logger.info("chatter")
        logger.warning("news")
    assert out.getvalue() == "news\n"


def test_a_resumed_run_goes_on_in_the_same_file(tmp_path: Path, logger: logging.Logger) -> None:
    for word in ("first", "second"):
        with RunLog(tmp_path, _where(), stream=None, logger=logger):
            logger.info(word)
    assert [record["message"] for record in _logged(tmp_path)] == ["first", "second"]


def test_a_folder_that_is_not_there_is_named_in_one_line(
    tmp_path: Path, logger: logging.Logger
) -> None:
    with pytest.raises(HanseError, match=r"nowhere/log.jsonl cannot be written: No such file"):
        RunLog(tmp_path / "nowhere", _where(), logger=logger)
    assert logger.handlers == []


def test_a_value_that_cannot_be_shown_costs_neither_the_record_nor_the_caller(
    tmp_path: Path,
) -> None:
    class Unprintable:
        def __repr__(self) -> str:
            raise RuntimeError("no words")

    logger = logging.getLogger("unprintable")
    with RunLog(tmp_path, Where("r"), stream=None, logger=logger):
        logger.warning("value %s", Unprintable(), extra={"thing": Unprintable()})
    [line] = [json.loads(x) for x in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert line["message"].startswith("value %s") and "cannot be shown" in line["thing"]
