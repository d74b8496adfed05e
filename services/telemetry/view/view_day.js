// A day of the run: its messages, events and recorded spans as items, and what came of which.

// What a table says of a key that may be anything, "constructor" too.
function ownEntry(table, key) {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

// As in flags.py, where they are defined; what is neither nothing nor an error stands between.
const FLAGS = { none: 0, refused: 1, lost: 2, late: 3, stray: 4, bankrupt: 5, error: 6 };

function tone(flag) {
  return flag === FLAGS.error ? "bad" : flag ? "warn" : "";
}

function factsOf(item) {
  if (item.facts === undefined) {
    try {
      const found = JSON.parse(item.body);
      item.facts = found !== null && typeof found === "object" && !Array.isArray(found) ? found : {};
    } catch (error) {
      item.facts = {};
    }
  }
  return item.facts;
}

function messagesOf(chunk) {
  const { names, messages: m, timings: t } = chunk;
  const made = [];
  for (let i = 0; i < m.minute.length; i++) {
    const sender = names[m.sender[i]];
    const timed = t && t.began[i] !== null;
    const cause = m.cause[i];
    made.push({
      kind: "message", id: sender + "#" + m.number[i], day: chunk.day, minute: m.minute[i], round: m.round[i],
      sender, recipient: names[m.recipient[i]], channel: names[m.channel[i]], type: names[m.type[i]],
      // Causes come before what they bring about, so they are there already.
      source: typeof cause === "number" ? made[cause] : null,
      cause: typeof cause === "number" ? made[cause].id : cause,
      body: m.body[i], facts: undefined, flag: 0, handled: true, prose: chunk.told.messages[i],
      outcome: null, // the event that says what became of a command
      host: timed ? names[t.host[i]] : null,
      arrived: timed ? t.arrived[i] : null, began: timed ? t.began[i] : null, took: timed ? t.took[i] : null,
    });
  }
  for (const place of chunk.unhandled) made[place].handled = false;
  return made;
}

function eventsOf(chunk, messages) {
  const { names, events: e } = chunk;
  return e.minute.map((minute, i) => {
    const agent = names[e.agent[i]];
    const cause = e.cause[i];
    const source = typeof cause === "number" ? messages[cause] : null;
    const type = names[e.kind[i]];
    const flag = e.flag[i];
    if (source && flag > source.flag) source.flag = flag;
    const event = {
      kind: "event", id: agent + "!" + e.ordinal[i], day: chunk.day, minute, round: e.round[i], agent, type,
      subject: names[e.subject[i]], source, cause: source ? source.id : cause, body: e.body[i], facts: undefined, flag,
      prose: chunk.told.events[i],
    };
    if (source && type === "action") source.outcome = event;
    return event;
  });
}

function spansOf(chunk, messages) {
  return chunk.spans.map((s) => {
    const source = s.within === null ? null : messages[s.within];
    return {
      kind: "span", id: "span " + s.span_id, day: chunk.day, minute: s.minute, agent: s.agent, type: s.name,
      round: source ? source.round + 1 : 0, source, cause: source ? source.id : null, body: s.body, facts: undefined,
      flag: s.flag, began: s.start, took: s.end - s.start, span: s, own: s.agent !== "",
    };
  });
}

class Day {
  constructor(chunk) {
    this.day = chunk.day;
    this.base = chunk.base;
    this.messages = messagesOf(chunk);
    this.events = eventsOf(chunk, this.messages);
    this.spans = spansOf(chunk, this.messages);
    this.wakes = chunk.wakes.map(([agent, minute, host, began, took]) => ({
      kind: "wake", id: "wake " + agent + "@" + minute, day: chunk.day, minute, round: 0, agent, type: "wake",
      source: null, cause: null, body: "{}", facts: {}, flag: 0, host, began, took, arrived: began,
    }));
    this.timed = chunk.timings !== null || this.spans.length > 0;
    this.layouts = {};
  }

  // Everything in the order of the log: by minute and round, messages before what they bring about.
  get items() {
    if (!this._items) {
      this._items = [...this.messages, ...this.events, ...this.spans]
        .sort((a, b) => a.minute - b.minute || a.round - b.round);
    }
    return this._items;
  }

  find(id) {
    if (!this._byId) this._byId = new Map([...this.wakes, ...this.items].map((item) => [item.id, item]));
    return this._byId.get(id) || null;
  }

  // What came of an item on this day: its own spans and events, then the messages that were sent.
  effects(item) {
    if (!this._effects) {
      this._effects = new Map();
      for (const one of [...this.spans, ...this.events, ...this.messages]) {
        if (!one.source) continue;
        if (!this._effects.has(one.source)) this._effects.set(one.source, []);
        this._effects.get(one.source).push(one);
      }
    }
    if (item.kind === "wake") {
      return this.items.filter((one) => !one.source && !one.cause && one.minute === item.minute
        && (one.sender || one.agent) === item.agent && one.kind !== "span");
    }
    return this._effects.get(item) || [];
  }

  // From the first message of this day that led here, to the item itself.
  path(item) {
    const path = [item];
    while (path[0].source) path.unshift(path[0].source);
    return path;
  }

  // Everything that came of the item, and the item.
  chain(item) {
    const found = new Set([item]);
    for (const one of found) this.effects(one).forEach((effect) => found.add(effect));
    return found;
  }

  get agents() {
    if (!this._agents) {
      this._agents = new Set();
      for (const m of this.messages) this._agents.add(m.sender).add(m.recipient);
      for (const e of this.events) this._agents.add(e.agent);
      for (const s of this.spans) if (s.own) this._agents.add(s.agent); // the league sends nothing
    }
    return this._agents;
  }
}
