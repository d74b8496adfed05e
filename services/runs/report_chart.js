// One chart: lines or stacked areas over days, with a legend, a cursor and the numbers as a table.

const charts = [];

function niceStep(span, most) {
  const rough = span / Math.max(1, most);
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  return [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
}

// The round values between two others.
function ticks(low, high, most, whole) {
  let step = niceStep(high - low || 1, most);
  if (whole) step = Math.max(1, Math.ceil(step));
  const list = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    list.push(+(i * step).toPrecision(12));
  }
  return { list, step };
}

// The span of an axis: the values and a little air, and zero where it is near or asked for.
function extent(values, zero) {
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (zero || (low > 0 && low < high * 0.5)) low = Math.min(0, low);
  if (zero || (high < 0 && high > low * 0.5)) high = Math.max(0, high);
  const air = (high - low) * 0.05 || Math.abs(high) * 0.1 || 1;
  return [low === 0 ? 0 : low - air, high === 0 ? 0 : high + air];
}

// spec: {title, note, unit, days, height, zero, stacked, ceiling, lines: [{label, values, paint,
//   width, dash, dots, marks: [{at, text}], off}]}
class Chart {
  constructor(spec) {
    this.spec = spec;
    this.hidden = new Set(spec.lines.filter((l) => l.off).map((l) => l.label));
    this.cursor = null;
    this.heading = el("h3", {}, spec.title);
    this.plot = el("div", { class: "plot" });
    this.tip = el("div", { class: "tip", hidden: true });
    this.spoken = el("p", { class: "unseen", "aria-live": "polite" });
    this.legend = el("div", { class: "legend" });
    this.numbers = el("details", { class: "numbers" }, el("summary", {}, "Numbers"));
    this.numbers.addEventListener("toggle", () => this.fillNumbers());
    this.node = el("figure", { class: "chart" },
      el("figcaption", {}, this.heading, spec.note ? el("p", { class: "note" }, spec.note) : null),
      this.legend, this.plot, this.spoken, this.numbers);
    if (spec.lines.length < 2 || spec.legend === false) this.legend.hidden = true;
    this.drawLegend();
    charts.push(this);
  }

  change(spec) {
    Object.assign(this.spec, spec);
    this.cursor = null;
    this.drawLegend();
    this.draw();
    if (this.numbers.open) this.fillNumbers();
  }

  visible() {
    return this.spec.lines.filter((l) => !this.hidden.has(l.label));
  }

  // A key for each line; faint lines, of which there are many, share one.
  drawLegend() {
    const faint = this.spec.lines.filter((l) => l.faint);
    const keys = this.spec.lines.filter((l) => !l.faint).map((l) => ({ name: l.label, lines: [l], shown: l.label }));
    if (faint.length) keys.push({ name: "single firms", lines: faint, shown: null });
    this.legend.replaceChildren(...keys.map(({ name, lines, shown }) => {
      const line = lines[0];
      const paint = shown === null ? "var(--soft)" : line.paint;
      const key = el("span", { class: "key" + (line.dash ? " dashed" : ""), style: { "--paint": paint } });
      const button = el("button", { type: "button", "aria-pressed": String(!this.hidden.has(line.label)) }, key, name);
      button.addEventListener("click", () => {
        const show = this.hidden.has(line.label);
        lines.forEach((l) => (show ? this.hidden.delete(l.label) : this.hidden.add(l.label)));
        button.setAttribute("aria-pressed", String(show));
        this.draw();
      });
      if (shown !== null) {
        for (const on of ["mouseenter", "focus"]) button.addEventListener(on, () => this.highlight(shown));
        for (const off of ["mouseleave", "blur"]) button.addEventListener(off, () => this.highlight(null));
      }
      return button;
    }));
  }

  highlight(label) {
    this.plot.querySelectorAll("[data-line]").forEach((node) =>
      node.classList.toggle("dim", label !== null && node.dataset.line !== label));
  }

  // Values as drawn: for stacked areas the sum of what lies below as well.
  layers() {
    const below = this.spec.days.map(() => 0);
    return this.visible().map((line) => {
      if (!this.spec.stacked) return { line, tops: line.values, bottoms: null };
      const bottoms = below.slice();
      line.values.forEach((v, i) => { below[i] += v || 0; });
      return { line, tops: below.slice(), bottoms };
    });
  }

  draw() {
    const width = Math.max(260, this.plot.clientWidth || 640);
    this.width = width;
    const { days, unit } = this.spec;
    const format = UNITS[unit];
    const layers = this.layers();
    const all = layers.flatMap((l) => l.tops).filter((v) => v !== null && v !== undefined);
    if (!days.length || !all.length) {
      this.plot.replaceChildren(el("p", { class: "empty" }, "Nothing to draw."));
      return;
    }
    const height = this.spec.height || 260;
    if (this.spec.ceiling) all.push(this.spec.ceiling);
    const [from, to] = extent(all, this.spec.zero || this.spec.stacked);
    const yTicks = ticks(from, to, height / 52, unit === "count");
    const labels = yTicks.list.map((v) => format.axis(v, yTicks.step));
    const left = 10 + 7 * Math.max(...labels.map((t) => t.length));
    const direct = this.spec.labels !== false && width > 620 && layers.length > 1 && layers.length <= 10;
    const right = direct ? 12 + 6.8 * Math.max(...layers.map((l) => l.line.label.length)) : 10;
    const box = { left, right: width - right, top: this.spec.festival === false ? 8 : 18, bottom: height - 24 };
    const first = days[0], last = days[days.length - 1];
    const x = (day) => last === first ? (box.left + box.right) / 2
      : box.left + ((day - first) / (last - first)) * (box.right - box.left);
    const y = (v) => box.bottom - ((v - from) / (to - from)) * (box.bottom - box.top);
    this.scale = { x, y, box, layers };

    const root = svg("svg", {
      width, height, viewBox: "0 0 " + width + " " + height, tabindex: "0", role: "img",
      "aria-label": this.spec.title + ". Arrow keys move through the days; the numbers follow as a table.",
    });
    this.drawFestival(root, x, box);
    yTicks.list.forEach((v, i) => {
      root.append(svg("line", { class: v === 0 ? "axis" : "grid", x1: box.left, x2: box.right, y1: y(v), y2: y(v) }),
        svg("text", { class: "tick", x: box.left - 6, y: y(v) + 4, "text-anchor": "end" }, labels[i]));
    });
    ticks(first, last, Math.max(2, (box.right - box.left) / 80), true).list
      .filter((d) => d >= first && d <= last)
      .forEach((d) => root.append(
        svg("line", { class: "axis", x1: x(d), x2: x(d), y1: box.bottom, y2: box.bottom + 4 }),
        svg("text", { class: "tick", x: x(d), y: box.bottom + 17, "text-anchor": d === first ? "start" : "middle" },
          d === first ? "day " + d : number(d))));
    root.append(svg("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
    for (const layer of layers) this.drawLine(root, layer, x, y);
    if (direct) this.drawLabels(root, layers, y, box);
    this.guide = svg("g", { class: "guide" });
    root.append(this.guide);
    this.listen(root);
    this.plot.replaceChildren(root, this.tip);
    if (this.cursor !== null) this.point(this.cursor);
  }

  drawFestival(root, x, box) {
    const span = data.run.festival_days;
    if (!Array.isArray(span) || span.length !== 2 || this.spec.festival === false) return;
    const [from, to] = [Math.max(span[0], this.spec.days[0]), Math.min(span[1], this.spec.days[this.spec.days.length - 1])];
    if (from >= to) return;
    root.append(svg("rect", { class: "festival", x: x(from), width: x(to) - x(from), y: box.top, height: box.bottom - box.top },
      svg("title", {}, "festival, days " + span[0] + " to " + span[1])));
    if (x(to) - x(from) > 44) root.append(svg("text", { class: "tick", x: x(from), y: box.top - 5 }, "festival"));
  }

  drawLine(root, { line, tops, bottoms }, x, y) {
    const days = this.spec.days;
    const group = svg("g", { "data-line": line.label, style: { "--paint": line.paint } });
    const runs = [];
    let open = null;
    tops.forEach((v, i) => {
      if (v === null || v === undefined) { open = null; return; }
      if (!open) runs.push(open = []);
      open.push(i);
    });
    const point = (i, values) => x(days[i]).toFixed(1) + "," + y(values[i]).toFixed(1);
    for (const run of runs) {
      const path = "M" + run.map((i) => point(i, tops)).join("L");
      if (bottoms) {
        const back = run.slice().reverse().map((i) => point(i, bottoms)).join("L");
        group.append(svg("path", { class: "area", d: path + "L" + back + "Z" }));
      } else if (run.length > 1) {
        group.append(svg("path", {
          class: "line", d: path, "stroke-width": line.width || 2, "stroke-dasharray": line.dash || null,
          style: line.faint ? { opacity: "0.45" } : {},
        }));
      }
      if (line.dots || run.length === 1) {
        const r = x(days[days.length - 1]) - x(days[0]) > 4 * days.length ? 2.2 : 1.2;
        run.forEach((i) => group.append(svg("circle", { class: "dot", cx: x(days[i]), cy: y(tops[i]), r })));
      }
    }
    for (const mark of line.marks || []) {
      const at = days.findIndex((d) => d >= mark.day);
      if (at < 0 || tops[at] === null) continue;
      const [cx, cy] = [x(days[at]), y(tops[at])];
      group.append(svg("path", { class: "mark", d: `M${cx - 5},${cy - 5}l10,10m0,-10l-10,10` }, svg("title", {}, mark.text)));
    }
    root.append(group);
  }

  // Names at the line ends, pushed apart where lines end close together.
  drawLabels(root, layers, y, box) {
    const ends = layers.map(({ line, tops, bottoms }) => {
      let i = tops.length - 1;
      while (i > 0 && (tops[i] === null || tops[i] === undefined)) i--;
      const value = bottoms ? (tops[i] + bottoms[i]) / 2 : tops[i];
      return { line, at: y(value || 0), want: y(value || 0) };
    }).sort((a, b) => a.at - b.at);
    const gap = 14;
    ends.forEach((end, i) => { if (i) end.at = Math.max(end.at, ends[i - 1].at + gap); });
    let floor = box.bottom + 4;
    for (let i = ends.length - 1; i >= 0; i--) { ends[i].at = Math.min(ends[i].at, floor); floor = ends[i].at - gap; }
    for (const end of ends) {
      root.append(svg("g", { "data-line": end.line.label, style: { "--paint": end.line.paint } },
        svg("line", { class: "leader", x1: box.right + 1, x2: box.right + 8, y1: end.want, y2: end.at }),
        svg("text", { class: "direct", x: box.right + 10, y: end.at + 4 }, end.line.label)));
    }
  }

  listen(root) {
    const days = this.spec.days;
    const { x } = this.scale;
    root.addEventListener("pointermove", (event) => {
      const at = event.clientX - root.getBoundingClientRect().left;
      let best = 0;
      days.forEach((d, i) => { if (Math.abs(x(d) - at) < Math.abs(x(days[best]) - at)) best = i; });
      this.point(best, event.clientY - root.getBoundingClientRect().top);
    });
    root.addEventListener("pointerleave", () => this.point(null));
    root.addEventListener("blur", () => this.point(null));
    root.addEventListener("keydown", (event) => {
      const last = days.length - 1;
      const now = this.cursor;
      const next = {
        ArrowRight: now === null ? 0 : Math.min(last, now + 1),
        ArrowLeft: now === null ? last : Math.max(0, now - 1),
        PageDown: Math.min(last, (now || 0) + 7), PageUp: Math.max(0, (now || 0) - 7),
        Home: 0, End: last, Escape: null,
      };
      if (!(event.key in next)) return;
      event.preventDefault();
      this.point(next[event.key]);
      if (this.cursor !== null) this.spoken.textContent = this.tip.innerText.replace(/\n+/g, "; ");
    });
  }

  point(index, pointerY) {
    this.cursor = index;
    this.guide.replaceChildren();
    this.tip.hidden = index === null;
    if (index === null) return;
    const { x, y, box, layers } = this.scale;
    const at = x(this.spec.days[index]);
    this.guide.append(svg("line", { x1: at, x2: at, y1: box.top, y2: box.bottom }));
    let rows = layers.map(({ line, tops }) => ({ line, value: line.values[index], top: tops[index] }))
      .filter((r) => r.value !== null && r.value !== undefined);
    rows.forEach((r) => this.guide.append(svg("circle", { cx: at, cy: y(r.top), r: 3.5, style: { fill: r.line.paint } })));
    const most = 12;
    const cut = rows.length > most;
    if (cut) {
      const near = pointerY === undefined ? box.top : pointerY;
      rows = rows.sort((a, b) => Math.abs(y(a.top) - near) - Math.abs(y(b.top) - near)).slice(0, most);
    }
    if (this.spec.stacked) rows.reverse();
    else rows.sort((a, b) => b.value - a.value);
    const format = UNITS[this.spec.unit];
    const total = this.spec.stacked && rows.length > 1
      ? el("tr", { class: "sum" }, el("td", {}), el("td", {}, "together"), el("td", {}, format.full(rows.reduce((s, r) => s + r.value, 0))))
      : null;
    this.tip.replaceChildren(
      el("strong", {}, "day " + this.spec.days[index] + (cut ? ", nearest " + most : "")),
      el("table", {}, el("tbody", {}, rows.map((r) => el("tr", {},
        el("td", {}, swatch(r.line.paint)), el("td", {}, r.line.label),
        el("td", { class: r.value < 0 ? "negative" : null }, format.full(r.value)))), total)));
    const wide = this.tip.offsetWidth;
    const beside = at + 14 + wide > this.width ? at - 14 - wide : at + 14;
    this.tip.style.left = Math.max(0, beside) + "px";
  }

  fillNumbers() {
    if (!this.numbers.open) return;
    const format = UNITS[this.spec.unit];
    const rows = this.spec.days.map((day, i) => el("tr", {}, el("th", { scope: "row" }, day),
      this.spec.lines.map((l) => el("td", { class: "number" + (l.values[i] < 0 ? " negative" : "") },
        l.values[i] === null || l.values[i] === undefined ? NOTHING : format.full(l.values[i])))));
    const table = el("table", {}, el("caption", {}, this.spec.title), el("thead", {}, el("tr", {},
      el("th", { scope: "col" }, "day"), this.spec.lines.map((l) => el("th", { scope: "col", class: "number" }, l.label)))),
      el("tbody", {}, rows));
    this.numbers.replaceChildren(this.numbers.firstChild, scroller(table, true));
  }
}

function chart(spec) {
  return new Chart(spec);
}

// Charts are drawn for the width they have, so that type keeps its size on a phone.
function drawCharts() {
  charts.forEach((c) => c.draw());
  let frame = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => charts.forEach((c) => {
      if (c.plot.clientWidth && c.plot.clientWidth !== c.width) c.draw();
    }));
  });
}
