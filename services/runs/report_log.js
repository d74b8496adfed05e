// Messages, commands, events and the ledger.

// ---- messages ----

function messagesSection() {
  const m = data.messages;
  const state = { type: "all", channel: "all" };
  const table = el("div");
  function draw() {
    const counts = new Map();
    for (const [from, to, channel, type, count] of m.rows) {
      if (state.type !== "all" && type !== +state.type) continue;
      if (state.channel !== "all" && channel !== +state.channel) continue;
      const key = from + ">" + to;
      counts.set(key, (counts.get(key) || 0) + count);
    }
    const keys = [...counts.keys()].map((k) => k.split(">").map(Number));
    const senders = m.agents.map((_, i) => i).filter((i) => keys.some((k) => k[0] === i));
    const recipients = m.agents.map((_, i) => i).filter((i) => keys.some((k) => k[1] === i));
    table.replaceChildren(matrixTable("Messages, senders in rows and recipients in columns", "sender \u2193 recipient \u2192",
      senders.map((i) => m.agents[i]), recipients.map((i) => m.agents[i]),
      (r, c) => counts.get(senders[r] + ">" + recipients[c]) || 0, (v) => number(v)));
  }
  const all = m.rows.reduce((s, r) => s + r[4], 0);
  const byType = m.types.map((type, t) => {
    const rows = m.rows.filter((r) => r[3] === t);
    return {
      type, count: rows.reduce((s, r) => s + r[4], 0),
      channels: [...new Set(rows.map((r) => m.channels[r[2]]))].join(", "),
    };
  });
  const typeTable = sortableTable("Messages by type", [
    { key: "type", title: "Type", sort: (r) => r.type, text: (r) => r.type },
    { key: "channels", title: "Channel", sort: (r) => r.channels, text: (r) => r.channels },
    { key: "count", title: "Messages", numeric: true, sort: (r) => r.count, text: (r) => number(r.count) },
    { key: "share", title: "Share", numeric: true, sort: (r) => r.count, text: (r) => number((100 * r.count) / all, 1) + " %" },
  ], byType, { key: "count", down: true }, true);
  const paints = ["--series-1", "--series-2", "--series-3", "--series-4", "--series-5", "--series-6", "--series-7", "--series-8"];
  const most = paints.length;
  const lines = m.types.slice(0, m.types.length > most ? most - 1 : most).map((type, t) => ({
    label: type, values: m.daily[t], paint: "var(" + paints[t] + ")",
  }));
  if (m.types.length > most) {
    lines.push({
      label: "other types", paint: "var(--soft)",
      values: m.days.map((_, d) => m.daily.slice(most - 1).reduce((s, values) => s + values[d], 0)),
    });
  }
  const daily = chart({
    title: data.step > 1 ? "Messages in every " + data.step + " days" : "Messages a day", unit: "count", days: m.days, height: 240,
    stacked: true, lines, labels: false,
  });
  draw();
  const pick = (label, key, names) => select(label, [["all", "all"], ...names.map((n, i) => [i, n])],
    (v) => { state[key] = v; draw(); }).node;
  return section("messages", "Messages",
    number(all) + " messages between " + number(m.agents.length) + (data.aggregated ? " groups of agents." : " agents."),
    el("div", { class: "controls" }, pick("Type", "type", m.types), pick("Channel", "channel", m.channels)),
    table, el("div", { class: "grid side" }, daily.node, typeTable), commandsTable(), lettersTable());
}

function commandsTable() {
  if (!data.commands.length) return null;
  const who = [...new Set(data.commands.map((c) => c[0]))];
  const rank = new Map(data.messages.agents.map((n, i) => [n, i]));
  who.sort((a, b) => (rank.get(a) ?? 1e9) - (rank.get(b) ?? 1e9));
  const totals = new Map();
  const cells = new Map();
  for (const [firm, tool, refused, count] of data.commands) {
    totals.set(tool, (totals.get(tool) || 0) + count);
    const cell = cells.get(tool + ">" + firm) || [0, 0];
    cell[0] += count;
    if (refused) cell[1] += count;
    cells.set(tool + ">" + firm, cell);
  }
  const tools = [...totals.keys()].sort((a, b) => totals.get(b) - totals.get(a));
  const show = ([given, refused]) => [number(given), refused ? el("span", { class: "refused" }, " (" + number(refused) + ")") : null];
  const sum = (tool) => who.reduce(([a, b], firm) => {
    const [x, y] = cells.get(tool + ">" + firm) || [0, 0];
    return [a + x, b + y];
  }, [0, 0]);
  return el("div", {}, el("h3", {}, "Commands"),
    el("p", { class: "note" }, "What firms told the exchange; refused ones in brackets."),
    scroller(el("table", { class: "matrix" }, el("caption", {}, "Commands by firm"),
      el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "corner" }, "command"),
        who.map((f) => el("th", { scope: "col", class: "number" }, firmCell(f))), el("th", { scope: "col", class: "number" }, "total"))),
      el("tbody", {}, tools.map((tool) => el("tr", {}, el("th", { scope: "row" }, words(tool)),
        who.map((f) => el("td", { class: "number" }, cells.has(tool + ">" + f) ? show(cells.get(tool + ">" + f)) : "")),
        el("td", { class: "number total" }, show(sum(tool)))))))));
}

function lettersTable() {
  const m = data.messages;
  if (!m.letters.length) return null;
  const state = { firm: "all", words: "" };
  const names = [...new Set(m.letters.flatMap((l) => [l[1], l[2]]))].sort();
  const table = pagedTable("Letters", [
    { title: "When", text: (l) => clock(l[0]) },
    { title: "From", node: (l) => el("span", { class: "firm" }, firmCell(l[1])) },
    { title: "To", node: (l) => el("span", { class: "firm" }, firmCell(l[2])) },
    { title: "Letter", wide: true, node: (l) => el("div", { class: "letter" }, l[3] ? el("strong", {}, l[3]) : null, el("p", {}, l[4])) },
  ], 10, "No letter fits.");
  const show = () => table.show(m.letters.filter((l) => (state.firm === "all" || l[1] === state.firm || l[2] === state.firm)
    && (!state.words || (l[3] + " " + l[4]).toLowerCase().includes(state.words))));
  show();
  const more = m.letter_count > m.letters.length
    ? el("p", { class: "note" }, "The first " + number(m.letters.length) + " of " + number(m.letter_count) + " letters.") : null;
  return el("div", {}, el("h3", {}, "Letters"), more, el("div", { class: "controls" },
    select("Firm", [["all", "all"], ...names.map((n) => [n, n])], (v) => { state.firm = v; show(); }).node,
    searchBox("Containing", (v) => { state.words = v; show(); }).node), table.node);
}

// ---- events ----

// One of a kind, and many.
const KINDS = {
  bankruptcy: ["bankruptcy", "bankruptcies"], lost: ["lost shipment", "lost shipments"],
  agent_error: ["agent error", "agent errors"], turn_missed: ["missed turn", "missed turns"],
  mail_refused: ["refused mail", "refused mail"], refused: ["refused command", "refused commands"],
  delayed: ["delayed shipment", "delayed shipments"], return: ["return", "returns"], spoilage: ["spoilage", "spoilage"],
};
const kindName = (kind, many) => (KINDS[kind] ? KINDS[kind][many ? 1 : 0] : words(kind));
const EVERYDAY = ["refused", "delayed", "return", "spoilage"];
const GRAVE = ["bankruptcy", "lost", "agent_error", "turn_missed", "mail_refused"];

function eventsSection() {
  const { counts, rows, most } = data.incidents;
  const kinds = [...Object.keys(KINDS), ...Object.keys(counts).filter((k) => !(k in KINDS))];
  // Everyday matters start switched off, so that a bankruptcy is not lost among refused bids.
  const on = new Set(kinds.filter((k) => !EVERYDAY.includes(k)));
  const state = { firm: "all", words: "" };
  const firms = [...new Set(rows.map((r) => r[2]).filter(Boolean))].sort();
  const table = pagedTable("Events", [
    { title: "When", text: (r) => clock(r[0]) },
    { title: "Kind", node: (r) => el("span", { class: "kind" + (GRAVE.includes(r[1]) ? " grave" : "") }, kindName(r[1])) },
    { title: "What happened", wide: true, text: (r) => r[3] },
  ], 25, "Nothing of this kind happened.");
  const show = () => table.show(rows.filter((r) => on.has(r[1])
    && (state.firm === "all" || r[2] === state.firm || r[3].includes(state.firm))
    && (!state.words || r[3].toLowerCase().includes(state.words))));
  const chips = kinds.map((kind) => {
    const count = counts[kind] || 0;
    const chip = el("button", { type: "button", class: "chip", "aria-pressed": String(on.has(kind)), disabled: !count },
      kindName(kind, true), el("span", { class: "count" }, number(count)));
    chip.addEventListener("click", () => {
      if (on.has(kind)) on.delete(kind);
      else on.add(kind);
      chip.setAttribute("aria-pressed", String(on.has(kind)));
      show();
    });
    return chip;
  });
  const cut = kinds.filter((k) => (counts[k] || 0) > most).map((k) => kindName(k, true));
  show();
  return section("events", "Events",
    "What went wrong or stopped: bankruptcies, lost shipments, failures of agents, refusals.",
    el("div", { class: "chips", role: "group", "aria-label": "Kinds of events" }, chips),
    el("div", { class: "controls" },
      select("Firm", [["all", "all"], ...firms.map((f) => [f, f])], (v) => { state.firm = v; show(); }).node,
      searchBox("Containing", (v) => { state.words = v; show(); }).node),
    cut.length ? el("p", { class: "note" }, "Of " + cut.join(" and ") + " the list holds the first " + number(most) + ".") : null,
    table.node);
}

// ---- ledger ----

function ledgerSection() {
  const ledger = data.ledger;
  const nodes = [];
  if (ledger.books.length) {
    const holder = el("div");
    const show = (name) => holder.replaceChildren(trialBalance(ledger.books.find((b) => b.name === name)));
    const pick = select("Books of", ledger.books.map((b) => [b.name, b.name]), show);
    show(ledger.books[0].name);
    nodes.push(el("h3", {}, "Trial balance"), el("div", { class: "controls" }, pick.node), holder);
  }
  if (ledger.listed && ledger.entries.length) nodes.push(el("h3", {}, "Entries"), entriesTable());
  return section("ledger", "Ledger",
    counted(ledger.count, "entry", "entries") + "; each debits one account of a firm and "
      + "credits another by the same amount, in whole micro-dollars.",
    nodes);
}

function trialBalance(book) {
  const decimals = Math.max(2, ...book.accounts.flatMap(([, d, c]) => [microDecimals(d), microDecimals(c)]));
  const amount = (v) => (v ? micros(v, decimals) : "");
  const sums = book.accounts.reduce(([d, c], row) => [d + row[1], c + row[2]], [0, 0]);
  const equal = sums[0] === sums[1];
  const sides = book.accounts.reduce(([d, c], row) => [d + Math.max(0, row[1] - row[2]), c + Math.max(0, row[2] - row[1])], [0, 0]);
  const verdict = el("p", { class: equal ? "verdict good" : "verdict bad", role: "status" },
    equal ? "Debits and credits are equal: " + micros(sums[0]) + "."
      : "Debits " + micros(sums[0]) + " and credits " + micros(sums[1]) + " differ by " + micros(sums[0] - sums[1]) + ".");
  const table = el("table", { class: "balance" }, el("caption", {}, "Trial balance of " + book.name),
    el("thead", {}, el("tr", {}, ["Account", "Debits", "Credits", "Debit balance", "Credit balance"].map((t, i) =>
      el("th", { scope: "col", class: i ? "number" : null }, t)))),
    el("tbody", {}, book.accounts.map(([account, d, c]) => el("tr", {}, el("th", { scope: "row" }, words(account)),
      [d, c, Math.max(0, d - c), Math.max(0, c - d)].map((v) => el("td", { class: "number" }, amount(v)))))),
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "total"),
      [...sums, ...sides].map((v) => el("td", { class: "number total" }, micros(v, decimals))))));
  return el("div", {}, verdict, scroller(table));
}

function entriesTable() {
  const { firms, accounts, references, entries } = data.ledger;
  const state = { firm: "all", account: "all", words: "", from: 0, to: Math.max(0, data.last_day) };
  const sum = el("p", { class: "note", role: "status" });
  const table = pagedTable("Ledger entries", [
    { title: "When", text: (e) => clock(e[0]) },
    { title: "Firm", node: (e) => el("span", { class: "firm" }, firmCell(firms[e[1]])) },
    { title: "Debit", text: (e) => words(accounts[e[2]]) },
    { title: "Credit", text: (e) => words(accounts[e[3]]) },
    { title: "Amount", numeric: true, sort: (e) => e[4], text: (e) => micros(e[4]) },
    { title: "Reference", text: (e) => references[e[5]] || NOTHING },
  ], 50, "No entry fits.");
  function show() {
    const found = entries.filter((e) => e[0] >= state.from * 1440 && e[0] < (state.to + 1) * 1440
      && (state.firm === "all" || e[1] === +state.firm)
      && (state.account === "all" || e[2] === +state.account || e[3] === +state.account)
      && (!state.words || references[e[5]].toLowerCase().includes(state.words)));
    table.show(found);
    const total = found.reduce((s, e) => s + e[4], 0);
    let text = counted(found.length, "entry", "entries") + ", " + micros(total) + " in all";
    if (state.account !== "all") {
      const debit = found.reduce((s, e) => s + (e[2] === +state.account ? e[4] : 0), 0);
      const credit = found.reduce((s, e) => s + (e[3] === +state.account ? e[4] : 0), 0);
      text += "; " + words(accounts[state.account]) + ": debits " + micros(debit) + ", credits " + micros(credit);
    }
    sum.textContent = text + ".";
  }
  const order = accounts.map((a, i) => [i, words(a)]).sort((a, b) => (a[1] < b[1] ? -1 : 1));
  const range = dayRange("Days", 0, Math.max(0, data.last_day), (from, to) => {
    state.from = from;
    state.to = to;
    show();
  });
  range.update();
  return el("div", {}, el("div", { class: "controls" },
    select("Firm", [["all", "all"], ...firms.map((f, i) => [i, f])], (v) => { state.firm = v; show(); }).node,
    select("Account", [["all", "all"], ...order], (v) => { state.account = v; show(); }).node,
    searchBox("Reference", (v) => { state.words = v; show(); }).node, range.node), sum, table.node);
}
