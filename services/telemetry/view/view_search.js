// The log: the chosen day's items, or what is searched for in all days, one day after the other.

const MOST_FOUND = 5000;
const BREATH = 24; // milliseconds of work between two frames

const KINDS = [
  ["", "everything"], ["message", "messages"], ["talk", "letters and talk"], ["command", "commands"], ["turn", "turns"],
  ["event", "events"], ["deal", "deals"], ["delivery", "deliveries"], ["astray", "lost and late deliveries"], ["invoice", "invoices"], ["payment", "payments"],
  ["return", "returns"], ["consumer_sale", "sales to consumers"], ["span", "recorded spans"],
];

function isOfKind(item, kind) {
  if (kind === "") return true;
  if (kind === "astray") return item.kind === "event" && (item.flag === FLAGS.lost || item.flag === FLAGS.late);
  if (kind === "talk") return item.channel === "comm";
  if (kind === "command") return item.type === "action" || (item.channel === "tool" && item.kind === "message");
  return item.kind === kind || item.type === kind;
}

// What a reader typed: words that must all occur, and agent:NAME for exact names.
function parsedQuery(text) {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean);
  const agents = terms.filter((term) => term.startsWith("agent:")).map((term) => term.slice(6));
  return { agents, words: terms.filter((term) => !term.startsWith("agent:")) };
}

// Flags count what says so itself, as the day's figures do, and not the message that it came of.
function matcher({ text, kind, flags }) {
  const query = parsedQuery(text);
  return (item) => {
    if (flags.size && (item.kind === "message" || !flags.has(item.flag))) return false;
    if (!isOfKind(item, kind)) return false;
    if (query.agents.length) {
      const own = [item.sender, item.recipient, item.agent, item.subject].map((name) => (name || "").toLowerCase());
      if (!query.agents.every((name) => own.includes(name))) return false;
    }
    if (!query.words.length) return true;
    const about = item.kind === "message" ? item.recipient : item.agent + " " + (item.subject || "");
    const hay = (item.id + " " + item.type + " " + words(item.type) + " " + about + " " + item.body).toLowerCase();
    return query.words.every((word) => hay.includes(word));
  };
}

function passBy(day) {
  if (day >= data.days.length) return null;
  const loading = loadDay(day, false);
  loading.catch(() => {}); // whoever waits for it hears of it
  return loading;
}

function dayLog(choose) {
  let day = null;
  let turn = 0; // which search is the latest
  let waiting = null;
  const asked = { text: "", kind: "", flags: new Set() };
  const box = el("input", { type: "search", autocomplete: "off", spellcheck: "false", placeholder: "ids, agents, words; agent:NAME", "aria-label": "Search all days" });
  const only = (flag, text) => {
    const input = el("input", { type: "checkbox" });
    input.addEventListener("change", () => {
      if (input.checked) asked.flags.add(flag);
      else asked.flags.delete(flag);
      run();
    });
    return el("label", { class: "tick" }, input, " " + text);
  };
  const kinds = select("Kind", KINDS, (value) => {
    asked.kind = value;
    run();
  });
  const everywhere = el("input", { type: "checkbox" });
  const bar = el("progress", { max: 1, value: 0, hidden: true, "aria-label": "Search" });
  const status = el("p", { class: "note", role: "status" });
  const list = longList("Log", row, (entry) => choose(entry));

  function row(entry) {
    return [
      el("span", { class: "when" }, (entry.far ? "day " + entry.day + " " : "") + timeOfDay(entry.minute)),
      el("span", { class: "what " + tone(entry.flag) }, entry.text ?? sentence(entry.item)),
      el("span", { class: "which" }, visible(entry.id) + (entry.kind === "message" ? " \u00b7 " + visible(words(entry.type)) : " \u00b7 " + visible(words(entry.kind === "event" ? entry.type : entry.kind)))),
    ];
  }

  // What was found on days that are passed by holds its sentence and no item, so that they can be
  // forgotten; an item of the day that is shown is put into words when its row is seen.
  const entryOf = (item, far) => ({
    id: item.id, day: item.day, minute: item.minute, kind: item.kind, type: item.type, flag: item.flag, far,
    ...(far ? { text: sentence(item) } : { item }),
  });

  const searching = () => asked.text.trim() !== "" || everywhere.checked;

  async function run() {
    const mine = ++turn;
    const matches = matcher(asked);
    list.restart();
    if (!searching()) {
      bar.hidden = true;
      if (!day) return;
      const found = day.items.filter(matches).map((item) => entryOf(item, false));
      list.fill(found);
      status.textContent = counted(found.length, "entry", "entries") + " of day " + day.day
        + (found.length < day.items.length ? ", of " + number(day.items.length) : "") + ".";
      return;
    }
    const found = [];
    let total = 0;
    bar.hidden = false;
    bar.max = data.days.length;
    let since = performance.now();
    let drawn = 0;
    list.fill([]);
    let next = passBy(0);
    for (let at = 0; at < data.days.length; at++) {
      let items;
      try {
        items = (await next).items;
        next = passBy(at + 1); // unpacked while this one is searched
      } catch (error) {
        status.textContent = "Search stopped: " + error.message;
        return;
      }
      if (mine !== turn) return;
      for (const item of items) {
        if (matches(item)) {
          total++;
          if (found.length < MOST_FOUND) found.push(entryOf(item, true));
        }
        if (performance.now() - since > BREATH) {
          await new Promise((done) => setTimeout(done));
          if (mine !== turn) return;
          since = performance.now();
        }
      }
      bar.value = at + 1;
      if (performance.now() - drawn > 120) {
        drawn = performance.now();
        list.fill(found);
        status.textContent = number(total) + " found so far, day " + (at + 1) + " of " + data.days.length + " \u2026";
      }
    }
    list.fill(found);
    bar.hidden = true;
    status.textContent = counted(total, "entry", "entries") + " found in " + counted(data.days.length, "day", "days")
      + (total > found.length ? "; the first " + number(found.length) + " are listed" : "") + ".";
    document.documentElement.dataset.searched = asked.text;
  }

  let onText = () => {};
  box.addEventListener("input", () => {
    asked.text = box.value;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      onText(box.value);
      run();
    }, 180);
  });
  everywhere.addEventListener("change", run);

  return {
    box,
    node: el("div", { class: "log" },
      el("div", { class: "controls" }, kinds.node, only(FLAGS.error, "errors only"), only(FLAGS.refused, "refused"), el("label", { class: "tick" }, everywhere, " all days")),
      status, bar, list.node),
    show(shown) {
      day = shown;
      if (!searching()) run();
    },
    pick(item, bring) { list.pick(item && item.id, bring); },
    search(text) {
      if (box.value !== text) box.value = text;
      asked.text = text;
      run();
    },
    set onText(listener) { onText = listener; },
  };
}
