"""How smooth the page is with a large run: ``python -m tests.services.telemetry.view.bench [RUN]``.

Without RUN it plays 200 firms in ten towns for 45 days first, about 200,000 messages, each of which
is sent, received and processed: some 600,000 spans.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from actors.league import League
from services.config import GenerateConfig, RunConfig
from services.runs import Run
from services.telemetry.view import TraceServer, write_page
from tests.browser import Tab, browser

FRAMES = """new Promise((done) => {
  const canvas = document.querySelector('.stage canvas');
  const box = canvas.getBoundingClientRect();
  const gaps = [];
  let last = performance.now();
  let n = 0;
  const step = () => {
    const now = performance.now();
    gaps.push(now - last);
    last = now;
    if (n++ >= 60) { done(gaps.slice(1).sort((a, b) => a - b)); return; }
    canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: n % 30 < 15 ? -40 : 40, ctrlKey: true,
      clientX: box.left + 400, clientY: box.top + 200, cancelable: true }));
    document.querySelector('.stage').scrollTop = n * 40;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""
"""The gaps between frames, sorted, while somebody zooms and scrolls."""


def switch(tab: Tab, day: int) -> float:
    """Milliseconds from the move of the slider to the drawn day."""
    return float(
        tab.ask(
            f"""(async () => {{
  const slider = document.querySelector('.days input');
  const start = performance.now();
  slider.value = {day};
  slider.dispatchEvent(new Event('input'));
  while (document.documentElement.dataset.day !== '{day}')
    await new Promise((r) => setTimeout(r, 2));
  await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
  return performance.now() - start;
}})()"""
        )
    )


def search(tab: Tab, text: str) -> tuple[float, float]:
    """Milliseconds from the last key to the first rows, and to the end."""
    first, end = tab.ask(
        f"""(async () => {{
  const box = document.querySelector('.finder input');
  box.value = '{text}';
  const start = performance.now();
  let first = null;
  box.dispatchEvent(new Event('input'));
  const note = () => document.querySelector('.log .note').textContent;
  while (document.documentElement.dataset.searched !== '{text}') {{
    if (first === null && !document.querySelector('progress').hidden && note().includes('so far')
      && document.querySelector('.row')) first = performance.now() - start;
    await new Promise((r) => setTimeout(r, 2));
  }}
  const end = performance.now() - start;
  return [first ?? end, end];
}})()"""
    )
    return float(first), float(end)


def look(tab: Tab, name: str, address: str, days: int) -> None:
    """Prints what a reader waits for."""
    start = time.perf_counter()
    tab.open(address, "document.documentElement?.dataset.ready")
    ready = time.perf_counter() - start
    paint = tab.ask("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
    switches = sorted(switch(tab, day) for day in range(1, days, max(1, days // 20)))
    again = switch(tab, 1 + (days - 2) // max(1, days // 20) * max(1, days // 20))
    gaps = tab.ask(FRAMES)
    tab.ask("document.getElementById('tab-graph').click()")
    graph = sorted(switch(tab, day) for day in range(0, days, max(1, days // 10)))
    found = {text: search(tab, text) for text in ("offer", "farmer_1#200", "e")}
    memory = tab.ask("performance.memory.usedJSHeapSize / 1e6")
    nodes = tab.ask("document.querySelectorAll('*').length")
    print(f"{name}:")
    print(f"  first paint {paint:.0f} ms, first day drawn {1e3 * ready:.0f} ms")
    print(f"  day switch {median(switches):.0f} ms (longest {switches[-1]:.0f}), again {again:.0f}")
    print(f"  day switch in the graph {median(graph):.0f} ms (longest {graph[-1]:.0f})")
    print(f"  frames while zooming {median(gaps):.0f} ms (longest {gaps[-1]:.0f})")
    for text, (first, end) in found.items():
        print(f"  search {text!r}: first rows {first:.0f} ms, all days {end:.0f} ms")
    print(f"  {nodes:,} elements, {memory:.0f} MB of script memory after it all")
    print(f"  complaints: {tab.complaints or 'none'}")


def main() -> None:
    """Measures and prints."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(place) / "run"
        if not folder.exists():
            generate = GenerateConfig(firms=200, towns=10)
            config = RunConfig(days=45, placement="inline", generate=generate)
            with League.create(config, folder) as league:
                league.run()
        run = Run(folder)
        days = (run.day or 0) + 1
        messages, events = run.count("messages"), run.count("events")
        print(f"{messages:,} messages, {events:,} events, {days} days")
        start = time.perf_counter()
        page = write_page(run, Path(place) / "trace.html")
        took, size = time.perf_counter() - start, page.stat().st_size / 1e6
        print(f"one file: {size:.1f} MB, written in {took:.1f} s")
        with browser(Path(place) / "profile") as tab:
            tab.size(1200)
            look(tab, "from the disk", page.as_uri(), days)
            with TraceServer(run) as server:
                look(tab, "from the server", server.address, days)


if __name__ == "__main__":
    main()
