// The page: the day, the chosen item and the address that names both.

const NEWS_EVERY = 2000;
const AHEAD = 200;
const TABS = [["waterfall", "Waterfall"], ["graph", "Graph"], ["log", "Log"]];
const STATES = { finished: "finished", running: "running", resumable: "stopped, can be resumed" };

let current = null; // the day that is shown
let picked = null;
let tab = "waterfall";
let wanted = 0; // the latest day that was asked for

function colourAgents() {
  assignColours(data.agents.filter((a) => a.role !== "exchange").map((a) => ({ name: a.name, role: a.role })));
}

colourAgents();

const strip = dayStrip((day) => openDay(day));
const fall = waterfall((item) => pick(item));
const graph = messageGraph((name) => searchFor("agent:" + name));
const log = dayLog((entry) => pickById(entry.id, entry.day));
const state = el("span", { class: "state" });
const facts = el("span", {});
const problem = el("p", { class: "notice bad", role: "alert", hidden: true });
const says = el("p", { class: "says", "aria-live": "polite" });
const panel = el("aside", { id: "details", tabindex: "-1", "aria-label": "Details of what is chosen" });
const panes = { waterfall: fall.node, graph: graph.node, log: log.node };

const tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "Views of the day" }, TABS.map(([name, text]) =>
  el("button", { type: "button", role: "tab", id: "tab-" + name, "aria-controls": "pane-" + name, onclick: () => showTab(name) }, text)));
tabs.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  const names = TABS.map(([name]) => name);
  showTab(names[(names.indexOf(tab) + step + names.length) % names.length]);
  document.getElementById("tab-" + tab).focus();
});

function fail(error) {
  problem.textContent = capital(error.message) + ".";
  problem.hidden = false;
}

function showTab(name, quiet) {
  tab = name;
  for (const [one] of TABS) {
    const button = document.getElementById("tab-" + one);
    button.setAttribute("aria-selected", one === name);
    button.tabIndex = one === name ? 0 : -1;
    document.getElementById("pane-" + one).hidden = one !== name;
  }
  showIn(name);
  if (!quiet) writeAddress();
}

// A view that cannot be seen is brought up to date when it can.
const stale = new Set();

function showIn(name) {
  if (!current || !stale.delete(name)) return;
  ({ waterfall: fall, graph, log })[name].show(current);
  if (name === "waterfall") fall.pick(picked);
  if (name === "log") log.pick(picked, true);
}

async function openDay(day, quiet) {
  if (!data.days.length) return false;
  const last = data.days.length - 1;
  wanted = Math.max(0, Math.min(last, Number.isFinite(day) ? Math.round(day) : 0));
  const asked = wanted;
  strip.show(asked);
  let found;
  try {
    found = await loadDay(asked);
  } catch (error) {
    fail(error);
    return false;
  }
  if (asked !== wanted) return false;
  problem.hidden = true;
  if (current !== found) {
    current = found;
    if (picked && picked.day !== asked) pick(null, true);
    TABS.forEach(([name]) => stale.add(name));
    showIn(tab);
  }
  document.documentElement.dataset.day = asked;
  setTimeout(() => {
    if (asked === wanted && asked + 1 < data.days.length) loadDay(asked + 1).catch(() => {}); // likely to be next
  }, AHEAD);
  if (!quiet) writeAddress();
  return true;
}

async function pickById(id, day) {
  let item;
  try {
    item = await findItem(id, Math.max(0, Math.min(data.days.length - 1, day ?? wanted)));
  } catch (error) {
    fail(error);
    return;
  }
  if (!item) {
    fail(new Error("nothing in this run is called " + visible(id)));
    return;
  }
  if (await openDay(item.day, true)) pick(current.find(item.id), false);
}

function choose(item) {
  if (item.kind && current && item.day === current.day && current.find(item.id)) pick(item);
  else pickById(item.id, item.day);
}

function pick(item, quiet) {
  picked = item && current ? current.find(item.id) || item : null;
  fall.pick(picked);
  log.pick(picked, tab === "log");
  showPanel();
  if (!quiet) writeAddress();
}

function showPanel() {
  if (!picked) {
    says.replaceChildren();
    panel.replaceChildren(el("div", { class: "hint" },
      el("h2", {}, "Nothing chosen"),
      el("p", {}, "Choose a box in the waterfall or a line of the log to see how it came about, what came of it, and everything it says."),
      el("p", {}, el("kbd", {}, "/"), " search   ", el("kbd", {}, "\u2190"), " ", el("kbd", {}, "\u2192"), " along a lane   ", el("kbd", {}, "["), " ", el("kbd", {}, "]"), " days   ", el("kbd", {}, "Esc"), " nothing chosen")));
    document.documentElement.dataset.picked = "";
    return;
  }
  says.replaceChildren(el("strong", {}, visible(picked.id)), " ", sentence(picked), " ", el("a", { href: "#details", onclick: (event) => {
    event.preventDefault();
    panel.scrollIntoView({ block: "start" });
    panel.focus({ preventScroll: true });
  } }, "Details"));
  panel.replaceChildren(
    el("p", { class: "brand" }, picked.kind, el("span", {}, when(picked.minute))),
    el("h2", { class: tone(picked.flag) || null }, headline(picked, current)),
    storyOf(picked, current, choose),
    el("h3", { class: "rule" }, "Details"),
    detailsOf(picked, current, choose, searchFor));
  panel.scrollTop = 0;
  document.documentElement.dataset.picked = picked.id;
}

function searchFor(text) {
  log.search(text);
  showTab("log");
}

// ---- the address ----

let written = location.hash;

function writeAddress() {
  if (!current) return;
  const parts = [["day", current.day], ["id", picked && picked.id], ["view", tab === "waterfall" ? null : tab],
    ["time", fall.wall ? "wall" : null], ["q", log.box.value.trim() || null]];
  written = "#" + parts.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([key, value]) => key + "=" + encodeURIComponent(value)).join("&");
  history.replaceState(null, "", written);
}

async function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  // A server tells the days of a long run bit by bit; the one that is asked for may be to come.
  while (data.served && Number(asked.get("day")) >= data.days.length && (await hearNews()).more);
  const view = asked.get("view");
  if (asked.get("time") === "wall") fall.setWall(true);
  if (asked.get("q")) log.search(asked.get("q"));
  if (TABS.some(([name]) => name === view)) showTab(view, true);
  const day = asked.has("day") ? Number(asked.get("day")) : undefined;
  if (asked.get("id")) await pickById(asked.get("id"), Number.isFinite(day) ? day : 0);
  if (!picked || !asked.get("id")) await openDay(Number.isFinite(day) ? day : 0, true);
}

addEventListener("hashchange", () => {
  if (location.hash !== written) readAddress();
});

// ---- news of a run that goes on ----

function showState() {
  const { run } = data;
  state.className = "state " + run.state;
  state.textContent = STATES[run.state] || run.state;
  const sums = data.days.reduce((total, day) => total.map((n, place) => n + day[place]), Array(FIGURES).fill(0));
  facts.textContent = [
    data.days.length < run.days ? number(data.days.length) + " of " + counted(run.days, "day", "days") : counted(run.days, "day", "days"),
    counted(sums[0], "message", "messages"), counted(sums[2], "deal", "deals"), ...wrongs(sums), "seed " + run.seed,
  ].join(" \u00b7 ");
  document.documentElement.dataset.days = data.days.length;
}

let heard = Promise.resolve();

// One after the other, or the same days would be heard of twice.
function hearNews() {
  heard = heard.catch(() => {}).then(takeNews);
  return heard;
}

async function takeNews() {
  const news = await newsSince(data.days.length);
  data.run.state = news.state;
  if (!data.days.length && news.days.length) {
    data.agents.push(...news.agents);
    colourAgents();
    problem.hidden = true;
  }
  data.days.push(...news.days);
  if (news.days.length) strip.show(wanted);
  showState();
  return news;
}

async function keepListening() {
  let wait = NEWS_EVERY;
  try {
    const news = await hearNews();
    if (!current && data.days.length) await readAddress();
    if (news.more) wait = 0;
    else if (news.state !== "running") return;
  } catch (error) {
    fail(error);
    wait = NEWS_EVERY * 5;
  }
  setTimeout(keepListening, wait);
}

// ---- the start ----

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target instanceof HTMLInputElement && event.target.type !== "range";
  if (event.key === "Escape") {
    if (typing) event.target.blur();
    else pick(null);
  } else if (typing || event.target instanceof HTMLSelectElement) return;
  else if (event.key === "/") log.box.focus();
  else if (event.key === "[") openDay(wanted - 1);
  else if (event.key === "]") openDay(wanted + 1);
  else return;
  event.preventDefault();
});

function begin() {
  fall.onWall = () => writeAddress();
  log.onText = (text) => { if (text.trim()) showTab("log"); else writeAddress(); };
  document.getElementById("top").append(
    el("div", { class: "head" },
      el("div", {}, el("p", { class: "brand" }, "Hanse", el("span", {}, "trace of a run")), el("h1", {}, data.run.name),
        el("p", { class: "facts" }, state, facts)),
      el("div", { class: "finder", role: "search" }, log.box)),
    problem);
  document.getElementById("days").append(strip.node);
  document.getElementById("page").append(
    el("div", { class: "views" }, tabs, TABS.map(([name]) =>
      el("section", { id: "pane-" + name, role: "tabpanel", "aria-labelledby": "tab-" + name }, panes[name])), says),
    panel);
  showState();
  showPanel();
  showTab("waterfall", true);
  strip.show(0);
  if (!data.days.length) problem.textContent = "No day is complete yet.", problem.hidden = false;
  readAddress().then(() => { document.documentElement.dataset.ready = "yes"; });
  if (data.served) setTimeout(keepListening, 50);
}

begin();
