// The signals over time: panes with one axis, of the hours that had traffic, nights left out.

const PANE = { gap: 34, left: 58, right: 16 };
const AXIS = 34; // for the days, and what they are

function panes() {
  const limits = data.thresholds;
  const names = [...new Set(data.points.flatMap((p) => Object.keys(p.figures)))].sort();
  const lines = (fits, title, unit) => {
    const those = names.filter(fits);
    if (!those.length) return null;
    return {
      title, unit, height: 120,
      lines: those.map((name, i) => ({
        name, values: data.points.map((p) => p.figures[name] ?? null),
        paint: "var(--series-" + (i % 8 + 1) + ")", main: name in limits || those.length === 1,
        limit: limits[name] ?? null,
      })),
    };
  };
  const scored = data.points.some((p) => p.score !== null);
  return [
    scored ? {
      title: "Score", unit: "times the threshold", height: 130,
      lines: [{ name: "score", values: data.points.map((p) => p.score), paint: "var(--accent)", main: true, limit: 1 }],
    } : null,
    lines((n) => !/\.[sS]$/.test(n) && n in limits, "What raises the alarm", "log likelihood ratio"),
    lines((n) => n.endsWith(".s"), "This tick alone (s)", "standard deviations"),
    lines((n) => n.endsWith(".S"), "Adding up (S)", "standard deviations"),
    { title: "Events", unit: "in a tick", height: 54, bars: data.points.map((p) => p.events) },
    data.wrong.length ? { title: "Believing something wrong", unit: "firms", height: 54, bars: data.points.map((p) => wrongAt(p.tick)) } : null,
  ].filter(Boolean);
}

// How many firms believe something wrong at the end of a tick.
function wrongAt(tick) {
  const end = (tick + 1) * data.tick_minutes;
  let count = 0;
  for (const [minute, firms] of data.wrong) {
    if (minute >= end) break;
    count = firms;
  }
  return count;
}

function placeOf(tick) {
  const at = data.points.findIndex((p) => p.tick >= tick);
  return at < 0 ? data.points.length - 1 : at;
}

class Signals {
  constructor() {
    this.plot = el("div", { class: "plot" });
    this.tip = el("div", { class: "tip", hidden: true });
    this.spoken = el("p", { class: "unseen", "aria-live": "polite" });
    this.panes = panes();
    this.cursor = null;
    this.node = el("figure", { class: "chart" }, this.keys(), this.plot, this.spoken, signalTerms(), this.numbers());
  }

  // A line for each pane of several lines, whose colours begin anew in each; then the marks.
  keys() {
    const key = (paint, text, dashed) => el("span", {}, el("span", { class: "key" + (dashed ? " dashed" : ""), style: { "--paint": paint } }), text);
    const area = (kind, text) => el("span", {}, el("span", { class: "area " + kind }), text);
    const several = this.panes.filter((p) => p.lines && p.lines.length > 1);
    return el("div", {},
      several.map((p) => el("p", { class: "keys" }, el("span", { class: "of" }, p.title), p.lines.map((l) => key(l.paint, l.name)))),
      el("p", { class: "keys" }, el("span", { class: "of" }, "Marks"),
        data.calibration ? key("var(--bad)", "threshold (of several: in its line's colour)", true) : null,
        data.truths.length ? key("var(--good)", "what was done") : null,
        data.alerts.length ? [key("var(--accent)", "onset, as estimated", true), key("var(--bad)", "alert")] : null,
        data.points.some((p) => p.flags.includes("warm_up")) ? area("warm", "warm-up: no alarm yet") : null,
        data.points.some((p) => p.alarm) ? area("alarmed", "a cascade is going on") : null,
        data.measures.length ? key("var(--bridge)", "measure in force") : null));
  }

  draw() {
    const width = Math.max(300, this.plot.clientWidth || 900);
    this.width = width;
    const count = data.points.length;
    if (!count) {
      this.plot.replaceChildren(el("p", { class: "empty" }, "Nothing to draw."));
      return;
    }
    const [from, to] = [PANE.left, width - PANE.right];
    const x = (i) => count === 1 ? (from + to) / 2 : from + (i / (count - 1)) * (to - from);
    const lanes = this.lanes();
    let top = 58;
    for (const pane of this.panes) {
      pane.top = top;
      top += pane.height + PANE.gap;
    }
    const bottom = top - PANE.gap;
    const laneTop = bottom + AXIS + 12;
    const height = laneTop + (lanes.length ? lanes.length * 15 + 12 : 0);
    const root = svg("svg", {
      width, height, viewBox: "0 0 " + width + " " + height, tabindex: "0", role: "img",
      "aria-label": "The monitor's signals over time. Arrow keys move through the ticks; the numbers follow as a table.",
    });
    this.scale = { x, top: 40, bottom };
    this.bands(root, x, bottom);
    this.days(root, x, bottom);
    root.append(svg("text", { class: "tick", x: (from + to) / 2, y: bottom + AXIS - 2, "text-anchor": "middle" }, width > 560 ? "day of the run; ticks in which nobody talks are left out" : "day of the run"));
    this.panes.forEach((pane) => this.pane(root, pane, x, from, to));
    this.markers(root, x, bottom, to);
    this.panes.forEach((pane) => this.heading(root, pane, from));
    lanes.forEach((lane, i) => this.lane(root, lane, laneTop + i * 15, x, from));
    this.guide = svg("g", { class: "guide" });
    root.append(this.guide);
    this.listen(root, x, count);
    this.plot.replaceChildren(root, this.tip);
    if (this.cursor !== null) this.point(this.cursor);
  }

  // Spans of ticks with something in common, shaded from top to bottom.
  bands(root, x, bottom) {
    const band = (kind, has, text) => {
      let open = null;
      for (let i = 0; i <= data.points.length; i++) {
        const on = i < data.points.length && has(data.points[i]);
        if (on && open === null) open = i;
        if (!on && open !== null) {
          const left = x(open), right = x(Math.max(open, i - 1));
          root.append(svg("rect", { class: kind, x: left, y: 40, width: Math.max(2, right - left), height: bottom - 40 },
            svg("title", {}, text)));
          if (kind === "warm" && right - left > 150) root.append(svg("text", { class: "tick", x: left + 8, y: this.panes[0].top + this.panes[0].height * 0.8 }, text));
          open = null;
        }
      }
    };
    band("warm", (p) => p.flags.includes("warm_up"), "warm-up: no alarm yet");
    band("alarmed", (p) => p.alarm, "alarm");
  }

  days(root, x, bottom) {
    const per = 1440 / data.tick_minutes;
    let last = null, free = -1;
    data.points.forEach((p, i) => {
      const day = Math.floor(p.tick / per);
      if (day === last) return;
      root.append(svg("line", { class: "grid", x1: x(i), x2: x(i), y1: 40, y2: bottom }));
      if (x(i) > free) {
        const text = last === null ? "day " + day : String(day);
        root.append(svg("text", { class: "tick", x: x(i), y: bottom + 16, "text-anchor": last === null ? "start" : "middle" }, text));
        free = x(i) + 34;
      }
      last = day;
    });
  }

  pane(root, pane, x, from, to) {
    const { top, height } = pane;
    const bottom = top + height;
    // The lines that can raise an alarm decide on the scale; others may leave it.
    const leading = (pane.lines || []).filter((l) => l.main);
    const values = pane.bars || (leading.length ? leading : pane.lines).flatMap((l) => l.values.filter((v) => v !== null));
    const limits = (pane.lines || []).map((l) => l.limit).filter((v) => v !== null);
    const high = Math.max(1e-9, ...values, ...limits) * 1.06;
    const low = Math.min(0, ...values);
    const y = (v) => bottom - ((v - low) / (high - low || 1)) * height;
    pane.y = (v) => y(Math.min(high, Math.max(low, v)));
    for (const v of round(low, high, height / 30)) {
      root.append(svg("line", { class: v === 0 ? "axis" : "grid", x1: from, x2: to, y1: y(v), y2: y(v) }),
        svg("text", { class: "tick", x: from - 7, y: y(v) + 4, "text-anchor": "end" }, number(v, Number.isInteger(v) ? 0 : 1)));
    }
    if (pane.bars) {
      const wide = Math.max(1, (to - from) / data.points.length * 0.7);
      pane.bars.forEach((v, i) => root.append(svg("rect", { class: "bar-events", x: x(i) - wide / 2, y: y(v), width: wide, height: Math.max(0, y(0) - y(v)) })));
      return;
    }
    for (const line of pane.lines) {
      let path = "", open = false;
      line.values.forEach((v, i) => {
        if (v === null) { open = false; return; }
        path += (open ? "L" : "M") + x(i).toFixed(1) + "," + pane.y(v).toFixed(1);
        open = true;
      });
      root.append(svg("path", { class: "line" + (line.main ? "" : " faint"), d: path, "stroke-width": line.main ? 2 : 1.3, style: { "--paint": line.paint } }));
      if (line.limit !== null) root.append(svg("line", {
        class: "threshold", x1: from, x2: to, y1: y(line.limit), y2: y(line.limit), style: pane.lines.length > 1 ? { stroke: line.paint } : {},
      }, svg("title", {}, "threshold of " + line.name + ": " + figure(line.limit))));
    }
  }

  // Over all marks, so that they can be read.
  heading(root, pane, from) {
    root.append(svg("text", { class: "pane-title", x: from, y: pane.top - 8 }, pane.title,
      svg("tspan", { class: "tick", dx: 8, style: { fill: "var(--soft)", "font-weight": "400" } }, pane.unit)));
  }

  // What happened when: names above the panes, pushed into a second line where they would touch.
  markers(root, x, bottom, to) {
    const marks = [
      ...data.truths.map((t) => ({ at: placeOf(Math.floor(t.onset / data.tick_minutes)), kind: "true", text: words(t.kind) })),
      ...data.alerts.map((a) => ({ at: placeOf(a.report.onset), kind: "guess", text: "onset" })),
      ...data.alerts.map((a) => ({ at: placeOf(a.report.alert_tick), kind: "alert", text: a.report.id })),
    ].sort((a, b) => a.at - b.at);
    const ends = [-1, -1, -1];
    for (const mark of marks) {
      const wide = 7.2 * mark.text.length + 8;
      const left = x(mark.at) + wide > to;
      const start = left ? x(mark.at) - wide : x(mark.at);
      let row = ends.findIndex((end) => start > end);
      if (row < 0) row = 2;
      ends[row] = start + wide;
      const y = 36 - row * 13;
      root.append(svg("g", { class: "marker " + mark.kind },
        svg("line", { x1: x(mark.at), x2: x(mark.at), y1: y - 8, y2: bottom }),
        svg("text", { x: x(mark.at) + (left ? -4 : 4), y, "text-anchor": left ? "end" : "start" }, mark.text)));
    }
  }

  lanes() {
    const byAgent = new Map();
    for (const m of data.measures) byAgent.set(m.agent, [...(byAgent.get(m.agent) || []), m]);
    return [...byAgent].slice(0, 12).map(([agent, taken]) => ({ agent, taken }));
  }

  lane(root, lane, y, x, from) {
    for (const m of lane.taken) {
      const left = x(placeOf(Math.floor(m.begin / data.tick_minutes)));
      const right = Math.max(left + 3, x(placeOf(Math.floor(m.end / data.tick_minutes))));
      root.append(svg("rect", { class: "measure", x: left, y, width: right - left, height: 9 }, svg("title", {}, words(m.kind) + " of " + lane.agent + ", " + clock(m.begin) + " to " + clock(m.end))),
        left - from > 110
          ? svg("text", { class: "tick", x: left - 6, y: y + 9, "text-anchor": "end" }, words(m.kind) + " of " + lane.agent)
          : svg("text", { class: "tick", x: right + 6, y: y + 9 }, words(m.kind) + " of " + lane.agent));
    }
  }

  listen(root, x, count) {
    root.addEventListener("pointermove", (event) => {
      const at = event.clientX - root.getBoundingClientRect().left;
      const share = (at - x(0)) / Math.max(1, x(count - 1) - x(0));
      this.point(Math.min(count - 1, Math.max(0, Math.round(share * (count - 1)))));
    });
    root.addEventListener("pointerleave", () => this.point(null));
    root.addEventListener("blur", () => this.point(null));
    root.addEventListener("keydown", (event) => {
      const now = this.cursor;
      const next = {
        ArrowRight: now === null ? 0 : Math.min(count - 1, now + 1), ArrowLeft: now === null ? count - 1 : Math.max(0, now - 1),
        Home: 0, End: count - 1, Escape: null,
      };
      if (!(event.key in next)) return;
      event.preventDefault();
      this.point(next[event.key]);
      if (this.cursor !== null) this.spoken.textContent = this.tip.innerText.replace(/\n+/g, "; ");
    });
  }

  point(index) {
    this.cursor = index;
    this.guide.replaceChildren();
    this.tip.hidden = index === null;
    if (index === null) return;
    const { x, top, bottom } = this.scale;
    const p = data.points[index];
    this.guide.append(svg("line", { x1: x(index), x2: x(index), y1: top, y2: bottom }));
    for (const pane of this.panes) {
      for (const line of pane.lines || []) {
        const v = line.values[index];
        if (v !== null) this.guide.append(svg("circle", { cx: x(index), cy: pane.y(v), r: 3.5, style: { fill: line.paint } }));
      }
    }
    const rows = [["score", p.score], ...Object.entries(p.figures), ["events", p.events],
      ...(data.wrong.length ? [["believing something wrong", wrongAt(p.tick)]] : [])]
      .filter(([, v]) => v !== null && v !== undefined);
    this.tip.replaceChildren(el("strong", {}, tickTime(p.tick)),
      el("table", {}, el("tbody", {}, rows.map(([name, v]) => el("tr", {}, el("td", {}, name), el("td", {}, name === "events" || name.startsWith("believing") ? number(v) : figure(v)))))),
      p.flags.length ? el("div", {}, p.flags.map(words).join(", ")) : null);
    [...this.tip.childNodes].forEach((n) => { if (n.textContent === "null") n.remove(); });
    const wide = this.tip.offsetWidth;
    this.tip.style.left = Math.max(0, x(index) + 14 + wide > this.width ? x(index) - 14 - wide : x(index) + 14) + "px";
  }

  numbers() {
    const box = el("details", { class: "numbers" }, el("summary", {}, "Numbers"));
    box.addEventListener("toggle", () => {
      if (!box.open || box.childNodes.length > 1) return;
      const names = [...new Set(data.points.flatMap((p) => Object.keys(p.figures)))].sort();
      const head = ["tick", "events", "score", ...names, "flags"];
      box.append(scrolled(el("table", {}, el("caption", {}, "Signals"),
        el("thead", {}, el("tr", {}, head.map((n) => el("th", { scope: "col", class: n === "tick" || n === "flags" ? null : "number" }, n)))),
        el("tbody", {}, data.points.map((p) => el("tr", {}, el("th", { scope: "row" }, tickTime(p.tick)),
          [number(p.events), figure(p.score), ...names.map((n) => figure(p.figures[n]))].map((v) => el("td", { class: "number" }, v)),
          el("td", {}, p.flags.map(words).join(", ")))))), true));
    });
    return box;
  }
}

// A few round values between two others.
function round(low, high, most) {
  const rough = (high - low || 1) / Math.max(1, most);
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const list = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) list.push(+(i * step).toPrecision(12));
  return list;
}

function scrolled(table, tall) {
  const caption = table.querySelector("caption");
  return el("div", { class: "scroller" + (tall ? " tall" : ""), tabindex: "0", role: "region", "aria-label": caption ? caption.textContent : "table" }, table);
}
