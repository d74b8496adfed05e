// The spans of a day as boxes in lanes, a lane for each agent.

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

// Boxes: from, to, wait (where waiting began), item. Marks: at, item.
function spanLayout(day, wall, only) {
  const axis = wall ? wallAxis(day) : virtualAxis(day);
  const shown = (item) => !only || only.has(item);
  const lanes = new Map();
  const lane = (agent) => {
    if (!lanes.has(agent)) lanes.set(agent, { agent, boxes: [], marks: [] });
    return lanes.get(agent);
  };
  if (!only) laneOrder(day.agents).forEach(lane);
  const boxOf = new Map();
  if (wall) wallBoxes(day, lane, boxOf, shown);
  else virtualBoxes(day, axis, lane, boxOf, shown);
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
    one.boxes.sort((a, b) => a.from - b.from);
    one.marks.sort((a, b) => a.at - b.at);
    one.widest = one.boxes.reduce((most, box) => Math.max(most, box.to - Math.min(box.wait, box.from)), 0);
  }
  return { axis, lanes: found, boxOf, wall };
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
  for (const s of day.spans) if (s.agent && shown(s)) put(s.agent, axis.at(s.minute, 0), s);
  for (const { agent, at, items } of cells.values()) {
    items.sort((a, b) => (a.sender < b.sender ? -1 : a.sender > b.sender ? 1 : 0));
    items.forEach((item, i) => {
      const from = at + i / items.length;
      const box = { from, to: from + 1 / items.length, wait: from, item };
      lane(agent).boxes.push(box);
      if (item.kind === "message") boxOf.set(item, box);
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
  for (const s of day.spans) if (shown(s)) lane(s.agent).boxes.push({ from: s.began, to: s.began + s.took, wait: s.began, item: s });
}

// The places of the boxes of a lane that lie between two times.
function boxesBetween(lane, from, to) {
  const { boxes, widest } = lane;
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
