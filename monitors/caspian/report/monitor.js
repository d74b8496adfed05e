// The page: what the monitor says in a sentence, and the sections in their order.

function header() {
  const ticks = data.points.length;
  const facts = [
    "seed " + data.seed,
    counted(data.nodes.length, "agent", "agents") + ", " + counted(data.edges.length, "edge", "edges"),
    counted(ticks, "tick", "ticks") + " with traffic",
    data.calibration ? "calibration " + data.calibration : "no calibration",
  ];
  const states = { finished: "finished", running: "still running when this page was written", resumable: "stopped, can be resumed" };
  document.getElementById("top").append(
    el("p", { class: "brand" }, "Hanse", el("span", {}, "what a monitor saw")),
    el("h1", {}, data.name),
    el("p", { class: "facts" }, el("span", { class: "state " + data.state }, states[data.state]), facts.map((f) => el("span", {}, f))),
    el("p", { class: "says" }, summary()),
    ...data.recovery.map((line) => el("p", { class: "says" }, capital(line) + ".")),
    ...data.notes.map((n) => el("p", { class: "notice" }, n)));
}

function start() {
  header();
  const signals = new Signals();
  const web = new Web();
  const parts = [
    el("section", { id: "signals" }, el("h2", {}, "Signals"),
      el("p", { class: "lead" }, "How much of what agents say follows from what they have just heard, tick by tick."),
      signals.node),
    data.nodes.length ? el("section", { id: "graph" }, el("h2", {}, "Graph"),
      el("p", { class: "lead" }, data.alerts.length ? "Who can reach whom, and along which edges the cascade seems to have gone." : "Who can reach whom."), web.node) : null,
    alertsSection(), truthSection(), measuresSection(), lossesSection(),
  ].filter(Boolean);
  document.getElementById("page").append(...parts);
  document.getElementById("contents").append(...parts.map((part) => el("a", { href: "#" + part.id }, part.querySelector("h2").textContent)));
  signals.draw();
  if (data.nodes.length) web.draw();
  let frame = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      if (signals.plot.clientWidth !== signals.width) signals.draw();
      if (data.nodes.length && web.isNarrow() !== web.narrow) web.draw();
    });
  });
  document.documentElement.dataset.ready = "yes";
}

start();
