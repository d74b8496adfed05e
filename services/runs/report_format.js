// Data, numbers and elements: what every section of the page is built from.

const data = JSON.parse(document.getElementById("run-data").textContent);

const MINUS = "\u2212";
const NOTHING = "\u2013";

// One format for each number of decimals: making one takes longer than using it a hundred times.
const numberFormats = new Map();

function numberFormat(decimals) {
  if (!numberFormats.has(decimals)) {
    numberFormats.set(decimals, new Intl.NumberFormat("en-US", {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    }));
  }
  return numberFormats.get(decimals);
}

function number(value, decimals = 0) {
  if (value === null || value === undefined) return NOTHING;
  const text = numberFormat(decimals).format(Math.abs(value));
  const zero = Number(text.replace(/,/g, "")) === 0;
  return (value < 0 && !zero ? MINUS : "") + text;
}

function money(value, decimals = 2) {
  if (value === null || value === undefined) return NOTHING;
  const text = number(value, decimals);
  return text.startsWith(MINUS) ? MINUS + "$" + text.slice(1) : "$" + text;
}

// Whole micro-dollars, exactly: cents always, more digits only where there are any.
function micros(value, decimals = microDecimals(value)) {
  const size = Math.abs(value);
  const whole = Math.floor(size / 1e6);
  const rest = String(size - whole * 1e6).padStart(6, "0").slice(0, decimals);
  return (value < 0 ? MINUS : "") + "$" + numberFormat(0).format(whole) + "." + rest;
}

function microDecimals(value) {
  const digits = String(Math.abs(value) % 1e6).padStart(6, "0").replace(/0+$/, "").length;
  return Math.max(2, digits);
}

function counted(count, one, many) {
  return number(count) + " " + (count === 1 ? one : many);
}

const UNITS = {
  money: { full: (v) => money(v), axis: (v, step) => money(v, step < 1 ? 2 : 0) },
  price: { full: (v) => money(v) + "/kg", axis: (v, step) => money(v, step < 1 ? 2 : 0) },
  kg: {
    full: (v) => number(v, Number.isInteger(v) ? 0 : 1) + " kg",
    axis: (v, step) => number(v, step < 1 ? 1 : 0) + " kg",
  },
  count: {
    full: (v) => number(v, Number.isInteger(v) ? 0 : 1),
    axis: (v, step) => number(v, step < 1 ? 1 : 0),
  },
};

function itemName(item) {
  return item.replace(/_kg$/, "").replace(/_/g, " ");
}

function words(key) {
  return key.replace(/_/g, " ");
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function clock(minute) {
  const inDay = minute % 1440;
  const two = (n) => String(n).padStart(2, "0");
  return "day " + Math.floor(minute / 1440) + ", " + two(Math.floor(inDay / 60)) + ":" + two(inDay % 60);
}

function plainMoment(text) {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(text || "");
  if (!match) return text || NOTHING;
  const utc = /(Z|[+-]00:00)$/.test(text) ? " UTC" : "";
  return match[1] + " " + match[2] + utc;
}

const SVG = "http://www.w3.org/2000/svg";

// Text is only ever set as text, so nothing that a run contains is read as markup.
function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "style") Object.entries(value).forEach(([k, v]) => node.style.setProperty(k, v));
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function copyable(text, label) {
  const pre = el("pre", { tabindex: "0", "aria-label": label }, text);
  const button = el("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch (error) {
      // Some browsers refuse the clipboard to local files: mark the text for Ctrl+C instead.
      getSelection().selectAllChildren(pre);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return el("div", { class: "copyable" }, pre, button);
}

let controlCount = 0;

function labelled(text, control) {
  control.id = control.id || "control-" + ++controlCount;
  return el("span", { class: "control" }, el("label", { for: control.id }, text), control);
}

// options: [value, text] pairs
function select(label, options, onchange) {
  const box = el("select", {}, options.map(([value, text]) => el("option", { value }, text)));
  box.addEventListener("change", () => onchange(box.value));
  return { node: labelled(label, box), box };
}

function searchBox(label, oninput) {
  const box = el("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  box.addEventListener("input", () => oninput(box.value.trim().toLowerCase()));
  return { node: labelled(label, box), box };
}

// A choice of a few, as radio buttons that look like one control.
function choice(label, options, onchange) {
  const name = "choice-" + ++controlCount;
  const inputs = options.map(([value, text], i) => {
    const input = el("input", { type: "radio", name, value, checked: i === 0 });
    input.addEventListener("change", () => onchange(value));
    return el("label", {}, input, el("span", {}, text));
  });
  return el("fieldset", { class: "choice" }, el("legend", {}, label), inputs);
}

// ---- colours: a hue for each role, lightness tells the firms of a role apart ----

const HUES = { farmer: 150, roaster: 52, retailer: 262, consumers: 330 };
const LIGHT = { low: 0.45, high: 0.68, only: 0.53 };
const DARK = { low: 0.62, high: 0.84, only: 0.74 };

function shade(role, place, count, range) {
  const hue = HUES[role] === undefined ? 205 : HUES[role];
  const t = count > 1 ? place / (count - 1) : 0.5;
  const lightness = count > 1 ? range.low + (range.high - range.low) * t : range.only;
  const chroma = role in HUES ? 0.135 - 0.02 * t : 0.03;
  return "oklch(" + lightness.toFixed(3) + " " + chroma.toFixed(3) + " " + Math.round(hue + (t - 0.5) * 36) + ")";
}

const colours = new Map();

function assignColours(named) {
  const rules = { light: [], dark: [] };
  const byRole = new Map();
  for (const { name, role } of named) {
    if (!byRole.has(role)) byRole.set(role, []);
    if (!byRole.get(role).includes(name)) byRole.get(role).push(name);
  }
  let index = 0;
  for (const [role, names] of byRole) {
    names.forEach((name, place) => {
      const variable = "--firm-" + index++;
      colours.set(name, "var(" + variable + ")");
      rules.light.push(variable + ":" + shade(role, place, names.length, LIGHT));
      rules.dark.push(variable + ":" + shade(role, place, names.length, DARK));
    });
  }
  document.head.append(
    el("style", {}, ":root{" + rules.light.join(";") + "}",
      "@media (prefers-color-scheme: dark){:root{" + rules.dark.join(";") + "}}"),
  );
}

function colour(name) {
  return colours.get(name) || "var(--soft)";
}

// Items: one hue for plain coffee and one for specialty, green coffee lighter than roasted.
const ITEM_HUES = [205, 345, 110, 285];

function itemColour(item) {
  const families = [...new Set(data.items.map((i) => i.replace(/^(green|roasted)_/, "")))];
  const hue = ITEM_HUES[families.indexOf(item.replace(/^(green|roasted)_/, "")) % ITEM_HUES.length];
  const kind = item.startsWith("green_") ? "green" : "roasted";
  return "oklch(var(--item-" + kind + ") 0.1 " + hue + ")";
}

function swatch(paint) {
  return el("span", { class: "swatch", style: { background: paint }, "aria-hidden": "true" });
}
