// The days of the run as a strip: messages, deals and errors of each, and the slider beneath it.

const STRIP_MARGIN = 8; // half a slider's thumb: its ends are where the first and the last day are drawn
const PLAY_EVERY = 900;
const DEALS = 15; // pixels of the deals' bars, which hang from the line on which the messages' stand

const FIGURES = 10;

// What went wrong, from a day's figures or their sum: errors, and apart from them what is none.
function wrongs([, , , errors, refused, , lost, late, stray, bankrupt]) {
  const others = [[refused, "refused command", "refused commands"], [lost, "lost delivery", "lost deliveries"],
    [late, "late delivery", "late deliveries"], [stray, "stray message", "stray messages"], [bankrupt, "bankruptcy", "bankruptcies"]]
    .filter(([n]) => n).map((about) => counted(...about)).join(", ");
  return [counted(errors, "error", "errors"), ...(others ? [others] : [])];
}

function dayTitle(day) {
  const [messages, , deals, , , spent] = data.days[day];
  return [
    "day " + day,
    counted(messages, "message", "messages"),
    counted(deals, "deal", "deals") + (deals ? ", " + dollars(spent) : ""),
    ...wrongs(data.days[day]),
  ];
}

function dayStrip(goTo) {
  let chosen = 0;
  let playing = null;
  const canvas = el("canvas", { class: "strip", "aria-hidden": "true" });
  const tip = bubble(canvas);
  const slider = el("input", { type: "range", min: 0, max: 0, value: 0, step: 1, "aria-label": "Day" });
  const title = el("output", { class: "day-title", for: "" });
  const before = el("button", { type: "button", "aria-label": "Day before", onclick: () => go(chosen - 1) }, "\u2039");
  const after = el("button", { type: "button", "aria-label": "Day after", onclick: () => go(chosen + 1) }, "\u203a");
  const play = el("button", { type: "button", class: "play", "aria-pressed": "false", onclick: () => (playing ? stop() : start()) }, "\u25b6 Play");

  const count = () => data.days.length;
  const centre = (day, width) => STRIP_MARGIN + (count() > 1 ? (day / (count() - 1)) * (width - 2 * STRIP_MARGIN) : (width - 2 * STRIP_MARGIN) / 2);
  const dayAt = (x, width) => Math.max(0, Math.min(count() - 1, Math.round(((x - STRIP_MARGIN) / (width - 2 * STRIP_MARGIN)) * (count() - 1))));

  const redraw = painter(canvas, (brush, width, height) => {
    const most = (place) => Math.max(1, ...data.days.map((d) => d[place]));
    const [mostMessages, mostDeals] = [most(0), most(2)];
    const step = count() > 1 ? (width - 2 * STRIP_MARGIN) / (count() - 1) : 40;
    const bar = Math.max(1, Math.min(2 * STRIP_MARGIN, step * 0.72));
    const low = height - 8; // errors stand beneath
    const foot = low - DEALS - 3;
    brush.fillStyle = paint("--rule");
    brush.fillRect(0, foot, width, 1);
    data.days.forEach(([messages, , deals, errors], day) => {
      const x = centre(day, width) - bar / 2;
      brush.globalAlpha = day === chosen ? 1 : 0.45;
      brush.fillStyle = paint(day === chosen ? "--accent" : "--soft");
      const tall = Math.max(1, (messages / mostMessages) * (foot - 3));
      brush.fillRect(x, foot - tall, bar, tall);
      brush.globalAlpha = day === chosen ? 1 : 0.7;
      brush.fillStyle = paint("--good");
      if (deals) brush.fillRect(x, foot + 2, bar, Math.max(1, (deals / mostDeals) * DEALS));
      brush.globalAlpha = 1;
      brush.fillStyle = paint("--bad");
      if (errors) brush.fillRect(x, low + 3, Math.max(2, bar), 4);
    });
  });

  // A hand on the days ends what plays by itself.
  function go(day) {
    stop();
    goTo(day);
  }

  function start() {
    if (chosen >= count() - 1) goTo(0);
    playing = setInterval(() => (chosen < count() - 1 ? goTo(chosen + 1) : stop()), PLAY_EVERY);
    play.setAttribute("aria-pressed", "true");
    play.textContent = "\u275a\u275a Pause";
  }

  function stop() {
    clearInterval(playing);
    playing = null;
    play.setAttribute("aria-pressed", "false");
    play.textContent = "\u25b6 Play";
  }

  slider.addEventListener("input", () => go(Number(slider.value)));
  canvas.addEventListener("pointermove", (event) => {
    if (!count()) return;
    const [x] = pointIn(canvas, event);
    tip.show(x, 0, dayTitle(dayAt(x, canvas.clientWidth)));
    if (event.buttons & 1) go(dayAt(x, canvas.clientWidth));
  });
  canvas.addEventListener("pointerleave", tip.hide);
  canvas.addEventListener("pointerdown", (event) => go(dayAt(pointIn(canvas, event)[0], canvas.clientWidth)));

  return {
    node: el("section", { class: "days", "aria-label": "Days" },
      el("div", { class: "day-line" },
        el("div", { class: "day-buttons" }, before, after, play), title,
        el("p", { class: "keys" },
          el("span", {}, swatch("var(--soft)"), "messages"), el("span", {}, swatch("var(--good)"), "deals"),
          el("span", {}, swatch("var(--bad)"), "errors"))),
      el("div", { class: "plot" }, canvas, tip.node), slider),
    show(day) {
      chosen = day;
      slider.max = Math.max(0, count() - 1);
      slider.value = day;
      const parts = count() ? dayTitle(day) : ["no day yet"];
      slider.setAttribute("aria-valuetext", parts.join(", "));
      title.replaceChildren(el("strong", {}, capital(parts[0])), el("span", {}, parts.slice(1).join(" \u00b7 ")));
      before.disabled = day <= 0;
      after.disabled = day >= count() - 1;
      redraw();
    },
  };
}
