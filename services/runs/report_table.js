// Tables: sortable ones, and long ones that show a page at a time.

// columns: {key, title, text(row) or node(row), sort(row), numeric, wide}
function sortableTable(caption, columns, rows, first, tall) {
  let order = first;
  const body = el("tbody");
  const heads = columns.map((column) => {
    const button = el("button", { type: "button" }, column.title);
    button.addEventListener("click", () => {
      const again = order.key === column.key;
      order = { key: column.key, down: again ? !order.down : Boolean(column.numeric) };
      draw();
    });
    return el("th", { scope: "col", class: cellClass(column) }, button);
  });
  function draw() {
    const column = columns.find((c) => c.key === order.key);
    const sign = order.down ? -1 : 1;
    const sorted = rows.slice().sort((a, b) => {
      const [x, y] = [column.sort(a), column.sort(b)];
      if (x === y) return 0;
      if (x === null || x === undefined) return 1; // what is missing goes last either way
      if (y === null || y === undefined) return -1;
      return (x < y ? -1 : 1) * sign;
    });
    body.replaceChildren(...sorted.map((row) => el("tr", {}, columns.map((c, i) =>
      el(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: cellClass(c, row) },
        c.node ? c.node(row) : c.text(row))))));
    heads.forEach((head, i) => {
      const current = columns[i].key === order.key;
      head.setAttribute("aria-sort", current ? (order.down ? "descending" : "ascending") : "none");
    });
  }
  draw();
  return scroller(el("table", { class: "sortable" }, el("caption", {}, caption),
    el("thead", {}, el("tr", {}, heads)), body), tall);
}

function cellClass(column, row) {
  const value = row && column.numeric && column.sort ? column.sort(row) : null;
  const names = [column.numeric ? "number" : "", column.roomy ? "roomy" : "", typeof value === "number" && value < 0 ? "negative" : ""];
  return names.filter(Boolean).join(" ") || null;
}

// Wide tables scroll inside their own box, which the keyboard can reach.
function scroller(table, tall) {
  const box = el("div", { class: "scroller" + (tall ? " tall" : ""), tabindex: "0", role: "region" }, table);
  const caption = table.querySelector("caption");
  box.setAttribute("aria-label", caption ? caption.textContent : "table");
  return box;
}

// A table of many rows: `show(rows)` replaces what is paged through.
function pagedTable(caption, columns, size, emptyText) {
  let rows = [];
  let page = 0;
  const body = el("tbody");
  const where = el("span", { class: "where", role: "status" });
  const buttons = {};
  for (const [name, text, to] of [
    ["first", "First", () => 0],
    ["back", "Previous", () => page - 1],
    ["next", "Next", () => page + 1],
    ["last", "Last", () => Math.ceil(rows.length / size) - 1],
  ]) {
    buttons[name] = el("button", { type: "button", onclick: () => { page = to(); draw(); } }, text);
  }
  const pager = el("div", { class: "pager" }, buttons.first, buttons.back, where, buttons.next, buttons.last);
  function draw() {
    const pages = Math.max(1, Math.ceil(rows.length / size));
    page = Math.min(Math.max(0, page), pages - 1);
    const part = rows.slice(page * size, page * size + size);
    body.replaceChildren(...part.map((row) => el("tr", {}, columns.map((c) =>
      el("td", { class: cellClass(c, row) }, c.node ? c.node(row) : c.text(row))))));
    if (!part.length) {
      body.append(el("tr", {}, el("td", { colspan: columns.length, class: "empty" }, emptyText)));
    }
    where.textContent = rows.length
      ? number(page * size + 1) + "\u2013" + number(page * size + part.length) + " of " + number(rows.length)
      : "0 of 0";
    buttons.first.disabled = buttons.back.disabled = page === 0;
    buttons.last.disabled = buttons.next.disabled = page === pages - 1;
    pager.hidden = rows.length <= size;
  }
  const table = el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, columns.map((c) =>
    el("th", { scope: "col", class: c.numeric ? "number" : c.wide ? "wide" : null }, c.title)))), body);
  return {
    node: el("div", { class: "paged" }, scroller(table), pager),
    show(next) { rows = next; page = 0; draw(); },
  };
}

// A table of numbers with a name for each row and column; the fill of a cell follows its size.
function matrixTable(caption, corner, rowNames, columnNames, value, format, options = {}) {
  let most = 0;
  rowNames.forEach((_, r) => columnNames.forEach((__, c) => { most = Math.max(most, value(r, c) || 0); }));
  const head = (name) => [options.paint === false ? null : swatch(colour(name)), name];
  const sum = (values) => values.reduce((a, b) => a + (b || 0), 0);
  const rows = rowNames.map((name, r) => {
    const values = columnNames.map((_, c) => value(r, c));
    return el("tr", {}, el("th", { scope: "row" }, head(name)),
      values.map((v, c) => {
        const share = most ? Math.round(4 + 46 * Math.sqrt((v || 0) / most)) : 0;
        return el("td", {
          class: "number heat", title: v && options.tell ? options.tell(r, c) : null,
          style: v ? { "--heat": share + "%" } : {},
        }, v ? format(v) : "");
      }),
      el("td", { class: "number total" }, format(sum(values))));
  });
  const totals = columnNames.map((_, c) => sum(rowNames.map((__, r) => value(r, c))));
  const table = el("table", { class: "matrix" }, el("caption", {}, caption),
    el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "corner" }, corner),
      columnNames.map((name) => el("th", { scope: "col", class: "number" }, head(name))),
      el("th", { scope: "col", class: "number" }, "total"))),
    el("tbody", {}, rows),
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "total"),
      totals.map((v) => el("td", { class: "number total" }, format(v))),
      el("td", { class: "number total" }, format(sum(totals))))));
  return scroller(table);
}
