// Who wrote to whom on the day: agents as nodes, edges as wide as there were messages.

// Firms stand around their exchange, exchanges around the middle; whoever is neither stands within.
function nodePlaces(agents, width, height) {
  const known = new Map(data.agents.map((a) => [a.name, a]));
  const names = laneOrder(new Set([...data.agents.map((a) => a.name), ...agents]));
  const hubs = [...new Set(data.agents.map((a) => a.hub).filter(Boolean))];
  const places = new Map();
  const around = (x, y, members, rx, ry, turn = -Math.PI / 2) => members.forEach((name, i) => {
    const angle = turn + (i / members.length) * 2 * Math.PI;
    places.set(name, { x: x + rx * Math.cos(angle), y: y + ry * Math.sin(angle), angle });
  });
  const members = (hub) => names.filter((name) => known.get(name)?.hub === hub);
  const others = names.filter((name) => !known.get(name)?.hub && !hubs.includes(name));
  const [cx, cy] = [width / 2, height / 2];
  if (hubs.length <= 1) {
    hubs.forEach((hub) => places.set(hub, { x: cx, y: cy, hub: true, angle: 0, above: 22 }));
    const ring = [...(hubs.length ? members(hubs[0]) : []), ...others];
    around(cx, cy, ring, Math.max(40, width / 2 - (width < 560 ? 74 : 150)), Math.max(40, height / 2 - 40));
  } else {
    const share = Math.min(0.42, (Math.PI / hubs.length) * 0.82);
    const [rx, ry] = [(width / 2) * (1 - share), (height / 2) * (1 - share)];
    around(cx, cy, hubs, rx, ry);
    hubs.forEach((hub) => {
      const at = places.get(hub);
      at.hub = true;
      const [across, down] = [Math.max(14, rx * share * 0.86), Math.max(14, ry * share * 0.8)];
      at.above = down + 13;
      around(at.x, at.y, members(hub), across, down, at.angle);
    });
    around(cx, cy, others, rx * 0.25, ry * 0.25);
  }
  return places;
}

function edgesOf(day) {
  const edges = new Map();
  for (const m of day.messages) {
    const key = JSON.stringify([m.sender, m.recipient, m.channel]);
    const edge = edges.get(key);
    if (edge) edge.count++;
    else edges.set(key, { key, from: m.sender, to: m.recipient, channel: m.channel, count: 1 });
  }
  return edges;
}

function messageGraph(chooseAgent) {
  let day = null;
  let edges = new Map();
  let before = new Map();
  let changedAt = -Infinity;
  let over = null;
  let chosen = null;
  const hidden = new Set();
  const canvas = el("canvas", { class: "graph", role: "img" });
  const tip = bubble(canvas);
  const legend = el("div", { class: "chips" });
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const table = el("div");
  let places = new Map();

  const shown = (edge) => !hidden.has(edge.channel);
  const touching = (edge, name) => edge.from === name || edge.to === name;

  const redraw = painter(canvas, (brush, width, height) => {
    if (!day) return;
    places = nodePlaces(day.agents, width, height);
    const passed = calm.matches ? 1 : Math.min(1, (performance.now() - changedAt) / 450);
    const count = (key) => (before.get(key)?.count ?? 0) * (1 - passed) + (edges.get(key)?.count ?? 0) * passed;
    const all = [...new Map([...before, ...edges]).values()].filter(shown);
    const most = Math.max(1, ...all.map((edge) => Math.max(before.get(edge.key)?.count ?? 0, edges.get(edge.key)?.count ?? 0)));
    const focus = over || chosen;
    const channels = [...new Set(all.map((edge) => edge.channel))].sort();
    for (const edge of all) {
      const [from, to] = [places.get(edge.from), places.get(edge.to)];
      const n = count(edge.key);
      if (!from || !to || n < 0.05) continue;
      const rank = channels.indexOf(edge.channel) + 1;
      const bend = 0.09 * rank;
      const [dx, dy] = [to.x - from.x, to.y - from.y];
      const [mx, my] = [(from.x + to.x) / 2 - dy * bend, (from.y + to.y) / 2 + dx * bend];
      brush.globalAlpha = focus ? (touching(edge, focus) ? 0.9 : 0.05) : places.size > 60 ? 0.35 : 0.62;
      brush.strokeStyle = brush.fillStyle = channelPaint(edge.channel);
      brush.lineWidth = 0.7 + 6 * Math.sqrt(n / most) * (places.size > 60 ? 0.4 : 1);
      brush.beginPath();
      if (from === to) brush.arc(from.x, from.y - 14, 10, 0, 7);
      else brush.moveTo(from.x, from.y), brush.quadraticCurveTo(mx, my, to.x, to.y);
      brush.stroke();
      if (from !== to && places.size <= 60) arrow(brush, mx, my, to, brush.lineWidth);
    }
    brush.globalAlpha = 1;
    drawNodes(brush, width, focus);
    if (passed < 1) redraw();
  });

  function arrow(brush, x, y, to, wide) {
    const angle = Math.atan2(to.y - y, to.x - x);
    const size = 5 + wide;
    const [tx, ty] = [to.x - Math.cos(angle) * (to.hub ? 15 : 10), to.y - Math.sin(angle) * (to.hub ? 15 : 10)];
    brush.beginPath();
    brush.moveTo(tx, ty);
    brush.lineTo(tx - size * Math.cos(angle - 0.4), ty - size * Math.sin(angle - 0.4));
    brush.lineTo(tx - size * Math.cos(angle + 0.4), ty - size * Math.sin(angle + 0.4));
    brush.fill();
  }

  function drawNodes(brush, width, focus) {
    const near = new Set([focus]);
    const known = new Set(data.agents.filter((a) => a.hub).map((a) => a.name));
    if (focus) for (const edge of edges.values()) if (touching(edge, focus)) near.add(edge.from).add(edge.to);
    brush.textBaseline = "middle";
    for (const [name, at] of places) {
      const dim = (focus && !near.has(name)) || !day.agents.has(name);
      brush.globalAlpha = dim ? 0.25 : 1;
      brush.fillStyle = at.hub || colour(name) === "var(--soft)" ? paint("--soft") : agentPaint(name);
      brush.strokeStyle = paint(name === chosen ? "--ink" : "--paper");
      brush.lineWidth = 2;
      brush.beginPath();
      brush.arc(at.x, at.y, at.hub ? (places.size > 60 ? 7 : 12) : places.size > 60 ? 4 : 7, 0, 7);
      brush.fill();
      brush.stroke();
      if (places.size > 60 && !at.hub && name !== focus && known.has(name)) continue;
      const right = at.hub || Math.cos(at.angle) > -0.2;
      brush.textAlign = at.hub || Math.abs(Math.cos(at.angle)) < 0.2 ? "center" : right ? "left" : "right";
      const [x, y] = brush.textAlign === "center"
        ? [at.x, at.y + (at.hub ? -at.above : Math.sin(at.angle) < 0 ? -18 : 18)] : [at.x + (right ? 13 : -13), at.y];
      brush.lineWidth = 4;
      brush.lineJoin = "round";
      brush.strokeStyle = paint("--paper");
      brush.fillStyle = paint("--ink");
      const label = fitted(brush, visible(name) || LEAGUE, Math.max(48, brush.textAlign === "left" ? width - x - 2 : brush.textAlign === "right" ? x - 2 : 160));
      brush.strokeText(label, x, y);
      brush.fillText(label, x, y);
    }
    brush.textAlign = "left";
    brush.globalAlpha = 1;
  }

  function nodeAt(x, y) {
    let best = null;
    for (const [name, at] of places) {
      const away = Math.hypot(at.x - x, at.y - y);
      if (away < (at.hub ? 18 : 13) && (!best || away < best.away)) best = { name, away };
    }
    return best && best.name;
  }

  function nodeLines(name) {
    let [sent, got] = [0, 0];
    for (const edge of edges.values()) {
      if (edge.from === name) sent += edge.count;
      if (edge.to === name) got += edge.count;
    }
    return [visible(name) || LEAGUE, counted(sent, "message", "messages") + " sent, " + number(got) + " received"];
  }

  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = pointIn(canvas, event);
    const name = day && nodeAt(x, y);
    canvas.style.cursor = name ? "pointer" : "default";
    if (name) tip.show(x, y, nodeLines(name));
    else tip.hide();
    if (over !== name) redraw();
    over = name;
  });
  canvas.addEventListener("pointerleave", () => {
    over = null;
    tip.hide();
    redraw();
  });
  canvas.addEventListener("click", (event) => {
    const name = nodeAt(...pointIn(canvas, event));
    chosen = name === chosen ? null : name;
    redraw();
    fillTable();
  });

  function drawLegend() {
    const counts = new Map();
    for (const edge of edges.values()) counts.set(edge.channel, (counts.get(edge.channel) ?? 0) + edge.count);
    legend.replaceChildren(...[...counts].sort().map(([channel, n]) => el("button", {
      type: "button", class: "chip", "aria-pressed": hidden.has(channel) ? "false" : "true",
      onclick: () => {
        if (!hidden.delete(channel)) hidden.add(channel);
        drawLegend();
        fillTable();
        redraw();
      },
    }, channelName(channel), " ", el("span", { class: "count" }, number(n)))));
  }

  // The same figures for those who do not see the drawing; the busiest pairs first.
  function fillTable() {
    const rows = [...edges.values()].filter((edge) => shown(edge) && (!chosen || touching(edge, chosen))).sort((a, b) => b.count - a.count);
    const most = 12;
    table.replaceChildren(
      el("h3", {}, chosen ? "Traffic of " + (visible(chosen) || LEAGUE) : "Busiest pairs"),
      el("div", { class: "scroller" }, el("table", {}, el("caption", {}, "Messages of the day by pair and channel"),
        el("thead", {}, el("tr", {}, ["From", "To", "Channel"].map((t) => el("th", { scope: "col" }, t)), el("th", { scope: "col", class: "number" }, "Messages"))),
        el("tbody", {}, rows.slice(0, most).map((edge) => el("tr", {},
          el("td", {}, agentLink(edge.from)), el("td", {}, agentLink(edge.to)), el("td", {}, visible(edge.channel)), el("td", { class: "number" }, number(edge.count))))))),
      rows.length > most ? el("p", { class: "note" }, "and " + counted(rows.length - most, "more pair", "more pairs") + ".") : "");
    canvas.setAttribute("aria-label", "Message graph of day " + day.day + ": " + counted(rows.length, "pair", "pairs") + " of agents; the table beneath lists the busiest.");
  }

  function agentLink(name) {
    return el("button", { type: "button", class: "link", onclick: () => chooseAgent(name) }, visible(name) || LEAGUE);
  }

  return {
    node: el("div", { class: "message-graph" }, legend, el("div", { class: "plot" }, canvas, tip.node), table),
    show(shownDay) {
      before = day ? edges : new Map();
      day = shownDay;
      edges = edgesOf(day);
      changedAt = performance.now();
      drawLegend();
      fillTable();
      redraw();
    },
  };
}
