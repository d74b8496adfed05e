// Where things are in time: on the virtual clock, with its idle hours left out, or on the wall's.

const BETWEEN = 0.5; // room between two minutes, in rounds

// The rounds in which something is sent, handled or logged, one after the other. Within a minute all
// rounds happen at one and the same virtual time; only their order is real.
function virtualAxis(day) {
  const rounds = new Map();
  const used = (minute, round) => rounds.set(minute, Math.max(rounds.get(minute) ?? 0, round));
  for (const m of day.messages) used(m.minute, m.handled ? m.round + 1 : m.round);
  for (const e of day.events) used(e.minute, e.round);
  for (const s of day.spans) if (s.own) used(s.minute, s.round);
  const starts = new Map();
  const ticks = [];
  let at = 0;
  for (const minute of [...rounds.keys()].sort((a, b) => a - b)) {
    starts.set(minute, at);
    ticks.push({ at, text: timeOfDay(minute) });
    at += rounds.get(minute) + 1 + BETWEEN;
  }
  return { extent: [0, Math.max(1, at - BETWEEN)], at: (minute, round) => starts.get(minute) + round, ticks: () => ticks };
}

// Milliseconds and the like since the day began.
function wallAxis(day) {
  const timed = [...day.messages, ...day.wakes, ...day.spans.filter((s) => s.own)].filter((item) => item.began !== null);
  let end = 0;
  let start = Infinity;
  for (const item of timed) {
    start = Math.min(start, item.arrived ?? item.began);
    end = Math.max(end, item.began + item.took);
  }
  if (!timed.length) {
    start = 0;
    day.spans.forEach((s) => { end = Math.max(end, s.began + s.took); });
  }
  const span = Math.max(10, end - start);
  return {
    extent: [start - span * 0.01, end + span * 0.01],
    ticks(from, to, room) {
      const raw = (to - from) / Math.max(2, Math.floor(room / 90));
      const power = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
      const ticks = [];
      for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
        ticks.push({ at, text: at === 0 ? "0" : (at < 0 ? MINUS : "+") + duration(Math.abs(at)).replace(/\.0+ |(\.\d*[1-9])0+ /, "$1 ") });
      }
      return ticks;
    },
  };
}
