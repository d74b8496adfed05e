// What happened, as a sentence, in the words and the money of the command line (inspection/words.py).
// What monitors, containment and policies do, and what firms tell each other, comes with the day.

const LONGEST = 160; // characters of somebody's text that a line quotes

// Characters that cannot be seen or turn others round are shown as what they are, so that no name
// can pass for another.
function visible(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

// Facts that must be there: a sentence that lacks one is told in another way.
function needed(facts) {
  return new Proxy(facts, {
    get(found, key) {
      if (!Object.hasOwn(found, key)) throw new TypeError("no " + String(key));
      return found[key];
    },
  });
}

function numeric(value) {
  if (typeof value !== "number") throw new TypeError("no number");
  return value;
}

// Halves of a cent go to the even cent, as on the command line.
function decimals(value, places) {
  const tie = places === 2 && Number.isInteger(value * 8) && Math.abs(value * 200) % 2 === 1;
  const text = (tie ? 2 * Math.round(value * 50) / 100 : numeric(value)).toFixed(places);
  const [whole, rest] = text.split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? "." + rest : "");
}

const dollars = (value) => decimals(value, 2) + " $";
const perKilo = (value) => decimals(value, 2) + " $/kg";

function quantity(value) {
  const [whole, rest] = String(numeric(value)).split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? "." + rest : "");
}

const goods = (item) => itemName(String(item));
const kilograms = (f, key = "qty") => quantity(f[key]) + " kg of " + goods(f.item);

function short(text) {
  const characters = Array.from(String(text).replace(/\s+/g, " ").trim());
  return characters.length > LONGEST ? characters.slice(0, LONGEST - 1).join("") + "\u2026" : characters.join("");
}

const quoted = (text) => "\u201c" + short(text) + "\u201d";

function spaced(value) {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return "[" + value.map(spaced).join(", ") + "]";
  return "{" + Object.entries(value).map(([key, one]) => JSON.stringify(key) + ": " + spaced(one)).join(", ") + "}";
}

function details(facts) {
  return short(Object.entries(facts).map(([key, value]) => key + " " + (typeof value === "string" ? value : spaced(value))).join(", "));
}

function terms(o) {
  const days = o.payment_terms_days ?? 30;
  return days === 30 ? "" : ", to be paid within " + counted(days, "day", "days");
}

const DIRECTIONS = { incoming: "the bids on its goods", outgoing: "its own bids" };

// Of each command f, what must be there, and o, what may be missing.
const COMMANDS = {
  produce_item: (f) => "orders " + quantity(f.quantity) + " kg of " + goods(f.item_id) + " to be grown",
  roast: (f) => "roasts " + quantity(f.qty_kg) + " kg of " + goods(f.green_item_id),
  post_listing: (f, o) => "lists " + quantity(f.qty) + " kg of " + goods(f.item_id) + " at " + perKilo(f.asking_price) + terms(o),
  cancel_listing: (f) => "takes " + f.listing_id + " off the market",
  make_offer: (f, o) => "bids " + perKilo(f.offered_price) + " for " + quantity(f.qty) + " kg on " + f.listing_id + terms(o)
    + (o.message ? ", saying " + quoted(o.message) : ""),
  withdraw_offer: (f) => "takes its bid " + f.offer_id + " back",
  reject_offer: (f, o) => "rejects " + f.offer_id + (o.reason ? ": " + quoted(o.reason) : ""),
  accept_offer: (f) => "accepts " + f.offer_id,
  pay_invoice: (f, o) => "pays " + f.invoice_id + (o.amount == null ? "" : " in part: " + dollars(o.amount)),
  return_shipment: (f, o) => "sends " + quantity(f.quantity_kg) + " kg of " + f.invoice_id + " back" + (o.reason ? ": " + quoted(o.reason) : ""),
  set_retail_price: (f) => (f.price_per_unit ? "sets the shop price of " + goods(f.item_id) + " to " + perKilo(f.price_per_unit) : "takes " + goods(f.item_id) + " off the shelf"),
  send_message: (f) => "writes to " + f.recipient + ": " + quotedLetter(f),
  order_abroad: (f) => "orders " + quantity(f.qty) + " kg of " + goods(f.item_id) + " abroad for at most " + perKilo(f.max_price),
  wait_for_next_day: () => "waits for the next day",
  view_listings: (f, o) => "looks at what is on offer" + (o.item_id ? " of " + goods(o.item_id) : ""),
  view_offers: (f, o) => "looks at " + (ownEntry(DIRECTIONS, String(o.direction)) || "bids on both sides") + (o.status === "all" ? ", also the settled ones" : ""),
  view_deals: () => "looks at its deals",
  view_payables: () => "looks at its bills",
  view_receivables: () => "looks at what it is owed",
  view_trial_balance: () => "looks at its books",
  view_market_aggregate: () => "looks at what consumers bought",
  view_consumer_sales: () => "looks at its sales to consumers",
  view_messages: () => "looks at its letters",
  read_message: (f) => "reads " + f.message_id,
};

// Title and text are cut one by one.
function quotedLetter(f) {
  return "\u201c" + short(f.title) + ": " + short(f.body) + "\u201d";
}

const REASONS = {
  morning: "begins its day",
  "offer received": "is told that a bid has come",
  "offer accepted": "is told that its bid was accepted",
  "offer rejected": "is told that its bid was rejected",
  "invoice paid": "is told that an invoice was paid",
  message: "is told that a letter has come",
  delivery: "is told that goods have arrived",
  "goods came back": "is told that goods came back",
  "shipment news": "is told of a shipment that is late or lost",
  "shipment came back": "is told that a shipment came back",
  "production ready": "is told that its harvest is in",
  "roast ready": "is told that its roast is ready",
  "sold abroad": "is told that goods were sold abroad",
  "bought abroad": "is told that its order abroad was filled",
  "order abroad refused": "is told that its order abroad was refused",
};

function attempt(tell, facts, ...about) {
  try {
    return tell ? tell(needed(facts), facts, ...about) : null;
  } catch (error) {
    return null;
  }
}

function commandWords(tool, args, newId) {
  const text = attempt(ownEntry(COMMANDS, tool), args) ?? (tool + " " + details(args)).trimEnd();
  return newId ? text + " (" + newId + ")" : text;
}

function actionWords(facts) {
  const args = facts.args !== null && typeof facts.args === "object" && !Array.isArray(facts.args) ? facts.args : {};
  const text = commandWords(String(facts.tool), args, facts.new_id);
  if (facts.status !== "error") return text;
  const code = String(facts.error_code);
  const meaning = ownEntry(data.refusals, code);
  return text + ": refused, " + (meaning ? meaning + " (" + code + ")" : code);
}

function shipment(f) {
  const what = kilograms(f) + " (" + f.deal + ")";
  const way = "from " + f.seller + " to " + f.buyer;
  if (f.outcome === "delivered") return what + " arrive at " + f.buyer + " from " + f.seller;
  return f.outcome === "delayed" ? what + " " + way + " are a day late" : what + " " + way + ": " + f.outcome;
}

function trade(f, o, e) {
  if (f.direction === "refused") {
    return e.subject + " gets " + dollars(f.amount) + " back for " + f.order + ", unfilled" + (o.reason ? ": " + short(o.reason) : "");
  }
  const [verb, way] = f.direction === "export" ? ["sells", "to"] : ["buys", "from"];
  return e.subject + " " + verb + " " + kilograms(f) + " " + way + " " + f.town + " for " + dollars(f.amount) + " (" + f.order + ")";
}

const EVENTS = {
  deal: (f) => f.deal + ": " + f.seller + " sells " + f.buyer + " " + kilograms(f) + " at " + perKilo(f.unit_price) + " = " + dollars(f.total_price),
  delivery: shipment,
  invoice: (f) => f.issuer + " bills " + f.payer + " " + dollars(f.amount) + " (" + f.invoice + "), due on day " + f.due_day,
  payment: (f) => f.payer + " pays " + f.issuer + " " + dollars(f.amount) + " (" + f.invoice + ")",
  return: (f, o, e) => e.subject + " sends back " + kilograms(f) + " of " + f.deal + " for " + dollars(f.credit) + (o.reason ? ": " + quoted(o.reason) : ""),
  consumer_sale: (f, o) => f.shop + " sells consumers " + kilograms(f) + " at " + perKilo(f.unit_price) + ": " + dollars(f.revenue)
    + (Number.isInteger(o.elastic_qty) && o.elastic_qty > f.qty ? "; they wanted " + o.elastic_qty + " kg" : ""),
  spoilage: (f) => kilograms(f) + " worth " + dollars(f.value) + " spoil at " + f.firm,
  trade,
  bankruptcy: (f) => f.firm + " is bankrupt; its equity is " + dollars(f.equity),
  day_end: (f) => "day " + f.day + " ends",
  agent_error: (f, o, e) => (o.agent || e.subject) + " fails: " + short(o.detail || o.error),
  turn_missed: (f, o, e) => (o.agent || e.subject) + " misses its turn: " + short(o.detail || f.reason),
  mail_refused: (f, o, e) => "the mailbox of " + e.subject + " is full: " + quantity(f.count) + " messages refused",
  stray_command: (f, o, e) => e.subject + " sends a command out of turn (" + f.message + ")",
  stray_trade: (f, o, e) => e.subject + " sends a trade that is not its to send (" + f.message + ")",
};

const list = (kg, none, tell = () => "") => Object.entries(kg).map(([item, qty]) => quantity(qty) + " kg of " + goods(item) + tell(item)).join(", ") || none;

const MESSAGES = {
  join: (f, o, m) => m.sender + " joins " + m.recipient,
  turn: (f, o, m) => ("reason" in o ? m.recipient + " " + (ownEntry(REASONS, String(o.reason)) || "has a turn because of: " + o.reason) : "it is " + m.recipient + "'s turn again"),
  turn_missed: (f, o, m) => m.sender + " gives no answer: " + short(o.detail || f.reason),
  letter: (f, o, m) => m.recipient + " gets a letter from " + f.author + ": " + quotedLetter(f) + " (" + f.letter_id + ")",
  text: (f, o, m) => m.sender + " says to " + m.recipient + ": " + quoted(f.text),
  stock_report: (f, o, m) => m.sender + " reports to " + m.recipient + ": " + list(f.position, "no stock"),
  purchase_orders: (f, o, m) => m.sender + " tells " + m.recipient + " to buy " + list(o.kg ?? {}, "nothing"),
  town_quote: (f, o, m) => m.sender + " tells " + m.recipient + " what " + f.town + " has on offer: "
    + list(Object.fromEntries(Object.entries(o.kg ?? {}).filter(([, qty]) => qty)), "nothing",
      (item) => (Object.hasOwn(o.asks ?? {}, item) ? " from " + perKilo(o.asks[item]) : "")),
  trade_order: (f, o, m) => m.sender + " asks " + m.recipient + " for " + kilograms(f) + " for " + f.town + ", at most " + perKilo(f.max_price) + " (" + f.order + ")",
  trade_fill: (f, o, m) => m.sender + " tells " + m.recipient + " that " + f.town + " has sold " + kilograms(f) + " for " + dollars(numeric(f.total_micros) / 1e6) + " (" + f.order + ")",
  trade_refused: (f, o, m) => m.sender + " tells " + m.recipient + " that " + f.order + " cannot be filled: " + short(f.reason),
};

function spanWords(item) {
  if (!item.own) return LEAGUE + ": " + item.type;
  const ms = item.took / 1e4;
  const facts = factsOf(item);
  const error = [facts.error, facts.attributes?.["error.type"]].find((text) => typeof text === "string" && !["", "error", "_OTHER"].includes(text));
  return item.agent + " thinks: span " + short(item.type) + " " + decimals(ms, ms >= 1 ? 1 : 3) + " ms"
    + (item.flag ? ": ERROR" + (error ? ", " + short(error) : "") : "");
}

function eventWords(item, facts) {
  if (item.type === "action") return item.subject + " " + actionWords(facts);
  const text = attempt(ownEntry(EVENTS, item.type), facts, item);
  return text ?? (item.subject + ": " + item.type + " " + details(facts)).replace(/^: /, "").trimEnd();
}

function messageWords(item, facts) {
  if (item.outcome) return item.sender + " " + actionWords(factsOf(item.outcome));
  const text = attempt(ownEntry(MESSAGES, item.type), facts, item);
  if (text !== null) return text;
  if (ownEntry(COMMANDS, item.type)) return item.sender + " " + commandWords(item.type, facts);
  return (item.sender + " sends " + item.recipient + " " + item.type + " " + details(facts)).trimEnd();
}

function told(item) {
  if (item.prose) return item.prose; // it came with the day
  if (item.kind === "wake") return item.agent + " wakes";
  if (item.kind === "span") return spanWords(item);
  return item.kind === "event" ? eventWords(item, factsOf(item)) : messageWords(item, factsOf(item));
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

function when(minute) {
  return "day " + Math.floor(minute / 1440) + " " + timeOfDay(minute);
}

// Ticks are units of 100 ns.
function duration(ticks) {
  const ns = ticks * 100;
  if (ns < 1e3) return number(ns) + " ns";
  if (ns < 1e6) return number(ns / 1e3, ns < 1e4 ? 1 : 0) + " \u00b5s";
  if (ns < 1e9) return number(ns / 1e6, ns < 1e8 ? 2 : 0) + " ms";
  return number(ns / 1e9, 2) + " s";
}
