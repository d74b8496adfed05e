// The page: what the run is, how to repeat it, and the sections in their order.

function header() {
  const run = data.run;
  const states = {
    finished: "finished", running: "still running when this page was written",
    resumable: "stopped, can be resumed",
  };
  const facts = [
    "seed " + run.seed,
    counted(run.days, "day", "days"),
    "rules \u201c" + run.rules + "\u201d",
    counted(data.firm_count, "firm", "firms"),
    "placement " + run.placement + (run.hosts > 1 ? ", " + run.hosts + " hosts" : ""),
  ];
  const done = run.state === "finished" ? null
    : data.last_day < 0 ? "No day is complete yet."
      : "This page covers days 0 to " + number(data.last_day) + " of " + number(run.days) + ".";
  document.getElementById("top").append(...[
    el("p", { class: "brand" }, "Hanse", el("span", {}, "report of a run")),
    el("h1", {}, run.name),
    el("p", { class: "facts" }, el("span", { class: "state " + run.state }, states[run.state] || run.state),
      facts.map((f) => el("span", {}, f))),
    done ? el("p", { class: "notice" }, done) : null,
    data.notes.map((n) => el("p", { class: "notice" }, n)),
    headline(),
    el("div", { class: "folds" }, rerun(), versions()),
  ].flat().filter(Boolean));
}

function headline() {
  const consumers = data.trade.rows.filter((r) => data.trade.nodes[r[2]].role === "consumers");
  const deals = data.trade.rows.filter((r) => data.trade.nodes[r[2]].role !== "consumers");
  const commands = data.commands.reduce((s, c) => s + c[3], 0);
  const refused = data.commands.reduce((s, c) => s + (c[2] ? c[3] : 0), 0);
  const sum = (rows, i) => rows.reduce((s, r) => s + r[i], 0);
  const figures = [
    [money(sum(consumers, 5), 0), "spent by consumers on " + number(sum(consumers, 4)) + " kg"],
    [number(sum(deals, 6)), "deals between firms, " + number(sum(deals, 4)) + " kg"],
    [number(commands), "commands, " + number(refused) + " refused"],
    [number(data.run.counts.messages), "messages"],
    [number(data.run.counts.ledger), "ledger entries"],
  ];
  if (data.run.seconds) figures.push([number(data.run.seconds, 1) + " s", "of wall time"]);
  return el("dl", { class: "headline" }, figures.map(([value, text]) =>
    el("div", {}, el("dt", {}, text), el("dd", {}, value))));
}

function rerun() {
  const run = data.run;
  const file = run.name + ".toml";
  const steps = [];
  if (run.state === "resumable") {
    steps.push(el("p", {}, "To go on from day " + (data.last_day + 1) + ":"), copyable("hanse resume " + run.folder, "Command"));
  }
  if (run.parent) {
    steps.push(el("p", {}, "This run branched off the run ", el("code", {}, run.parent.run), " after its day " + run.parent.day
      + ". With that run's folder for RUN, and --set for each key in which the run file below differs from that run's:"), copyable("hanse branch RUN --day " + run.parent.day, "Command"));
  } else {
    steps.push(el("p", {}, "Save the run file below as ", el("code", {}, file), ", then:"), copyable("hanse run " + file, "Command"));
  }
  if (run.log_sha256 && run.state === "finished" && !run.parent) {
    steps.push(el("p", {}, "The same version of Hanse gives the same event log, whatever the placement; its digest is then again ",
      el("code", { class: "digest" }, run.log_sha256), "."));
  }
  if (run.parent) steps.push(el("p", {}, "Its run file:"));
  steps.push(copyable(run.run_file, "Run file"));
  return el("details", {}, el("summary", {}, "How to run it again"), steps);
}

function versions() {
  const run = data.run;
  const rows = [
    ["Run", run.id], ["Folder", run.folder], ["Started", plainMoment(run.created_at)],
    ["Hanse", run.hanse_version], ["Git revision", run.git_revision],
    ...Object.entries(run.versions || {}).map(([name, version]) => [capital(name), version]),
    ["Event log (log_sha256)", run.log_sha256], ["Ledger (ledger_sha256)", run.ledger_sha256],
    ["Stored", number(run.counts.messages) + " messages, " + number(run.counts.events) + " events, "
      + number(run.counts.ledger) + " ledger entries"],
    ...Object.entries(run.counters).map(([name, count]) => [capital(words(name)), number(count)]),
  ];
  return el("details", {}, el("summary", {}, "Versions and digests"),
    el("dl", { class: "pairs" }, rows.map(([name, value]) =>
      el("div", {}, el("dt", {}, name), el("dd", {}, value === null || value === undefined ? NOTHING : value)))));
}

function start() {
  assignColours([
    ...data.firms.map((f) => ({ name: f.firm, role: f.role })),
    ...(data.aggregated ? [] : data.trade.nodes.filter((n) => n.role === "consumers")),
  ]);
  // Means and groups stand for a role, so they take its hue.
  const groups = [
    ...data.lines.filter((l) => !l.firm).map((l) => ({ name: l.label, role: l.role })),
    ...data.trade.nodes.filter((n) => !colours.has(n.name)),
  ];
  groups.forEach(({ name, role }) => colours.set(name, "oklch(var(--group) 0.13 " + (HUES[role] ?? 205) + ")"));
  header();
  const trade = data.trade.rows.length ? tradeSection() : null;
  const parts = data.last_day < 0 ? [] : [
    resultsSection(), moneySection(), pricesSection(), stockSection(), trade && trade.node,
    messagesSection(), eventsSection(), ledgerSection(),
  ].filter(Boolean);
  document.getElementById("page").append(...parts);
  document.getElementById("contents").append(...parts.map((part) =>
    el("a", { href: "#" + part.id }, part.querySelector("h2").textContent)));
  drawCharts();
  if (trade) trade.draw();
  document.documentElement.dataset.ready = "yes";
}

start();
