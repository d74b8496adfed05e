// The causal tree of the chosen item: up to its root, down to its effects, and its order over weeks.

const MOST_BEFORE = 4; // steps between the root and the item that are shown unasked

function stepRow(item, choose, extra = {}) {
  return el("button", { type: "button", class: "step" + (extra.current ? " current" : ""), "aria-current": extra.current ? "true" : null, onclick: () => choose(item) },
    el("span", { class: "when" }, extra.withDay ? when(item.minute) : timeOfDay(item.minute)),
    el("span", { class: "what " + tone(item.flag) }, sentence(item)));
}

// A branch that opens on demand: its effects are looked up when it does.
function branch(day, item, choose, open, current) {
  // What a command says of its outcome need not be said again.
  const effects = day.effects(item).filter((one) => one !== item.outcome);
  const row = stepRow(item, choose, { current });
  if (!effects.length) return el("li", {}, el("span", { class: "leaf", "aria-hidden": "true" }), row);
  const list = el("ul", { hidden: true });
  const label = counted(effects.length, "effect", "effects");
  const fold = el("button", { type: "button", class: "fold", "aria-expanded": "false", "aria-label": label }, "\u25b8");
  const toggle = (wanted) => {
    if (wanted && !list.firstChild) list.append(...effects.map((one) => branch(day, one, choose, false, false)));
    list.hidden = !wanted;
    fold.setAttribute("aria-expanded", wanted);
    fold.textContent = wanted ? "\u25be" : "\u25b8";
  };
  fold.addEventListener("click", () => toggle(list.hidden));
  if (open) toggle(true);
  return el("li", {}, fold, row, list);
}

function pathRows(day, item, choose) {
  const path = day.path(item).slice(0, -1);
  const root = path[0] || item;
  const rows = [];
  if (root.cause) {
    rows.push(el("li", {}, el("button", { type: "button", class: "step", onclick: () => choose({ id: root.cause, day: Math.max(0, item.day - 1) }) },
      el("span", { class: "when" }, "earlier"), el("span", { class: "what" }, "because of " + visible(root.cause)))));
  } else if (root.kind === "message" && root.sender) {
    rows.push(el("li", { class: "root" }, el("span", { class: "step plain" }, el("span", { class: "when" }, timeOfDay(root.minute)), el("span", { class: "what" }, visible(root.sender) + " wakes: the root of this trace"))));
  } else if (root.kind === "event") {
    rows.push(el("li", { class: "root" }, el("span", { class: "step plain" }, el("span", { class: "when" }, timeOfDay(root.minute)), el("span", { class: "what" }, "the time of day, at " + visible(root.agent)))));
  }
  const near = path.slice(Math.max(1, path.length - MOST_BEFORE));
  const hidden = path.slice(1, path.length - near.length);
  if (path.length) rows.push(el("li", {}, stepRow(path[0], choose)));
  if (hidden.length) {
    const more = el("li", {}, el("button", { type: "button", class: "link more", onclick: () => more.replaceWith(...hidden.map((one) => el("li", {}, stepRow(one, choose)))) },
      "\u22ee " + counted(hidden.length, "step", "steps") + " between"));
    rows.push(more);
  }
  rows.push(...near.map((one) => el("li", {}, stepRow(one, choose))));
  return rows;
}

// The ids of offer, deal and invoice that an item names, as the overview keys them.
function orderKeys(item, day) {
  return [item, ...(item.kind === "message" ? day.effects(item) : [])].filter((one) => one && one.kind === "event").flatMap((one) => {
    const facts = factsOf(one);
    const named = one.type === "action" ? { offer: facts.tool === "make_offer" ? facts.new_id : facts.args?.offer_id, deal: facts.args?.deal_id, invoice: facts.args?.invoice_id } : facts;
    return ["offer", "deal", "invoice"].filter((kind) => typeof named[kind] === "string").map((kind) => one.agent + " " + kind + ":" + named[kind]);
  });
}

async function orderOf(item, day) {
  const keys = orderKeys(item, day);
  if (!keys.length) return null;
  const orders = await loadOrders();
  const order = keys.map((key) => orders.get(key)).find(Boolean);
  if (!order) return null;
  const found = [];
  for (const at of order.days) {
    const on = await loadDay(at);
    found.push(...on.events.filter((event) => event.agent === order.exchange
      && orderKeys(event, on).some((key) => order.ids.has(key.slice(order.exchange.length + 1)))));
  }
  return { order, found };
}

function orderSection({ order, found }, item, choose) {
  const paid = found.filter((e) => e.type === "payment").reduce((sum, e) => sum + (Number(factsOf(e).amount) || 0), 0);
  const owed = found.filter((e) => e.type === "invoice").reduce((sum, e) => sum + (Number(factsOf(e).amount) || 0), 0);
  const sums = owed ? dollars(paid) + " of " + dollars(owed) + " paid" : "nothing invoiced";
  return [
    el("h3", {}, "The order, from bid to payment"),
    el("p", { class: "note" }, visible((order.offer || "order") + " at " + order.exchange) + ": " + sums + "."),
    el("ol", { class: "order" }, found.map((one) => el("li", {}, stepRow(one, choose, { withDay: true, current: one.id === item.id })))),
  ];
}

function storyOf(item, day, choose) {
  const rest = el("div");
  const down = el("ul", { class: "tree" }, branch(day, item, choose, true, true));
  if (item.kind !== "span") {
    orderOf(item, day).then((found) => {
      if (found && found.found.length) rest.replaceChildren(...orderSection(found, item, choose));
      rest.dataset.ready = "yes";
    }, (error) => rest.replaceChildren(el("p", { class: "note bad" }, "The order cannot be read: " + error.message)));
  }
  const up = (item.kind === "span" && !item.source) || item.kind === "wake" ? [] : pathRows(day, item, choose);
  return el("div", { class: "story" },
    up.length ? [el("h3", {}, "How it came about"), el("ol", { class: "path" }, up)] : null,
    el("h3", {}, day.effects(item).length ? "This, and what came of it" : item.kind === "message" ? "This, and nothing came of it that day" : "What happened"), down, rest);
}
