// A list of any length: only the rows that can be seen are elements of the page.

const ROW = 46;

// rowOf(entry) gives a row's content; chosen(entry) is called for the one that the reader picks.
function longList(label, rowOf, chosen) {
  const spacer = el("div", { class: "spacer" });
  const rows = el("div", { class: "rows" });
  const node = el("div", { class: "long", tabindex: "0", role: "listbox", "aria-label": label }, spacer, rows);
  const prefix = "row-" + ++controlCount + "-";
  let entries = [];
  let current = -1;
  let picked = null;

  function draw() {
    const first = Math.max(0, Math.floor(node.scrollTop / ROW) - 6);
    const last = Math.min(entries.length, Math.ceil((node.scrollTop + node.clientHeight) / ROW) + 6);
    spacer.style.height = entries.length * ROW + "px";
    rows.style.transform = "translateY(" + first * ROW + "px)";
    rows.replaceChildren(...entries.slice(first, last).map((entry, i) => {
      const place = first + i;
      const row = el("div", {
        class: "row", role: "option", id: prefix + place, "aria-setsize": entries.length, "aria-posinset": place + 1,
        "aria-selected": entry.id === picked ? "true" : "false", "data-current": place === current ? "yes" : null,
      }, rowOf(entry));
      row.addEventListener("click", () => {
        current = place;
        chosen(entry);
      });
      return row;
    }));
    if (current >= 0) node.setAttribute("aria-activedescendant", prefix + current);
    else node.removeAttribute("aria-activedescendant");
  }

  function show(place) {
    if (place * ROW < node.scrollTop) node.scrollTop = place * ROW;
    else if ((place + 1) * ROW > node.scrollTop + node.clientHeight) node.scrollTop = (place + 1) * ROW - node.clientHeight;
  }

  function centre(place) {
    const top = place * ROW;
    if (top < node.scrollTop || top + ROW > node.scrollTop + node.clientHeight) node.scrollTop = top - node.clientHeight / 2;
  }

  node.addEventListener("scroll", draw, { passive: true });
  new ResizeObserver(draw).observe(node);
  node.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(node.clientHeight / ROW) - 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (step !== undefined && entries.length) {
      current = Math.max(0, Math.min(entries.length - 1, (current < 0 && step > 0 ? -1 : current) + step));
      show(current);
      draw();
    } else if ((event.key === "Enter" || event.key === " ") && entries[current]) {
      chosen(entries[current]);
    } else return;
    event.preventDefault();
  });

  return {
    node,
    fill(found) {
      entries = found;
      current = Math.min(current, entries.length - 1);
      draw();
    },
    restart() {
      current = -1;
      node.scrollTop = 0;
    },
    pick(id, bring) {
      picked = id;
      const place = entries.findIndex((entry) => entry.id === id);
      if (place >= 0) {
        current = place;
        if (bring) centre(place);
      }
      draw();
    },
  };
}
