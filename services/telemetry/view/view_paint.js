// Drawing on a canvas that keeps the sharpness of the screen and the colours of the page.

const CHANNELS = { exec: "--series-1", tool: "--series-3", comm: "--series-2", mem: "--series-4" };
const CHANNEL_NAMES = { exec: "turns and execution", tool: "commands and tools", comm: "talk", mem: "shared memory" };
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

let paints = new Map();

function paint(variable) {
  if (!paints.has(variable)) {
    paints.set(variable, getComputedStyle(document.documentElement).getPropertyValue(variable).trim());
  }
  return paints.get(variable);
}

function channelPaint(channel) {
  return paint(ownEntry(CHANNELS, channel) || "--series-8");
}

function agentPaint(name) {
  return paint(colour(name).slice(4, -1));
}

const painters = new Set();
const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", () => {
  paints = new Map();
  painters.forEach((redraw) => redraw());
});

// Draws at most once a frame, when asked to and when its size has changed.
function painter(canvas, draw) {
  let asked = false;
  const redraw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      const { clientWidth: width, clientHeight: height } = canvas;
      if (!width || !height) return;
      const scale = devicePixelRatio || 1;
      if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
        canvas.width = Math.round(width * scale);
        canvas.height = Math.round(height * scale);
      }
      const brush = canvas.getContext("2d");
      brush.setTransform(scale, 0, 0, scale, 0, 0);
      brush.clearRect(0, 0, width, height);
      brush.font = FONT;
      draw(brush, width, height);
    });
  };
  new ResizeObserver(redraw).observe(canvas);
  painters.add(redraw);
  return redraw;
}

function fitted(brush, text, width) {
  if (brush.measureText(text).width <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (brush.measureText(text.slice(0, middle) + "\u2026").width <= width) low = middle;
    else high = middle - 1;
  }
  return low ? text.slice(0, low) + "\u2026" : "";
}

function pointIn(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

// The bubble that follows the pointer over a drawing.
function bubble(canvas) {
  const node = el("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  return {
    node,
    show(x, y, lines) {
      node.replaceChildren(...lines.map((line, i) => el("div", { class: i ? "soft" : null }, line)));
      node.hidden = false;
      const room = canvas.clientWidth - node.offsetWidth - 4;
      node.style.left = Math.max(0, Math.min(x + 14, room)) + "px";
      node.style.top = (y + node.offsetHeight + 24 > canvas.clientHeight ? Math.max(0, y - node.offsetHeight - 10) : y + 16) + "px";
    },
    hide() {
      node.hidden = true;
    },
  };
}

function channelName(channel) {
  return [swatch("var(" + (ownEntry(CHANNELS, channel) || "--series-8") + ")"), ownEntry(CHANNEL_NAMES, channel) || visible(channel)];
}
