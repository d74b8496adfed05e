// The trade diagram: who delivers to whom, as ribbons as wide as the kilograms or the money.

// nodes: [{name, role}], flows: [{from, to, value, text}] with node indices
function flowDiagram(nodes, flows, width, format, describe) {
  const roles = [...data.roles, "", "consumers"].filter((role) => nodes.some((n) => n.role === role));
  const narrow = width < 560;
  const bar = narrow ? 8 : 12;
  const gap = narrow ? 26 : 30;
  const room = { top: 24, height: narrow ? 330 : 380 };
  const boxes = nodes.map((n, index) => ({ ...n, index, column: roles.indexOf(n.role), out: 0, in: 0, leaving: [], arriving: [] }));
  for (const flow of flows) {
    boxes[flow.from].out += flow.value;
    boxes[flow.to].in += flow.value;
    boxes[flow.from].leaving.push(flow);
    boxes[flow.to].arriving.push(flow);
  }
  const columns = roles.map((_, c) => boxes.filter((b) => b.column === c && (b.out || b.in)));
  const size = (box) => Math.max(box.out, box.in);
  const scale = Math.min(...columns.filter((c) => c.length).map((c) =>
    Math.max(40, room.height - gap * (c.length - 1)) / Math.max(1e-9, c.reduce((s, b) => s + size(b), 0))));
  const lastLabel = narrow ? 0 : 110;
  // What flows back to the first column needs room to swing out on its left.
  const start = flows.some((f) => boxes[f.to].column === 0 && boxes[f.from].column > 0) ? 36 : 0;
  columns.forEach((column, c) => {
    const tall = column.reduce((s, b) => s + size(b) * scale, 0) + gap * (column.length - 1);
    let y = room.top + Math.max(0, (room.height - tall) / 2);
    for (const box of column) {
      box.x = start + (roles.length === 1 ? 0 : (c / (roles.length - 1)) * (width - start - bar - lastLabel));
      box.y = y;
      box.height = Math.max(2, size(box) * scale);
      y += box.height + gap;
    }
  });
  // A ribbon starts and ends in the order of what it joins, so that few of them cross.
  for (const box of boxes) {
    let y = box.y;
    box.leaving.sort((a, b) => boxes[a.to].column - boxes[b.to].column || boxes[a.to].y - boxes[b.to].y)
      .forEach((f) => { f.y0 = y + (f.value * scale) / 2; y += f.value * scale; });
    y = box.y;
    box.arriving.sort((a, b) => boxes[a.from].column - boxes[b.from].column || boxes[a.from].y - boxes[b.from].y)
      .forEach((f) => { f.y1 = y + (f.value * scale) / 2; y += f.value * scale; });
  }
  const height = room.top + room.height + 16;
  const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Who trades with whom" });
  const ribbons = svg("g", { class: "ribbons" });
  root.append(ribbons);
  for (const flow of flows) {
    const [a, b] = [boxes[flow.from], boxes[flow.to]];
    const [x0, x1] = [a.x + bar, b.x];
    // Down the chain a ribbon is an S; within a column it is a bow on the right; against the
    // chain it swings out to both sides.
    const reach = x1 > x0 ? (x1 - x0) / 2 : Math.min(60, width / 8);
    const bow = 18 + Math.min(width / 8, Math.abs(flow.y1 - flow.y0) * 0.4);
    const path = a.column === b.column
      ? `M${x0},${flow.y0}C${x0 + bow},${flow.y0} ${x0 + bow},${flow.y1} ${x0},${flow.y1}`
      : `M${x0},${flow.y0}C${x0 + reach},${flow.y0} ${x1 - reach},${flow.y1} ${x1},${flow.y1}`;
    const text = describe(flow);
    ribbons.append(svg("path", {
      class: "ribbon", d: path,
      "stroke-width": Math.max(1, flow.value * scale), tabindex: flows.length <= 60 ? "0" : null, role: "img",
      "aria-label": text, "data-text": text, style: { stroke: colour(a.name) },
    }));
  }
  for (const box of boxes.filter((b) => b.out || b.in)) {
    const last = box.column === roles.length - 1 && roles.length > 1;
    const side = narrow ? { x: last ? width : box.x, anchor: last ? "end" : "start", y: last ? box.y + box.height + 14 : box.y - 5 }
      : { x: box.x + bar + 6, anchor: "start", y: box.y + box.height / 2 - (box.in && box.out ? 10 : 3) };
    const both = box.out > 0 && box.in > 0;
    const amounts = [box.in ? (both ? "in " : "") + format(box.in) : null, box.out ? (both ? "out " : "") + format(box.out) : null]
      .filter(Boolean);
    root.append(svg("rect", { x: box.x, y: box.y, width: bar, height: box.height, style: { fill: colour(box.name) } },
      svg("title", {}, box.name + ": " + amounts.join(", "))),
      svg("text", { class: "node", x: side.x, y: side.y, "text-anchor": side.anchor }, box.name));
    if (narrow) continue;
    amounts.forEach((text, i) => root.append(
      svg("text", { class: "node amount", x: side.x, y: side.y + 15 * (i + 1) }, text)));
  }
  return root;
}

// Two handles on one track; both are ordinary range inputs, so the keyboard moves them.
function dayRange(label, first, last, onchange) {
  const make = (name, value) => el("input", { type: "range", min: first, max: last, value, step: 1, "aria-label": name });
  const from = make(label + ": from day", first);
  const to = make(label + ": to day", last);
  const shown = el("output", {});
  const track = el("span", { class: "track" }, from, to);
  function update(moved) {
    if (+from.value > +to.value) {
      if (moved === from) to.value = from.value;
      else from.value = to.value;
    }
    shown.textContent = +from.value === +to.value ? "day " + from.value : "days " + from.value + "\u2013" + to.value;
    const share = (v) => last === first ? 0 : ((v - first) / (last - first)) * 100;
    track.style.setProperty("--from", share(+from.value) + "%");
    track.style.setProperty("--to", share(+to.value) + "%");
    onchange(+from.value, +to.value);
  }
  from.addEventListener("input", () => update(from));
  to.addEventListener("input", () => update(to));
  const all = el("button", { type: "button", onclick: () => { from.value = first; to.value = last; update(to); } }, "All days");
  const node = el("fieldset", { class: "range" }, el("legend", {}, label), track, shown, all);
  return { node, update: () => update(to) };
}
