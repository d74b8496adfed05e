// The waterfall: a lane for each agent, a box for each message that it handled, own spans upon it.

const LANES = { low: 24, lowWithOwn: 34, high: 60, together: 0.5 }; // pixels; few lanes share half the window
const HEAD = 26;

function waterfall(choose) {
  let day = null;
  let layout = null;
  let picked = null;
  let wall = false;
  let alone = false;
  let view = [0, 1];
  let root = null; // where the trace begins that is shown alone
  let dragged = null;
  let pointer = null;
  let tall = LANES.low;

  const canvas = el("canvas", {
    tabindex: "0", role: "application",
    "aria-label": "Waterfall. Left and right go from span to span, up and down from agent to agent; plus, minus and 0 zoom.",
  });
  const spacer = el("div", { class: "lanes" });
  const stage = el("div", { class: "stage" }, canvas, spacer);
  const tip = bubble(canvas);
  const note = el("p", { class: "note" });
  const legend = el("div");

  const gutter = () => (canvas.clientWidth < 560 ? 84 : 148);
  const room = () => Math.max(10, canvas.clientWidth - gutter() - 6);
  const xOf = (at) => gutter() + ((at - view[0]) / (view[1] - view[0])) * room();
  const timeAt = (x) => view[0] + ((x - gutter()) / room()) * (view[1] - view[0]);
  const topOf = (place) => HEAD + place * tall - stage.scrollTop;

  // Own spans share the lower half of their lane's boxes, a level for each that they lie in.
  function ownStrip(lane, box) {
    const high = (tall - 10) / 2 / lane.levels;
    return { y: tall / 2 + Math.min(box.depth, lane.levels - 1) * high, high };
  }

  function drawOwn(brush, lane, box, top, free) {
    const { item } = box;
    const left = Math.max(xOf(box.from), gutter());
    const right = xOf(box.to);
    if (right < gutter() || (right <= free && item !== picked && !item.flag)) return Math.max(free, right);
    const { y, high } = ownStrip(lane, box);
    const wide = Math.max(2, right - left - (right - left > 4 ? 1 : 0));
    brush.fillStyle = paint("--own");
    brush.fillRect(left, top + y, wide, high - (lane.levels > 1 ? 1 : 0));
    if (item.flag) {
      brush.fillStyle = paint("--" + tone(item.flag));
      brush.fillRect(left, top + y + high - 3, wide, 3);
    }
    outline(brush, item, left, top + y, wide, high);
    if (wide > 46 && high >= 12) {
      brush.fillStyle = paint("--paper");
      brush.fillText(fitted(brush, visible(item.type), wide - 8), left + 4, top + y + high / 2 + 0.5);
    }
    return right;
  }

  function outline(brush, item, left, y, wide, high) {
    if (item !== picked && !(pointer && pointer.item === item)) return;
    brush.strokeStyle = paint("--ink");
    brush.lineWidth = item === picked ? 2 : 1;
    brush.strokeRect(left - 1, y - 1.5, Math.max(4, wide + 2), high + 3);
  }

  function drawBox(brush, lane, box, top, free) {
    const { item } = box;
    const left = Math.max(xOf(box.from), gutter());
    const right = xOf(box.to);
    if (box.wait < box.from && right - xOf(box.wait) > 1) {
      const waited = Math.max(gutter(), xOf(box.wait));
      brush.globalAlpha = 0.22;
      brush.fillStyle = channelPaint(item.channel);
      brush.fillRect(waited, top + tall / 2 - 2, Math.max(0, left - waited), 4);
      brush.globalAlpha = 1;
    }
    const wide = Math.max(1, right - left - (right - left > 3 ? 1 : 0));
    if (right < gutter() || (right <= free && item !== picked && !item.flag)) return Math.max(free, right);
    brush.fillStyle = item.kind === "message" ? channelPaint(item.channel) : paint("--soft");
    brush.globalAlpha = item.kind === "message" ? 0.82 : 0.45;
    brush.fillRect(left, top + 5, wide, tall - 10);
    brush.globalAlpha = 1;
    if (item.flag) {
      brush.fillStyle = paint("--" + tone(item.flag));
      brush.fillRect(left, top + tall - 6, Math.max(2, wide), 3);
    }
    outline(brush, item, left, top + 5, wide, tall - 10);
    if (wide > 46) {
      brush.fillStyle = paint("--paper");
      brush.fillText(fitted(brush, visible(words(item.type)), wide - 8), left + 4, top + (lane.levels ? tall / 4 + 3 : tall / 2 + 0.5));
    }
    return right;
  }

  function drawMark(brush, mark, top) {
    const x = xOf(mark.at);
    if (x < gutter()) return;
    const { item } = mark;
    brush.fillStyle = paint(item.flag ? "--" + tone(item.flag) : ["deal", "payment", "consumer_sale"].includes(item.type) ? "--good" : "--soft");
    brush.strokeStyle = paint(item === picked ? "--ink" : "--paper");
    brush.lineWidth = item === picked ? 2 : 1.5;
    const y = top + tall / 2;
    brush.beginPath();
    if (item.flag) brush.moveTo(x, y - 6), brush.lineTo(x + 6, y + 5), brush.lineTo(x - 6, y + 5);
    else brush.moveTo(x, y - 6), brush.lineTo(x + 5, y), brush.lineTo(x, y + 6), brush.lineTo(x - 5, y);
    brush.closePath();
    brush.fill();
    brush.stroke();
  }

  // Lines from what brought the chosen message about, and to what came of it.
  function drawLinks(brush, places) {
    if (!picked || picked.kind !== "message" || !layout.boxOf.has(picked)) return;
    const pairs = [...(picked.source ? [[picked.source, picked]] : []), ...day.effects(picked).filter((one) => one.kind === "message").map((one) => [picked, one])];
    brush.strokeStyle = paint("--ink");
    brush.lineWidth = 1.4;
    for (const [from, to] of pairs) {
      const [start, end] = [layout.boxOf.get(from), layout.boxOf.get(to)];
      if (!start || !end) continue;
      const [x, y] = [xOf(start.to), topOf(places.get(from.recipient)) + tall / 2];
      const [u, v] = [xOf(end.from), topOf(places.get(to.recipient)) + tall / 2];
      const bend = Math.max(12, Math.abs(u - x) / 2);
      brush.beginPath();
      brush.moveTo(x, y);
      brush.bezierCurveTo(x + bend, y, u - bend, v, u, v);
      brush.stroke();
      brush.beginPath();
      brush.arc(u, v, 2.5, 0, 7);
      brush.fillStyle = paint("--ink");
      brush.fill();
    }
  }

  const redraw = painter(canvas, (brush, width, height) => {
    if (!layout) return;
    brush.textBaseline = "middle";
    const first = Math.max(0, Math.floor(stage.scrollTop / tall));
    const last = Math.min(layout.lanes.length, Math.ceil((stage.scrollTop + height - HEAD) / tall));
    const places = new Map(layout.lanes.map((lane, place) => [lane.agent, place]));
    const ticks = layout.axis.ticks(view[0], view[1], room());
    brush.save();
    brush.beginPath();
    brush.rect(0, HEAD, width, height - HEAD);
    brush.clip();
    brush.fillStyle = paint("--grid");
    for (const tick of ticks) if (xOf(tick.at) >= gutter()) brush.fillRect(Math.round(xOf(tick.at)), HEAD, 1, height);
    for (let place = first; place < last; place++) brush.fillRect(0, topOf(place) + tall - 1, width, 1);
    brush.save();
    brush.beginPath();
    brush.rect(gutter(), HEAD, width, height - HEAD);
    brush.clip();
    for (let place = first; place < last; place++) {
      const lane = layout.lanes[place];
      const [low, end] = boxesBetween(lane.boxes, view[0], view[1]);
      let free = -1;
      for (let i = low; i < end; i++) free = drawBox(brush, lane, lane.boxes.items[i], topOf(place), free);
      const taken = [];
      const [begin, stop] = boxesBetween(lane.own, view[0], view[1]);
      for (let i = begin; i < stop; i++) {
        const box = lane.own.items[i];
        taken[box.depth] = drawOwn(brush, lane, box, topOf(place), taken[box.depth] ?? -1);
      }
      for (const mark of lane.marks) if (mark.at >= view[0] && mark.at <= view[1]) drawMark(brush, mark, topOf(place));
    }
    drawLinks(brush, places);
    brush.restore();
    for (let place = first; place < last; place++) {
      const { agent } = layout.lanes[place];
      brush.fillStyle = colour(agent) === "var(--soft)" ? paint("--soft") : agentPaint(agent);
      brush.fillRect(0, topOf(place) + 8, 4, tall - 16);
      brush.fillStyle = paint("--ink");
      brush.fillText(fitted(brush, visible(agent) || LEAGUE, gutter() - 18), 10, topOf(place) + tall / 2);
    }
    brush.restore();
    brush.fillStyle = paint("--soft");
    let free = gutter();
    for (const tick of ticks) {
      const x = xOf(tick.at);
      if (x < free - 0.5) continue;
      const wide = brush.measureText(tick.text).width;
      if (x + wide > width) break;
      brush.fillText(tick.text, x, HEAD / 2);
      free = x + wide + 12;
    }
    brush.fillStyle = paint("--rule");
    brush.fillRect(0, HEAD - 1, width, 1);
  });

  function zoom(factor, around = (view[0] + view[1]) / 2) {
    const [start, end] = layout.axis.extent;
    const size = Math.min(end - start, Math.max((end - start) / 20000, (view[1] - view[0]) * factor));
    const share = (around - view[0]) / (view[1] - view[0]);
    move(around - share * size, size);
  }

  function move(from, size = view[1] - view[0]) {
    const [start, end] = layout.axis.extent;
    const place = Math.max(start, Math.min(end - size, from));
    view = [place, place + size];
    redraw();
  }

  function itemAt(x, y) {
    const place = Math.floor((y - HEAD + stage.scrollTop) / tall);
    const lane = y >= HEAD && layout ? layout.lanes[place] : null;
    if (!lane || x < gutter()) return null;
    const mark = lane.marks.find((one) => Math.abs(xOf(one.at) - x) <= 6);
    if (mark) return mark.item;
    const down = y - topOf(place);
    const onStrip = lane.own.items.length && down >= tall / 2;
    const found = onStrip && nearest(lane.own, x, (box) => {
      const { y: upper, high } = ownStrip(lane, box);
      return down >= upper && down < upper + high + 1;
    });
    return found || nearest(lane.boxes, x, () => true);
  }

  function nearest(boxes, x, fits) {
    const [low, end] = boxesBetween(boxes, timeAt(x - 3), timeAt(x + 3));
    let best = null;
    for (let i = low; i < end; i++) {
      const box = boxes.items[i];
      if (!fits(box)) continue;
      const away = Math.max(xOf(box.from) - x, x - xOf(box.to), 0);
      if (away <= 3 && (!best || away < best.away || (away === best.away && box.to - box.from < best.box.to - best.box.from))) best = { box, away };
    }
    return best ? best.box.item : null;
  }

  function hoverLines(item) {
    const who = item.kind === "message" ? visible(item.sender + " \u2192 " + item.recipient) : visible(item.agent) || LEAGUE;
    const when = timeOfDay(item.minute) + (item.began != null ? ", " + (item.arrived != null && item.began > item.arrived ? "waited " + duration(item.began - item.arrived) + ", " : "") + "took " + duration(item.took) : "");
    return [sentence(item), who + " \u00b7 " + when, item.kind === "wake" ? "" : visible(item.id)].filter(Boolean);
  }

  // The neighbour of the chosen box: the next in its lane, or the nearest in another lane.
  function neighbour(step, lanes) {
    const all = layout.lanes;
    let place = all.findIndex((lane) => lane.all.some((box) => box.item === picked));
    if (place < 0) return all.flatMap((lane) => lane.all)[0] || null;
    const here = all[place].all.findIndex((box) => box.item === picked);
    if (!lanes) return all[place].all[here + step] || null;
    const { from } = all[place].all[here];
    do place += lanes; while (all[place] && !all[place].all.length);
    return all[place] ? all[place].all.reduce((best, box) => (Math.abs(box.from - from) < Math.abs(best.from - from) ? box : best)) : null;
  }

  stage.addEventListener("scroll", redraw, { passive: true });
  canvas.addEventListener("wheel", (event) => {
    if (!layout) return;
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY * 0.004), timeAt(pointIn(canvas, event)[0]));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(view[0] + ((event.deltaX || event.deltaY) / room()) * (view[1] - view[0]));
    else return;
    event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    dragged = { x: event.clientX, y: event.clientY, from: view[0], top: stage.scrollTop, far: false };
    if (event.pointerType !== "touch") canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!layout) return;
    if (dragged) {
      const away = event.clientX - dragged.x;
      dragged.far = dragged.far || Math.abs(away) > 4 || Math.abs(event.clientY - dragged.y) > 4;
      if (dragged.far) {
        move(dragged.from - (away / room()) * (view[1] - view[0]));
        if (event.pointerType !== "touch") stage.scrollTop = dragged.top - (event.clientY - dragged.y);
        tip.hide();
        return;
      }
    }
    const [x, y] = pointIn(canvas, event);
    const item = itemAt(x, y);
    canvas.style.cursor = item ? "pointer" : "grab";
    if (item) tip.show(x, y, hoverLines(item));
    else tip.hide();
    if ((pointer && pointer.item) !== item) redraw();
    pointer = { item };
  });
  canvas.addEventListener("pointerup", (event) => {
    const clicked = dragged && !dragged.far;
    dragged = null;
    const item = clicked && layout ? itemAt(...pointIn(canvas, event)) : null;
    if (item) choose(item);
  });
  canvas.addEventListener("pointercancel", () => { dragged = null; });
  canvas.addEventListener("pointerleave", () => {
    pointer = null;
    tip.hide();
    redraw();
  });
  canvas.addEventListener("dblclick", (event) => zoom(0.4, timeAt(pointIn(canvas, event)[0])));
  canvas.addEventListener("keydown", (event) => {
    if (!layout || event.ctrlKey || event.metaKey || event.altKey) return;
    const size = view[1] - view[0];
    if (event.key === "+" || event.key === "=") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else if (event.key === "0") fit();
    else if (event.shiftKey && event.key === "ArrowLeft") move(view[0] - size / 4);
    else if (event.shiftKey && event.key === "ArrowRight") move(view[0] + size / 4);
    else if (event.key.startsWith("Arrow")) {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      const box = neighbour(...step);
      if (box) choose(box.item);
    } else return;
    event.preventDefault();
  });

  function fit() {
    view = [...layout.axis.extent];
    if (root) {
      const ends = layout.lanes.flatMap((lane) => [...lane.all.flatMap((box) => [box.wait, box.to]), ...lane.marks.map((mark) => mark.at)]);
      const [from, to] = [Math.min(...ends), Math.max(...ends)];
      const margin = (to - from) * 0.02 || (view[1] - view[0]) * 0.05;
      if (ends.length) view = [Math.max(view[0], from - margin), Math.min(view[1], to + margin)];
    }
    redraw();
  }

  function rootOf(item) {
    return item && (item.kind !== "span" || item.source) && item.day === day.day ? day.path(item)[0] : null;
  }

  function build() {
    root = alone ? rootOf(picked) : null;
    layout = spanLayout(day, wall && day.timed, root ? day.chain(root) : null);
    tall = Math.max(layout.lanes.some((lane) => lane.levels) ? LANES.lowWithOwn : LANES.low, Math.min(LANES.high, Math.floor(LANES.together * innerHeight / Math.max(1, layout.lanes.length))));
    spacer.style.height = HEAD + layout.lanes.length * tall + "px";
    stage.style.height = Math.min(HEAD + layout.lanes.length * tall + 2, Math.max(300, Math.min(620, innerHeight * 0.62))) + "px";
    fit();
    legend.replaceChildren(waterfallLegend(layout, day));
    note.textContent = alone && !root ? "Nothing is chosen on this day, so that no trace can be shown alone: this is the whole day."
      : wall && !day.timed ? "This day has no wall times: it was played without tracing. It is shown by virtual time."
      : layout.wall ? "A box is the handling of a message; the thin line before it, its waiting. Time since the day's first message."
        : "A box is the handling of a message. Within a minute of virtual time only the order of rounds is real; idle hours are left out.";
    if (layout.lanes.some((lane) => lane.levels)) note.textContent += " In its lower half are spans of your own.";
    redraw();
  }

  function bring() {
    const place = layout.lanes.findIndex((lane) => lane.all.some((box) => box.item === picked) || lane.marks.some((mark) => mark.item === picked));
    if (place < 0) return;
    const lane = layout.lanes[place];
    const box = lane.all.find((one) => one.item === picked) || { from: lane.marks.find((one) => one.item === picked).at };
    if (box.from < view[0] || box.from > view[1]) move(box.from - (view[1] - view[0]) / 2);
    const top = place * tall;
    if (top < stage.scrollTop) stage.scrollTop = top;
    else if (top + tall > stage.scrollTop + stage.clientHeight - HEAD) stage.scrollTop = top + tall + HEAD - stage.clientHeight;
  }

  const times = choice("Time", [["virtual", "virtual"], ["wall", "wall"]], (value) => setWall(value === "wall"));
  const scopes = choice("Show", [["day", "whole day"], ["chain", "chosen trace"]], (value) => {
    alone = value === "chain";
    if (day) build();
  });
  let onWall = () => {};

  function setWall(value) {
    wall = value;
    times.querySelector("input[value=" + (value ? "wall" : "virtual") + "]").checked = true;
    if (day) {
      build();
      if (picked) bring();
    }
    onWall(value);
  }

  return {
    node: el("div", { class: "waterfall" },
      el("div", { class: "controls" }, times, scopes,
        el("span", { class: "zoom" },
          el("button", { type: "button", "aria-label": "Zoom in", onclick: () => layout && zoom(0.5) }, "+"),
          el("button", { type: "button", "aria-label": "Zoom out", onclick: () => layout && zoom(2) }, MINUS),
          el("button", { type: "button", onclick: () => layout && fit() }, "Fit"))),
      el("div", { class: "plot" }, stage, tip.node), legend, note),
    show(shown) {
      day = shown;
      pointer = null;
      tip.hide();
      build();
    },
    pick(item) {
      picked = item;
      if (!day) return;
      if (alone && rootOf(picked) !== root) build();
      if (item && item.day === day.day) bring();
      redraw();
    },
    setWall,
    get wall() { return wall; },
    set onWall(listener) { onWall = listener; },
  };
}
