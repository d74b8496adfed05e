// What the colours of the waterfall mean: those that are in use.

function waterfallLegend({ lanes }, day) {
  const channels = [...new Set(day.messages.map((m) => m.channel))].sort();
  const shown = lanes.flatMap((lane) => [...lane.all, ...lane.marks].map(({ item }) => item));
  const others = [
    ["--own", "spans of your own", (item) => item.own],
    ["--soft", "other work", (item) => item.kind === "wake" || (item.kind === "span" && !item.own)],
    ["--bad", "errors", (item) => item.flag === FLAGS.error],
    ["--warn", "refused, lost or late", (item) => item.flag && item.flag !== FLAGS.error],
  ].filter(([, , is]) => shown.some(is));
  return el("p", { class: "keys" }, channels.map((channel) => el("span", {}, channelName(channel))),
    others.map(([variable, text]) => el("span", {}, swatch("var(" + variable + ")"), text)));
}
