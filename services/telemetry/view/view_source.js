// Where days come from: chunks inside the page, or the server that has sent it.

const DAYS_KEPT = 6;
const keptDays = new Map();

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

// The script runs before the browser has read the chunks behind it.
async function embeddedChunk(name) {
  let node = document.getElementById("chunk-" + name);
  if (!node && document.readyState === "loading") {
    await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
    node = document.getElementById("chunk-" + name);
  }
  if (!node) throw new Error("this page has no " + name.replace("-", " "));
  return unpacked(node.textContent);
}

async function fetchedChunk(path) {
  let answer;
  try {
    answer = await fetch("data/" + path, { cache: "no-store" });
  } catch (error) {
    throw new Error("the server does not answer; start hanse trace again");
  }
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
  return found;
}

// A day; a search passes by and keeps nothing, so that a long run never fills the memory.
async function loadDay(day, keep = true) {
  const kept = keptDays.get(day);
  if (kept) {
    keptDays.delete(day);
    keptDays.set(day, kept);
    return kept;
  }
  const loading = (data.served ? fetchedChunk("day/" + day) : embeddedChunk("day-" + day)).then((chunk) => new Day(chunk));
  if (keep) {
    keptDays.set(day, loading);
    loading.catch(() => keptDays.delete(day));
    if (keptDays.size > DAYS_KEPT) keptDays.delete(keptDays.keys().next().value);
  }
  return loading;
}

let ordersKept = null;

// For every exchange the orders by the ids of their offers, deals and invoices.
async function loadOrders() {
  if (!ordersKept || ordersKept.days !== data.days.length) {
    const rows = data.served ? await fetchedChunk("orders") : await embeddedChunk("orders");
    const byId = new Map();
    for (const [exchange, offer, ids, days] of rows) {
      const order = { exchange, offer, ids: new Set(ids), days };
      ids.forEach((id) => byId.set(exchange + " " + id, order));
    }
    ordersKept = { days: data.days.length, byId };
  }
  return ordersKept.byId;
}

function newsSince(days) {
  return fetchedChunk("news?from=" + days);
}

// Where an item is: the day that is named, or else the nearest before it, or after it.
async function findItem(id, hint) {
  const last = data.days.length - 1;
  for (let away = 0; away <= last; away++) {
    for (const day of away ? [hint - away, hint + away] : [hint]) {
      if (day < 0 || day > last) continue;
      const found = (await loadDay(day, away === 0)).find(id);
      if (found) return found;
    }
  }
  return null;
}
