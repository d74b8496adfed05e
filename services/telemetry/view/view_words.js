// What happened, as a sentence: who, what, how much money.

// Characters that cannot be seen or turn others round are shown as what they are, so that no name
// can pass for another.
function visible(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

function goods(facts) {
  const item = facts.item || facts.item_id || facts.green_item_id;
  const amount = facts.qty ?? facts.quantity ?? facts.qty_kg;
  if (!item) return "";
  return (amount === undefined ? "" : number(amount) + " kg of ") + itemName(String(item));
}

function dollars(value) {
  return typeof value === "number" ? money(value) : String(value ?? NOTHING);
}

function perKilo(value) {
  return typeof value === "number" ? " at " + money(value) + "/kg" : "";
}

function quoted(text, most = 140) {
  const flat = String(text).replace(/\s+/g, " ").trim();
  return "\u201c" + (flat.length > most ? flat.slice(0, most - 1) + "\u2026" : flat) + "\u201d";
}

function anything(facts, most = 160) {
  const parts = Object.entries(facts).map(([key, value]) =>
    words(key) + " " + (typeof value === "string" ? value : JSON.stringify(value)));
  const text = parts.join(", ").replace(/\s+/g, " ");
  return text.length > most ? text.slice(0, most - 1) + "\u2026" : text;
}

const COMMANDS = {
  produce_item: (f) => "orders the making of " + goods(f),
  roast: (f) => "roasts " + goods(f),
  post_listing: (f) => "offers " + goods(f) + " for sale" + perKilo(f.asking_price),
  cancel_listing: (f) => "takes listing " + f.listing_id + " down",
  make_offer: (f) => "offers " + money(f.offered_price) + "/kg for " + number(f.qty) + " kg of listing " + f.listing_id,
  withdraw_offer: (f) => "withdraws offer " + f.offer_id,
  reject_offer: (f) => "rejects offer " + f.offer_id,
  accept_offer: (f) => "accepts offer " + f.offer_id,
  pay_invoice: (f) => "pays invoice " + f.invoice_id,
  return_shipment: (f) => "sends goods of " + (f.deal_id || f.invoice_id || "a deal") + " back",
  set_retail_price: (f) => "asks consumers " + money(f.price_per_unit) + "/kg for " + goods(f),
  send_message: (f) => "writes to " + (f.recipient || f.to || "another firm") + (f.body ? ": " + quoted(f.body) : ""),
  wait_for_next_day: () => "has done for the day",
};

function commandWords(type, facts) {
  const tell = ownEntry(COMMANDS, type);
  if (tell) return tell(facts).trimEnd();
  if (type.startsWith("view_") || type.startsWith("read_")) {
    const details = anything(facts, 80);
    return words(type).replace(/^view/, "looks at").replace(/^read/, "reads") + (details ? " (" + details + ")" : "");
  }
  return words(type) + (Object.keys(facts).length ? ": " + anything(facts) : "");
}

const MESSAGES = {
  turn: (m, f) => m.sender + " gives " + m.recipient + " its turn"
    + (f.reason ? " (" + words(String(f.reason)) + ")" : f.result && f.result !== "success" ? " (last: " + words(String(f.result)) + ")" : ""),
  letter: (m, f) => (f.author || m.sender) + " writes to " + m.recipient + ": " + quoted((f.title ? f.title + ": " : "") + (f.body || "")),
  text: (m, f) => m.sender + " writes to " + m.recipient + ": " + quoted(f.text ?? f.body ?? ""),
  join: (m) => m.sender + " joins " + m.recipient,
};

function outcomeWords(facts) {
  if (facts.status === "error") return ": refused, " + words(String(facts.error_code || "no reason given"));
  return facts.new_id ? " (" + facts.new_id + ")" : "";
}

const OUTCOMES = { delivered: " is delivered", lost: " is lost", delayed: " is a day late" };

const EVENTS = {
  action: (e, f) => (f.status === "error" ? "refused: " : "carried out: ") + e.subject + " " + commandWords(String(f.tool), f.args || {})
    + outcomeWords(f).replace(": refused,", ":"),
  deal: (e, f) => "deal " + f.deal + ": " + f.seller + " sells " + goods(f) + " to " + f.buyer + " for " + dollars(f.total_price) + " (" + money(f.unit_price) + "/kg)",
  delivery: (e, f) => goods(f) + " from " + f.seller + " to " + f.buyer + (ownEntry(OUTCOMES, f.outcome) || " " + words(String(f.outcome))) + " (" + f.deal + ")",
  invoice: (e, f) => "invoice " + f.invoice + ": " + f.payer + " owes " + f.issuer + " " + dollars(f.amount) + " by day " + f.due_day,
  payment: (e, f) => f.payer + " pays " + f.issuer + " " + dollars(f.amount) + " (" + f.invoice + ")",
  return: (e, f) => e.subject + " sends back " + goods(f) + " for " + dollars(f.credit) + (f.reason ? ": " + quoted(f.reason) : ""),
  consumer_sale: (e, f) => f.shop + " sells " + goods(f) + " to consumers for " + dollars(f.revenue),
  spoilage: (e, f) => goods(f) + " worth " + dollars(f.value) + " spoils at " + f.firm,
  bankruptcy: (e, f) => f.firm + " is bankrupt; its equity is " + dollars(f.equity),
  agent_error: (e, f) => (f.agent || e.subject || e.agent) + " failed" + (f.where ? " at " + f.where : "") + ": " + quoted(f.detail || f.error || "error"),
  turn_missed: (e, f) => (f.agent || e.subject) + " missed a turn: " + words(String(f.reason || "")) + (f.detail ? ", " + quoted(f.detail) : ""),
  mail_refused: (e, f) => "the mailbox of " + (e.subject || e.agent) + " was full: " + number(f.count) + " refused",
  undeliverable: (e, f) => "a message to " + (f.recipient || "nobody") + " could not be delivered",
  day_end: (e) => e.agent + " closes for the day",
};

function told(item) {
  const facts = factsOf(item);
  if (item.kind === "wake") return item.agent + " wakes";
  if (item.kind === "span") return (item.agent || "the league") + ": " + item.type;
  if (item.kind === "event") {
    const tell = ownEntry(EVENTS, item.type);
    return tell ? tell(item, facts) : (item.subject || item.agent) + ": " + words(item.type) + (item.body.length > 2 ? ", " + anything(facts) : "");
  }
  const tell = ownEntry(MESSAGES, item.type);
  if (tell) return tell(item, facts);
  if (item.channel === "tool") return item.sender + " " + commandWords(item.type, facts) + (item.outcome ? outcomeWords(factsOf(item.outcome)) : "");
  return item.sender + " sends " + item.recipient + " \u201c" + words(item.type) + "\u201d" + (item.body.length > 2 ? ": " + anything(facts) : "");
}

// A body of an unexpected shape must not cost the reader the page.
function sentence(item) {
  if (item.told === undefined) {
    try {
      item.told = visible(told(item));
    } catch (error) {
      item.told = visible(words(item.type) + ": " + item.body.slice(0, 160));
    }
  }
  return item.told;
}

// For a heading: names stay as they are written.
function headline(item, day) {
  const text = sentence(item);
  return day.agents.has(text.split(/:? /, 1)[0]) ? text : capital(text);
}

function timeOfDay(minute) {
  const inDay = minute % 1440;
  return String(Math.floor(inDay / 60)).padStart(2, "0") + ":" + String(inDay % 60).padStart(2, "0");
}

// Ticks are units of 100 ns.
function duration(ticks) {
  const ns = ticks * 100;
  if (ns < 1e3) return number(ns) + " ns";
  if (ns < 1e6) return number(ns / 1e3, ns < 1e4 ? 1 : 0) + " \u00b5s";
  if (ns < 1e9) return number(ns / 1e6, ns < 1e8 ? 2 : 0) + " ms";
  return number(ns / 1e9, 2) + " s";
}
