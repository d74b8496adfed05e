// Who trades with whom: the diagram and the matrix, for a range of days, by kilograms or money.

function tradeSection() {
  const trade = data.trade;
  const drawing = el("div", { class: "plot flow" });
  const tip = el("div", { class: "tip", hidden: true });
  const table = el("div");
  const summary = el("p", { class: "note", role: "status" });
  const state = { measure: "kg", item: "all", from: 0, to: Math.max(0, data.last_day) };
  const formats = { kg: (v) => number(v) + " kg", money: (v) => money(v, 0), deals: (v) => number(v) };
  let width = 0;

  function total() {
    const pairs = new Map();
    for (const [day, from, to, item, kg, dollars, deals] of trade.rows) {
      if (day < state.from - (data.step - 1) || day > state.to) continue;
      if (state.item !== "all" && item !== +state.item) continue;
      const key = from + ">" + to;
      if (!pairs.has(key)) pairs.set(key, { from, to, kg: 0, money: 0, deals: 0 });
      const pair = pairs.get(key);
      pair.kg += kg;
      pair.money += dollars;
      pair.deals += deals;
    }
    return [...pairs.values()];
  }

  function describe(p) {
    const consumers = trade.nodes[p.to].role === "consumers";
    return `${trade.nodes[p.from].name} \u2192 ${trade.nodes[p.to].name}: ${number(p.kg)} kg for ${money(p.money)}, `
      + `${money(p.kg ? p.money / p.kg : null)}/kg, ${consumers ? counted(p.deals, "sale", "sales") : counted(p.deals, "deal", "deals")}`;
  }

  function draw() {
    const pairs = total();
    const format = formats[state.measure];
    width = Math.max(300, drawing.clientWidth || 640);
    const flows = pairs.map((p) => ({ ...p, value: p[state.measure] })).filter((p) => p.value > 0);
    if (flows.length) {
      const root = flowDiagram(trade.nodes, flows, width, format, describe);
      listen(root);
      drawing.replaceChildren(root, tip);
    } else drawing.replaceChildren(el("p", { class: "empty" }, "No trade in these days."));
    const at = new Map(pairs.map((p) => [p.from + ">" + p.to, p]));
    const sellers = trade.nodes.map((_, i) => i).filter((i) => pairs.some((p) => p.from === i));
    const buyers = trade.nodes.map((_, i) => i).filter((i) => pairs.some((p) => p.to === i));
    const pair = (r, c) => at.get(sellers[r] + ">" + buyers[c]);
    const title = { kg: "Kilograms", money: "Dollars", deals: "Deals" }[state.measure];
    table.replaceChildren(matrixTable(title + " sold, sellers in rows and buyers in columns", "seller \u2193 buyer \u2192",
      sellers.map((i) => trade.nodes[i].name), buyers.map((i) => trade.nodes[i].name),
      (r, c) => (pair(r, c) ? pair(r, c)[state.measure] : 0),
      (v) => (state.measure === "money" ? money(v) : number(v)), { tell: (r, c) => describe(pair(r, c)) }));
    const between = pairs.filter((p) => trade.nodes[p.to].role !== "consumers");
    const sums = (list, key) => list.reduce((s, p) => s + p[key], 0);
    const sold = pairs.filter((p) => trade.nodes[p.to].role === "consumers");
    summary.textContent = `Between firms: ${counted(sums(between, "deals"), "deal", "deals")}, ${number(sums(between, "kg"))} kg, `
      + `${money(sums(between, "money"))}. To consumers: ${number(sums(sold, "kg"))} kg, ${money(sums(sold, "money"))}.`;
  }

  function listen(root) {
    const say = (event, text) => {
      tip.hidden = !text;
      if (!text) return;
      tip.textContent = text;
      const box = drawing.getBoundingClientRect();
      const left = (event.clientX || box.left + box.width / 2) - box.left + 14;
      tip.style.left = Math.max(0, Math.min(left, box.width - tip.offsetWidth - 4)) + "px";
      tip.style.top = (event.clientY ? event.clientY - box.top + 14 : 8) + "px";
    };
    root.querySelectorAll(".ribbon").forEach((ribbon) => {
      for (const on of ["pointermove", "focus"]) ribbon.addEventListener(on, (event) => say(event, ribbon.dataset.text));
      for (const off of ["pointerleave", "blur"]) ribbon.addEventListener(off, (event) => say(event, null));
    });
  }

  const items = select("Item", [["all", "all items"], ...trade.items.map((item, i) => [i, itemName(item)])],
    (v) => { state.item = v; draw(); });
  const range = dayRange("Days", 0, Math.max(0, data.last_day), (from, to) => {
    state.from = from;
    state.to = to;
    draw();
  });
  const outcomes = trade.outcomes;
  const shipped = ["delivered", "delayed", "lost"].filter((o) => outcomes[o]).map((o) =>
    o === "delayed" ? number(outcomes[o]) + " put off by a day" : number(outcomes[o]) + " " + o);
  window.addEventListener("resize", () => { if (drawing.clientWidth && drawing.clientWidth !== width) draw(); });
  return {
    node: section("trade", "Trade",
      "Goods flow from left to right; a ribbon has its seller's colour and is as wide as what it carries. "
      + "Deals count on the day they are struck"
      + (shipped.length ? "; of the shipments that fell due, " + shipped.join(", ") + "." : "."),
      el("div", { class: "controls" },
        choice("By", [["kg", "kilograms"], ["money", "money"], ["deals", "number"]], (v) => { state.measure = v; draw(); }),
        items.node, range.node),
      summary, drawing, table),
    draw: range.update,
  };
}
