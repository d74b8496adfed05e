// The spans of a day as boxes in lanes, a lane for each agent; users' own spans lie within the boxes.

const LEAGUE = "the league";

// Firms stand beneath their exchange, those that the first day does not name at the end.
function laneOrder(agents) {
  const known = new Map(data.agents.map((a, place) => [a.name, [a.hub ?? a.name, a.hub ? 1 : 0, place]]));
  const hubs = [...new Set(data.agents.map((a) => a.hub ?? a.name))];
  const key = (name) => (known.has(name) ? [hubs.indexOf(known.get(name)[0]), ...known.get(name).slice(1)] : [Infinity, name ? 0 : 1, 0]);
  return [...agents].map((name) => [key(name), name])
    .sort(([a, x], [b, y]) => (a[0] - b[0] || 0) || a[1] - b[1] || a[2] - b[2] || (x < y ? -1 : 1))
    .map(([, name]) => name);
}

// Boxes: from, to, wait (where waiting began), item; own spans also depth: how many others they lie in.
// Marks: at, item.
function spanLayout(day, wall, only) {
  const axis = wall ? wallAxis(day) : virtualAxis(day);
  const shown = (item) => !only || only.has(item);
  const lanes = new Map();
  const lane = (agent) => {
    if (!lanes.has(agent)) lanes.set(agent, { agent, boxes: [], own: [], marks: [] });
    return lanes.get(agent);
  };
  if (!only) laneOrder(day.agents).forEach(lane);
  const boxOf = new Map();
  if (wall) wallBoxes(day, lane, boxOf, shown);
  else virtualBoxes(day, axis, lane, boxOf, shown);
  ownBoxes(day, wall, axis, lane, boxOf, shown);
  for (const event of day.events) {
    if (!shown(event)) continue;
    if (event.type === "action" || event.type === "day_end") continue; // the command's own box says it
    const box = event.source ? boxOf.get(event.source) : null;
    const at = box ? (box.from + box.to) / 2 : wall ? null : axis.at(event.minute, event.round) + 0.5;
    if (at === null) continue;
    lane(day.agents.has(event.subject) ? event.subject : event.agent).marks.push({ at, item: event });
  }
  const order = laneOrder(lanes.keys());
  const found = order.map((agent) => lanes.get(agent));
  for (const one of found) {
    one.boxes = inTime(one.boxes);
    one.levels = Math.min(MOST_LEVELS, one.own.reduce((most, box) => Math.max(most, box.depth + 1), 0));
    one.own = inTime(one.own);
    one.all = [...one.boxes.items, ...one.own.items].sort((a, b) => a.from - b.from || (a.depth ?? -1) - (b.depth ?? -1));
    one.marks.sort((a, b) => a.at - b.at);
  }
  return { axis, lanes: found, boxOf, wall };
}

const MOST_LEVELS = 3; // of own spans that lie in each other; deeper ones are drawn over the third

// Boxes in the order of their beginning, and how far back one may have begun that still goes on.
function inTime(boxes) {
  boxes.sort((a, b) => a.from - b.from);
  return { items: boxes, widest: boxes.reduce((most, box) => Math.max(most, box.to - Math.min(box.wait, box.from)), 0) };
}

// Where users' own spans are: on the wall's clock when they were, in virtual time within the box of
// the handling or the wake-up, which those that lie side by side share in their order.
function ownBoxes(day, wall, axis, lane, boxOf, shown) {
  const spans = day.spans.filter((s) => s.own && shown(s));
  const byId = new Map(spans.map((s) => [s.span.span_id, s]));
  const above = (s) => (s.span.parent_id !== s.span.span_id && byId.get(s.span.parent_id)) || null;
  const within = new Map();
  for (const s of spans) {
    const key = above(s) || s.source || s.agent + "@" + s.minute;
    if (!within.has(key)) within.set(key, []);
    within.get(key).push(s);
  }
  const placed = new Set();
  const place = (members, outer, depth) => {
    members.sort((a, b) => a.began - b.began);
    members.forEach((s, i) => {
      if (placed.has(s)) return;
      placed.add(s);
      const share = (outer.to - outer.from) / members.length;
      const from = wall ? s.began : outer.from + i * share;
      const box = { from, to: wall ? s.began + s.took : from + share, wait: from, item: s, depth };
      lane(s.agent).own.push(box);
      if (within.has(s)) place(within.get(s), box, depth + 1);
    });
  };
  for (const [key, members] of within) {
    if (key.span) continue; // placed with the span that they lie in
    const at = wall ? 0 : axis.at(members[0].minute, members[0].round);
    const wake = typeof key === "string" && day.find("wake " + key);
    place(members, boxOf.get(key) || boxOf.get(wake) || { from: at, to: at + 1 }, 0);
  }
  place(spans.filter((s) => !placed.has(s)), { from: 0, to: 1 }, 0); // those that name each other
}

// What one agent handles in one round shares that round's width, in the order of delivery.
function virtualBoxes(day, axis, lane, boxOf, shown) {
  const cells = new Map();
  const put = (agent, at, item) => {
    const key = agent + " " + at;
    if (!cells.has(key)) cells.set(key, { agent, at, items: [] });
    cells.get(key).items.push(item);
  };
  const woken = new Map();
  const wake = (item, agent) => {
    const id = "wake " + agent + "@" + item.minute;
    if (woken.has(id + item.round)) return;
    const found = day.wakes.find((w) => w.id === id) || {
      kind: "wake", id, day: day.day, minute: item.minute, round: item.round, agent, type: "wake", source: null, cause: null,
      body: "{}", facts: {}, flag: 0, began: null,
    };
    woken.set(id + item.round, found);
    put(agent, axis.at(item.minute, item.round), found);
  };
  for (const m of day.messages) {
    if (!shown(m)) continue;
    if (!m.source && !m.cause) wake(m, m.sender);
    if (m.handled) put(m.recipient, axis.at(m.minute, m.round + 1), m);
  }
  for (const { agent, at, items } of cells.values()) {
    items.sort((a, b) => (a.sender < b.sender ? -1 : a.sender > b.sender ? 1 : 0));
    items.forEach((item, i) => {
      const from = at + i / items.length;
      const box = { from, to: from + 1 / items.length, wait: from, item };
      lane(agent).boxes.push(box);
      boxOf.set(item, box);
    });
  }
}

function wallBoxes(day, lane, boxOf, shown) {
  for (const item of [...day.messages, ...day.wakes]) {
    if (item.began === null || !shown(item)) continue;
    const box = { from: item.began, to: item.began + item.took, wait: item.arrived, item };
    lane(item.kind === "wake" ? item.agent : item.recipient).boxes.push(box);
    boxOf.set(item, box);
  }
  for (const s of day.spans) if (!s.own && shown(s)) lane(s.agent).boxes.push({ from: s.began, to: s.began + s.took, wait: s.began, item: s });
}

// The places of the boxes that lie between two times.
function boxesBetween({ items: boxes, widest }, from, to) {
  let low = 0;
  let high = boxes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (boxes[middle].from < from - widest) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < boxes.length && Math.min(boxes[end].wait, boxes[end].from) <= to) end++;
  return [low, end];
}
