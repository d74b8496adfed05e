"""A real browser for tests: Chromium without a window, looked at once or driven step by step."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pytest

CHROMIUM = next(
    filter(
        None,
        map(
            shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
        ),
    ),
    None,
)
needs_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium"),
]

COMPLAINT = re.compile(r":CONSOLE[:(]|Uncaught|Refused to|Content Security Policy")


def _arguments(profile: Path, *more: str) -> list[str]:
    assert CHROMIUM is not None
    return [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={profile}",
        *more,
    ]


_WITH_PIPES = """
import fcntl, os, sys
ours = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
os.dup2(ours[0], 3)
os.dup2(ours[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Chromium reads its descriptor 3 and writes to 4; this puts the pipes there."""

_ENVIRONMENT = {**os.environ, "LANG": "C.UTF-8"}


@dataclass
class View:
    """A page after its script has run."""

    document: str
    complaints: list[str]

    def text(self) -> str:
        """What is on the page, without markup, script and data."""
        body = re.sub(r"<(script|style)\b.*?</\1>", " ", self.document, flags=re.DOTALL)
        return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())

    def charts(self) -> list[str]:
        """The titles of the charts that have something drawn in them."""
        figures = re.findall(r'<figure class="chart">.*?</figure>', self.document, flags=re.DOTALL)
        return [
            re.search(r"<h3>(.*?)</h3>", figure)[1]  # type: ignore[index]
            for figure in figures
            if re.search(r'<path class="(line|area)"', figure)
        ]


def look_at(page: Path, profile: Path) -> View:
    """Opens a page in a browser of its own and returns what became of it."""
    done = subprocess.run(
        _arguments(
            profile,
            "--window-size=1200,900",
            "--virtual-time-budget=5000",
            "--enable-logging=stderr",
            "--dump-dom",
            page.absolute().as_uri(),
        ),
        capture_output=True,
        text=True,
        timeout=120,
        env=_ENVIRONMENT,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return View(done.stdout, [ln for ln in done.stderr.splitlines() if COMPLAINT.search(ln)])


class Tab:
    """A page that is used step by step: keys, clicks, addresses, screenshots.

    Chromium's protocol is spoken over two pipes, so nothing listens anywhere.
    """

    def __init__(self, to: BinaryIO, answers: BinaryIO) -> None:
        self._to = to
        self._answers = answers
        self._number = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        """Errors and warnings of the page, and what its policy refused."""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        found = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def _call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        call = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            call["sessionId"] = self._session
        self._to.write(json.dumps(call).encode() + b"\0")
        self._to.flush()
        while True:
            said = self._hear()
            if said.get("id") == self._number:
                assert "error" not in said, f"{method}: {said['error']}"
                return said["result"]

    def _hear(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            assert byte, "the browser is gone"
            text += byte
        said: dict[str, Any] = json.loads(text)
        about = said.get("params", {})
        if said.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(about["exceptionDetails"]))
        elif said.get("method") == "Log.entryAdded" and about["entry"]["level"] != "verbose":
            self.complaints.append(about["entry"]["text"] + " " + about["entry"].get("url", ""))
        elif said.get("method") == "Runtime.consoleAPICalled":
            self.complaints.append(json.dumps(about["args"]))
        return said

    def close(self) -> None:
        """Ends the browser, all its processes included."""
        self._session = None
        self._call("Browser.close")

    def size(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Makes the window so wide and high, in CSS pixels, and light or dark."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address: str, ready: str = "document.readyState === 'complete'") -> None:
        """Opens an address in a page that is empty before, and waits until it is ready."""
        self._call("Page.navigate", url="about:blank")
        self._call("Page.navigate", url=address)
        self.wait_for(ready)

    def ask(self, expression: str) -> Any:
        """The value of an expression (a promise's, once it is kept)."""
        found = self._call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait_for(self, expression: str, seconds: float = 30) -> None:
        """Until an expression is true."""
        end = time.monotonic() + seconds
        while not self.ask(f"Boolean({expression})"):
            assert time.monotonic() < end, f"never true: {expression}\n{self.complaints}"
            time.sleep(0.02)

    def press(self, key: str, *, shift: bool = False) -> None:
        """Presses a key as a person would, wherever the focus is."""
        codes = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39}
        codes |= {"ArrowDown": 40, "Tab": 9, "Home": 36, "End": 35, " ": 32}
        event: dict[str, Any] = {"key": key, "modifiers": 8 if shift else 0}
        event["windowsVirtualKeyCode"] = codes.get(key, ord(key[0].upper()))
        event["code"] = key
        down = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        self._call("Input.dispatchKeyEvent", type="keyDown", **event, text=down)
        self._call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text: str) -> None:
        """Types a text where the focus is."""
        self._call("Input.insertText", text=text)

    def click(self, selector: str, x: float = 0.5, y: float = 0.5) -> None:
        """Clicks into an element, at shares of its width and height."""
        box = self.ask(
            f"(() => {{ const n = document.querySelector({json.dumps(selector)});"
            " n.scrollIntoView({block: 'nearest'}); const b = n.getBoundingClientRect();"
            " return [b.left, b.top, b.width, b.height]; })()"
        )
        place = {"x": box[0] + box[2] * x, "y": box[1] + box[3] * y}
        self._call("Input.dispatchMouseEvent", type="mouseMoved", **place)
        pressed = {**place, "button": "left", "buttons": 1, "clickCount": 1}
        self._call("Input.dispatchMouseEvent", type="mousePressed", **pressed)
        self._call("Input.dispatchMouseEvent", type="mouseReleased", **pressed)

    def text(self, selector: str) -> str:
        """What an element says, with single spaces."""
        found = self.ask(f"document.querySelector({json.dumps(selector)}).innerText")
        return " ".join(str(found).split())

    def screenshot(self, target: Path) -> Path:
        """Writes what is to be seen as a PNG."""
        shot = self._call("Page.captureScreenshot", format="png")
        target.write_bytes(base64.b64decode(shot["data"]))
        return target


@contextmanager
def browser(profile: Path) -> Iterator[Tab]:
    """A browser of its own with one tab, ended at the end."""
    here, there = os.pipe(), os.pipe()
    command = _arguments(profile, "--remote-debugging-pipe", "--window-size=1200,900")
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", _WITH_PIPES, str(here[0]), str(there[1]), *command],
        pass_fds=(here[0], there[1]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_ENVIRONMENT,
    )
    os.close(here[0])
    os.close(there[1])
    with os.fdopen(here[1], "wb") as to, os.fdopen(there[0], "rb") as answers:
        try:
            tab = Tab(to, answers)
            yield tab
            tab.close()
            process.wait(30)
        finally:
            process.kill()
            process.wait()
