// Results, money, prices and stock.

function section(id, title, lead, ...children) {
  return el("section", { id, "aria-labelledby": id + "-title" },
    el("h2", { id: id + "-title" }, title), lead ? el("p", { class: "lead" }, lead) : null, children);
}

function firmCell(name) {
  return [swatch(colour(name)), name];
}

// ---- results ----

function resultTable() {
  const most = Math.max(1e-9, ...data.firms.map((f) => Math.abs(f.net_income || 0)));
  // Bars grow to both sides of a middle line only where there are losses to show.
  const zero = data.firms.some((f) => f.net_income < 0) ? 50 : 0;
  const bar = (f) => {
    const width = ((Math.abs(f.net_income || 0) / most) * (100 - zero)).toFixed(1) + "%";
    const side = f.net_income < 0 ? "right" : "left";
    return el("span", { class: "bar", style: { "--zero": zero + "%" }, "aria-hidden": "true" },
      el("span", { class: f.net_income < 0 ? "loss" : "gain", style: { width, [side]: zero + "%" } }));
  };
  const amount = (key, title) => ({ key, title, numeric: true, sort: (f) => f[key], text: (f) => money(f[key]) });
  const plain = (key, title) => ({ key, title, numeric: true, sort: (f) => f[key], text: (f) => number(f[key]) });
  const text = (key, title) => ({ key, title, sort: (f) => f[key] || "", text: (f) => f[key] || NOTHING });
  const columns = [
    { key: "firm", title: "Firm", sort: (f) => f.firm, node: (f) => el("span", { class: "firm" }, firmCell(f.firm)) },
    text("role", "Role"),
    {
      key: "strategy", title: "Strategy", sort: (f) => f.strategy || "",
      text: (f) => (f.strategy || NOTHING).split(/[\\/]/).pop(),
    },
    amount("net_income", "Net income"),
    { key: "bar", title: "", sort: (f) => f.net_income, node: bar },
    amount("revenue", "Revenue"),
    amount("cash", "Cash"),
    plain("stock_kg", "Stock, kg"),
    plain("deals", "Deals"),
    plain("messages_sent", "Letters sent"),
  ];
  if (new Set(data.firms.map((f) => f.town)).size > 1) columns.splice(1, 0, text("town", "Town"));
  if (data.firms.some((f) => f.bankrupt_day !== null && f.bankrupt_day !== undefined)) {
    columns.push({
      key: "bankrupt_day", title: "Bankrupt", numeric: true, sort: (f) => f.bankrupt_day,
      node: (f) => (f.bankrupt_day === null || f.bankrupt_day === undefined ? NOTHING
        : el("strong", { class: "bad" }, "day " + f.bankrupt_day)),
    });
  }
  // A phone has room for the firm and its money; see the note below the table.
  const roomy = ["town", "role", "strategy", "bar", "stock_kg", "deals", "messages_sent"];
  columns.forEach((c) => { c.roomy = roomy.includes(c.key); });
  const shown = columns.filter((c) => !["messages_sent", "deals"].includes(c.key)
    || data.firms.some((f) => f[c.key] !== null && f[c.key] !== undefined));
  return sortableTable("Result of each firm", shown, data.firms, { key: "net_income", down: true });
}

function roleTable() {
  if (!data.role_summary.length) return null;
  const amount = (key, title) => ({ key, title, numeric: true, sort: (r) => r[key], text: (r) => money(r[key]) });
  return sortableTable("Net income by role, over all firms", [
    { key: "role", title: "Role", sort: (r) => r.role, text: (r) => r.role },
    { key: "firms", title: "Firms", numeric: true, sort: (r) => r.firms, text: (r) => number(r.firms) },
    amount("mean", "Mean"), amount("lowest", "Lowest"), amount("tenth", "10th percentile"),
    amount("median", "Median"), amount("ninetieth", "90th percentile"), amount("highest", "Highest"),
    { key: "bankrupt", title: "Bankrupt", numeric: true, sort: (r) => r.bankrupt, text: (r) => number(r.bankrupt) },
  ], data.role_summary, { key: "mean", down: true });
}

function resultsSection() {
  const until = data.run.state === "finished" ? "at the end of the run" : "on the evening of day " + data.last_day;
  const notes = [el("p", { class: "note narrow" }, "A wider screen also shows role, strategy, stock and deals.")];
  if (data.curves_differ) {
    notes.push(el("p", { class: "note" }, "The table gives the books after the last delivery pass, "
      + "which comes after the last evening; the curves end with that evening."));
  }
  return section("results", "Results",
    "Net income, revenue, cash and stock " + until + ". A heading sorts the table.",
    roleTable(), resultTable(), notes);
}

// ---- curves over the days ----

function firmLines(values) {
  return data.lines.map((line, i) => {
    const firm = data.firms.find((f) => f.firm === line.firm);
    const bust = firm && firm.bankrupt_day;
    return {
      label: line.label, values: values[i], paint: colour(line.label),
      width: line.firm ? (data.aggregated ? 1.2 : 2) : 3.5,
      faint: data.aggregated && Boolean(line.firm),
      marks: typeof bust === "number" ? [{ day: bust, text: line.label + " is bankrupt on day " + bust }] : [],
    };
  });
}

const MEASURE_NOTES = {
  equity: "Cash, stock at cost, goods under way and receivables, less payables.",
  revenue: "Since the first day.",
  inventory_value: "Stock on hand at average cost.",
  in_flight_value: "Production and roasts under way, and own goods not yet delivered, at cost.",
  accounts_receivable: "Owed to the firm.",
  accounts_payable: "Owed by the firm.",
  pending_inbound_kg: "Bought or being made, and not there yet.",
  open_listings: "Offers to sell that stand in the market.",
  messages_sent: "Letters sent on the day.",
  deals: "Bought and sold, since the first day.",
};

function festivalNote() {
  const span = data.run.festival_days;
  if (!Array.isArray(span) || span[0] > data.last_day) return null;
  return el("p", { class: "note" }, "The shaded band in the charts is the festival, days " + span[0] + " to " + span[1]
    + ": consumers want " + number(data.run.festival_factor, 1).replace(/\.0$/, "") + " times as much coffee.");
}

function moneySection() {
  const labels = data.lines.length <= 10;
  const income = chart({
    title: "Net income, cumulative", unit: "money", days: data.days, height: 340, zero: true, labels,
    lines: firmLines(data.series.net_income),
  });
  const cash = chart({
    title: "Cash", unit: "money", days: data.days, height: 280, labels, lines: firmLines(data.series.cash),
  });
  const others = Object.keys(data.measures).filter((m) => m !== "net_income" && m !== "cash"
    && data.series[m].some((values) => values.some((v) => v !== null)));
  const nodes = [income.node, cash.node];
  if (others.length) {
    const spec = (m) => ({
      title: capital(words(m)), unit: data.measures[m], lines: firmLines(data.series[m]),
    });
    const more = chart({ ...spec(others[0]), note: " ", days: data.days, height: 240, labels });
    const note = more.node.querySelector(".note");
    const pick = select("Figure", others.map((m) => [m, capital(words(m))]), (m) => {
      more.change(spec(m));
      more.heading.textContent = capital(words(m));
      note.textContent = MEASURE_NOTES[m] || "";
    });
    note.textContent = MEASURE_NOTES[others[0]] || "";
    nodes.push(el("div", { class: "controls" }, pick.node), more.node);
  }
  const lead = data.aggregated
    ? "Thick lines are the means of a role over all its firms, thin ones single firms."
    : "Every evening's books. Point at a chart for the day's figures; a name in the legend hides or shows its line.";
  return section("money", "Money", lead, festivalNote(), nodes);
}

// ---- prices ----

function pricesSection() {
  const figures = data.items.map((item) => {
    const price = data.prices[item];
    const has = (values) => values.some((v) => v !== null);
    const lines = [];
    const shops = Object.entries(price.retail);
    for (const [shop, values] of shops) {
      lines.push(data.aggregated
        ? { label: shop === "mean" ? "mean retail price" : shop + " retail price", values,
            paint: "oklch(var(--retail) 0.12 262)", width: shop === "mean" ? 2.5 : 1.2, dash: shop === "mean" ? null : "2 3" }
        : { label: shop + ", retail", values, paint: colour(shop), width: 2 });
    }
    if (has(price.ask)) lines.push({ label: "lowest ask", values: price.ask, paint: "var(--soft)", width: 2, dash: "5 4" });
    if (has(price.deal)) lines.push({ label: "mean deal price", values: price.deal, paint: "var(--ink)", width: 1.2, dots: true });
    return chart({
      title: capital(itemName(item)), unit: "price", days: data.days, height: 230, lines, labels: false,
    }).node;
  });
  return section("prices", "Prices",
    "Dollars per kilogram: the lowest ask that stands in the evening, the mean price of the day's deals weighted by kilograms"
    + ", and what shops charge consumers.",
    el("div", { class: "grid two" }, figures));
}

// ---- stock ----

function stockSection() {
  const holder = el("div", { class: "grid three" });
  const made = [];
  const kg = (item, i) => (data.stock[item] ? data.stock[item][i] : data.days.map(() => null));
  const sizes = data.lines.map((_, i) => Math.max(0, ...data.days.map((__, d) =>
    data.items.reduce((s, item) => s + (kg(item, i)[d] || 0), 0))));
  const subjects = data.lines.map((line, i) => ({ line, i })).filter(({ line }) => !data.aggregated || !line.firm);
  const ceiling = Math.max(1, ...subjects.map(({ i }) => sizes[i]));
  const views = {
    firm: () => subjects.map(({ line, i }) => ({
      title: line.label, unit: "kg", days: data.days, height: 190, stacked: true, ceiling, labels: false, legend: false, festival: false,
      lines: data.items.filter((item) => kg(item, i).some((v) => v)).map((item) => ({
        label: itemName(item), values: kg(item, i), paint: itemColour(item),
      })),
    })),
    item: () => data.items.filter((item) => data.stock[item]).map((item) => ({
      title: capital(itemName(item)), unit: "kg", days: data.days, height: 230, labels: false, zero: true,
      lines: subjects.map(({ line, i }) => ({ label: line.label, values: kg(item, i), paint: colour(line.label), width: 1.8 }))
        .filter((l) => l.values.some((v) => v)),
    })),
  };
  const keys = el("p", { class: "keys" }, data.items.map((item) =>
    el("span", {}, swatch(itemColour(item)), itemName(item))));
  function show(view) {
    made.splice(0).forEach((c) => charts.splice(charts.indexOf(c), 1));
    made.push(...views[view]().map((spec) => chart(spec)));
    keys.hidden = view !== "firm";
    holder.className = "grid " + (view === "firm" ? "three" : "two");
    holder.replaceChildren(...made.map((c) => c.node));
    if (holder.isConnected) made.forEach((c) => c.draw());
  }
  const choices = [["firm", data.aggregated ? "by role" : "by firm"], ["item", "by item"]];
  if (subjects.length > 12) choices.reverse();
  show(choices[0][0]);
  return section("stock", "Stock",
    "Kilograms on hand every evening" + (data.aggregated ? ", mean over the firms of a role." : ". By firm, all charts share one scale."),
    el("div", { class: "controls" },
      choice("Show", choices, show), keys),
    holder);
}
