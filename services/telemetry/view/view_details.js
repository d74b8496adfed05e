// Everything that is known of the chosen item.

// JSON with its parts coloured; all of it is set as text.
function prettyJson(value, indent = "") {
  const parts = [];
  const inner = indent + "  ";
  if (value === null || typeof value !== "object") {
    return [el("span", { class: "json-" + (value === null ? "null" : typeof value) }, visible(JSON.stringify(value)))];
  }
  const entries = Array.isArray(value) ? value.map((one) => [null, one]) : Object.entries(value);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (!entries.length) return [open + close];
  parts.push(open + "\n");
  entries.forEach(([key, one], i) => {
    parts.push(inner);
    if (key !== null) parts.push(el("span", { class: "json-key" }, visible(JSON.stringify(key))), ": ");
    parts.push(...prettyJson(one, inner), i < entries.length - 1 ? ",\n" : "\n");
  });
  parts.push(indent + close);
  return parts;
}

const MOST_JSON = 20000;

function bodyBlock(item) {
  let content;
  try {
    content = item.body.length > MOST_JSON ? [item.body.slice(0, MOST_JSON) + "\n\u2026 " + counted(item.body.length - MOST_JSON, "more character", "more characters")] : prettyJson(JSON.parse(item.body));
  } catch (error) {
    content = [item.body];
  }
  return el("div", { class: "copyable" }, el("pre", { tabindex: "0", "aria-label": "Body" }, content), copyButton(item.body, "Copy"));
}

function copyButton(text, label) {
  const button = el("button", { type: "button", class: "copy" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch (error) {
      button.textContent = "Not allowed here";
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
}

function wallMoment(day, ticks) {
  return new Date(day.base + ticks / 1e4).toISOString().replace("T", " ").replace("Z", " UTC");
}

function pairsOf(item, day, choose, search) {
  const link = (id, near = item.day) => el("button", { type: "button", class: "link", onclick: () => choose({ id, day: near }) }, visible(id));
  const agent = (name) => (name ? el("button", { type: "button", class: "link", title: "Search for " + visible(name), onclick: () => search("agent:" + name) }, visible(name)) : LEAGUE);
  const rows = [["Id", el("code", {}, visible(item.id))], ["When", when(item.minute) + (item.kind === "message" || item.kind === "event" ? ", round " + item.round : "")]];
  if (item.kind === "message") {
    rows.push(["From", agent(item.sender)], ["To", agent(item.recipient)], ["Type", visible(words(item.type))], ["Channel", visible(item.channel)]);
    if (!item.handled) rows.push(["Handled", el("span", { class: "bad" }, "never: it could not be delivered, or was refused")]);
  } else {
    rows.push([item.kind === "event" ? "Recorded by" : "Agent", agent(item.agent)]);
    if (item.subject) rows.push(["About", agent(item.subject)]);
    if (item.kind !== "wake") rows.push([item.kind === "event" ? "Kind" : "Span", visible(words(item.type))]);
  }
  if (item.cause) rows.push(["Because of", link(item.cause)]);
  const parent = item.span && item.span.parent_id && day.find("span " + item.span.parent_id);
  if (parent) rows.push(["Within", link(parent.id)]);
  if (item.span) rows.push(["Kind", item.span.kind.toLowerCase()], ["Trace", el("code", {}, item.span.trace_id)], ["Status", item.span.status]);
  if (item.began != null) {
    rows.push(["Began", wallMoment(day, item.began)], ["Took", duration(item.took)]);
    if (item.kind === "message") rows.push(["Waited", duration(Math.max(0, item.began - item.arrived))]);
    if (item.host) rows.push(["Host", item.host]);
  }
  const effects = day.effects(item);
  if (effects.length) {
    rows.push(["Brought about", el("span", {}, effects.slice(0, 12).flatMap((one, i) => [i ? ", " : "", link(one.id)]), effects.length > 12 ? " and " + number(effects.length - 12) + " more" : "")]);
  }
  return el("dl", { class: "pairs" }, rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function spanExtras(item) {
  const facts = factsOf(item);
  return ["attributes", "events", "links"].filter((part) => facts[part] && Object.keys(facts[part]).length).length ? "Attributes, events and links" : "Body";
}

function detailsOf(item, day, choose, search) {
  return el("div", { class: "facts-of" },
    pairsOf(item, day, choose, search),
    item.kind === "wake" ? null : [el("h3", {}, item.kind === "span" ? spanExtras(item) : "Body"), bodyBlock(item)]);
}
