// The message graph: towns as circles, agents on them, and where the cascade seems to have gone.

const WIDE_WEB = { width: 1120, height: 700 };
const NARROW = 560; // pixels below which few towns stand one below the other
const COLUMN = { width: 620, step: 410, radius: 150 };
const NAMED = 60; // agents up to which all are named; of more, those that matter

// Where each agent stands: groups on an ellipse, their members on a circle each; on a narrow page
// the groups stand in a column, so that names can be read.
function layout(narrow) {
  const WEB = WIDE_WEB;
  const groups = new Map();
  for (const node of data.nodes) groups.set(node.group, [...(groups.get(node.group) || []), node]);
  const names = [...groups.keys()];
  const total = data.nodes.length || 1;
  const places = new Map();
  const circles = [];
  const column = narrow && names.length <= 4 && total <= NAMED;
  names.forEach((name, g) => {
    const members = groups.get(name);
    const alone = names.length === 1;
    if (column) {
      put(members, COLUMN.width / 2, (g + 0.5) * COLUMN.step, COLUMN.radius, name);
      return;
    }
    const angle = (g / names.length) * 2 * Math.PI - Math.PI / 2;
    const reach = alone ? 0 : 1;
    const bare = total > NAMED;
    const cx = WEB.width / 2 + reach * Math.cos(angle) * WEB.width * (bare ? 0.36 : 0.31);
    const cy = WEB.height / 2 + 8 + reach * Math.sin(angle) * WEB.height * (bare ? 0.38 : 0.27);
    const most = alone ? 270 : bare ? 0.8 * WEB.height * 0.4 * Math.sin(Math.PI / names.length) + 14 : 155;
    const r = Math.max(22, Math.min(most, 26 + 620 * Math.sqrt(members.length / total) / Math.max(2, names.length)));
    put(members, cx, cy, r, name);
  });
  function put(members, cx, cy, r, name) {
    members.forEach((node, i) => {
      const turn = (i / members.length) * 2 * Math.PI - Math.PI / 2;
      places.set(node.name, { x: cx + r * Math.cos(turn), y: cy + r * Math.sin(turn), turn, node });
    });
    circles.push({ name, cx, cy, r });
  }
  const [high, low] = [Math.min(...circles.map((c) => c.cy - c.r)) - 46, Math.max(...circles.map((c) => c.cy + c.r)) + 46];
  return { places, circles, column, view: [0, high, column ? COLUMN.width : WEB.width, low - high].join(" ") };
}

function isService(node) {
  return ["board", "forecaster"].includes(node.kind);
}

class Web {
  constructor() {
    this.alert = data.alerts.length ? data.alerts[0] : null;
    this.box = el("div", {});
    this.says = el("p", { class: "spell", role: "status" }, "Point at an agent, or move to it with the Tab key, to see its edges alone.");
    const controls = data.alerts.length > 1
      ? el("div", { class: "controls" }, select("Alert", data.alerts.map((a) => [a.report.id, a.report.id + ", " + tickEnd(a.report.alert_tick)]), (id) => {
        this.alert = alertOf(id);
        this.draw();
      }).node)
      : null;
    this.table = el("div", {});
    this.node = el("figure", { class: "chart" }, controls, this.keys(), this.box, this.says, graphTerms(), this.table);
  }

  isNarrow() {
    return this.box.clientWidth > 0 && this.box.clientWidth < NARROW;
  }

  keys() {
    if (!this.alert) {
      return el("p", { class: "keys" }, el("span", {}, el("span", { class: "stroke thin" }), "can reach"),
        data.nodes.some(isService) ? el("span", {}, el("span", { class: "mark dot service" }), "board or forecaster") : null);
    }
    const mark = (role) => el("span", {}, el("span", { class: "mark " + role, "aria-hidden": "true" }, LETTERS[role]), "suspected " + role);
    return el("p", { class: "keys" }, ROLES.map(mark),
      data.truths.some((t) => t.attack) ? el("span", {}, el("span", { class: "mark ring" }), "who really was it") : null,
      el("span", {}, el("span", { class: "stroke" }), "edge with an excess, the wider the more"),
      el("span", {}, el("span", { class: "stroke spine" }), "spine: a likely path"),
      el("span", {}, el("span", { class: "stroke thin" }), "can reach"),
      el("span", {}, el("span", { class: "mark dot touched" }), "touched"),
      data.nodes.some(isService) ? el("span", {}, el("span", { class: "mark dot service" }), "board or forecaster") : null);
  }

  draw() {
    this.narrow = this.isNarrow();
    const { places, circles, column, view } = layout(this.narrow);
    this.column = column;
    const root = svg("svg", { class: column ? "web column" : "web", viewBox: view, role: "group", "aria-label": "The message graph" });
    root.append(svg("defs", {}, svg("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" },
      svg("path", { d: "M0,0L8,4L0,8Z", style: { fill: "var(--spread)" } }))));
    for (const c of circles) {
      root.append(svg("circle", { class: "group", cx: c.cx, cy: c.cy, r: c.r }));
      if (c.name) root.append(svg("text", { class: "group-name", x: c.cx, y: c.cy + 4, "text-anchor": "middle" }, c.name));
    }
    const infected = this.alert ? this.alert.infected : [];
    const most = Math.max(1e-9, ...infected.map((e) => e.weight));
    for (const edge of data.edges) this.way(root, places, edge, "way", null);
    for (const edge of infected.slice(0, 300).reverse()) {
      const part = edge.weight / most;
      this.way(root, places, edge, "spread", {
        "stroke-width": (0.8 + 4.7 * part * part).toFixed(2), "marker-end": "url(#tip)", style: { opacity: (0.25 + 0.6 * part).toFixed(2) },
      });
    }
    for (const spine of this.alert ? this.alert.report.spines : []) {
      for (let i = 0; i + 1 < spine.path.length; i++) {
        this.way(root, places, { source: spine.path[i], target: spine.path[i + 1], channel: spine.channel }, "spine", {});
      }
    }
    const touched = new Set(infected.filter((e) => e.weight >= most / 3).flatMap((e) => [e.source, e.target]));
    const onSpine = new Set((this.alert ? this.alert.report.spines : []).flatMap((s) => s.path));
    const role = new Map();
    if (this.alert) for (const r of [...ROLES].reverse()) if (best(this.alert.report[r])) role.set(best(this.alert.report[r]), r);
    const truth = this.truth();
    for (const { x, y, turn, node } of places.values()) this.agent(root, x, y, turn, node, role.get(node.name), touched, truth.get(node.name), onSpine);
    this.root = root;
    this.box.replaceChildren(root);
    this.list(infected);
  }

  // Of the event that this alert belongs to, or else of all attacks.
  truth() {
    const names = new Map();
    const of = data.verdicts.filter((v) => v.truth.attack && (!this.alert || !data.verdicts.some((w) => w.alert === this.alert.report.id) || v.alert === this.alert.report.id));
    for (const v of of) {
      for (const r of ROLES) {
        const name = v.truth[r];
        if (name) names.set(name, [...(names.get(name) || []), r]);
      }
    }
    return names;
  }

  way(root, places, edge, kind, more) {
    const a = places.get(edge.source), b = places.get(edge.target);
    if (!a || !b) return;
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const long = Math.hypot(dx, dy) || 1;
    const bend = Math.min(26, long * 0.12);
    const [mx, my] = [(a.x + b.x) / 2 - (dy / long) * bend, (a.y + b.y) / 2 + (dx / long) * bend];
    const gap = kind === "way" ? 7 : 12;
    const back = Math.hypot(b.x - mx, b.y - my) || 1;
    const [ex, ey] = [b.x - ((b.x - mx) / back) * gap, b.y - ((b.y - my) / back) * gap];
    const said = edge.source + " \u2192 " + edge.target
      + (kind === "spread" ? ": excess " + figure(edge.weight) + " on " + edge.channel + ", " + counted(edge.messages, "event", "events")
        : kind === "spine" ? ": part of a spine on " + edge.channel
          : ": " + counted(edge.messages, "message", "messages"));
    root.append(svg("path", {
      class: kind, d: "M" + a.x.toFixed(1) + "," + a.y.toFixed(1) + "Q" + mx.toFixed(1) + "," + my.toFixed(1) + " " + ex.toFixed(1) + "," + ey.toFixed(1),
      "data-source": edge.source, "data-target": edge.target, ...more,
    }, svg("title", {}, said)));
  }

  agent(root, x, y, turn, node, role, touched, truth, onSpine) {
    const service = isService(node);
    const plain = !role && !touched.has(node.name) && !truth;
    const said = [node.name, node.kind, role ? "suspected " + role : "", truth ? "really the " + listed(truth) : "",
      node.name in data.infected ? "infected " + clock(data.infected[node.name]) : ""].filter(Boolean).join(", ");
    const group = svg("g", {
      class: ["agent", role, touched.has(node.name) ? "touched" : "", service ? "service" : "", plain ? "plain" : ""].filter(Boolean).join(" "),
      tabindex: "0", role: "img", "aria-label": said, "data-name": node.name,
    }, svg("title", {}, said));
    const r = role ? 11 : data.nodes.length > 300 ? 3.5 : data.nodes.length > NAMED ? 5 : 6;
    if (truth) group.append(svg("circle", { class: "truth", cx: x, cy: y, r: r + 5 }));
    group.append(svg("circle", { class: "dot", cx: x, cy: y, r }));
    if (role) group.append(svg("text", { class: "letter", x, y: y + 4.3 }, LETTERS[role]));
    if (data.nodes.length <= NAMED || role || truth || onSpine.has(node.name)) {
      const [ox, oy] = [Math.cos(turn), Math.sin(turn)];
      const anchor = ox > 0.25 ? "start" : ox < -0.25 ? "end" : "middle";
      const far = this.column ? 1.6 : 1; // letters are larger there
      const [tx, ty] = [x + ox * (r + 9 * far), y + oy * (r + 11 * far) + 4 * far];
      group.append(svg("text", { class: "name", x: tx, y: ty, "text-anchor": anchor }, node.name));
      if (truth) group.append(svg("text", { class: "truth-name", x: tx, y: ty + 13 * far, "text-anchor": anchor }, "true " + listed(truth)));
    }
    const show = (on) => {
      this.root.querySelectorAll("[data-source]").forEach((way) => way.classList.toggle("dim", on && way.dataset.source !== node.name && way.dataset.target !== node.name));
      if (on) this.says.textContent = said + ".";
    };
    for (const on of ["mouseenter", "focus"]) group.addEventListener(on, () => show(true));
    for (const off of ["mouseleave", "blur"]) group.addEventListener(off, () => show(false));
    root.append(group);
  }

  list(infected) {
    if (!infected.length) {
      this.table.replaceChildren();
      return;
    }
    const rows = infected.slice(0, 100);
    this.table.replaceChildren(el("details", {}, el("summary", {}, "Edges with an excess" + (infected.length > rows.length ? ", the strongest " + rows.length + " of " + number(infected.length) : "")),
      scrolled(el("table", {}, el("caption", {}, "Edges with an excess"),
        el("thead", {}, el("tr", {}, ["from", "to", "channel"].map((t) => el("th", { scope: "col" }, t)), ["excess", "events"].map((t) => el("th", { scope: "col", class: "number" }, t)))),
        el("tbody", {}, rows.map((e) => el("tr", {}, el("th", { scope: "row" }, e.source), el("td", {}, e.target), el("td", {}, e.channel),
          el("td", { class: "number" }, figure(e.weight)), el("td", { class: "number" }, number(e.messages)))))), true)));
  }
}
