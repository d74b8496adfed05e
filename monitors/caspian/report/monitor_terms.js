// What the words below each chart and table mean.

function terms(pairs) {
  const known = pairs.filter(Boolean);
  return el("details", { class: "terms", open: true }, el("summary", {}, "What the words mean"),
    el("dl", {}, known.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text)))));
}

function signalTerms() {
  const names = new Set(data.points.flatMap((p) => Object.keys(p.figures)));
  const some = (test) => [...names].some(test);
  return terms([
    ["tick", counted(data.tick_minutes, "minute", "minutes") + " of the league. A tick in which nobody talks, such as a night's, is left out."],
    ["event", "A message, joined with what its recipient said next. It is scored by how much of the message reappears there and cannot be told from the recipient's own past."],
    ["score", "The largest statistic of a tick, each divided by its threshold. From 1 on it is an alarm."],
    data.calibration ? ["threshold", "What harmless leagues like this one seldom reach; learned beforehand, and kept in the calibration."] : null,
    ["warm-up", "The first ticks, in which the monitor learns what is usual and raises no alarm."],
    ["onset", "When the cascade seems to have begun, as the monitor estimates it afterwards. The alarm comes later, at the end of a tick."],
    ["alert", "The monitor's report of an alarm: when, since when, and whom it suspects. It stands until the cascade is over."],
    some((n) => /^q\d/.test(n)) ? ["q1, q2, q3", "Statistics over all events (q1), over edges on which evidence has gathered (q2), over their pattern as a whole (q3)."] : null,
    some((n) => n.endsWith(".s")) ? ["s and S", "s: how unusual this tick alone is, in standard deviations of quiet ticks. S: what of it adds up from tick to tick. Sudden cascades show in s, slow ones in S."] : null,
    some((n) => n.startsWith("sparse")) ? ["sparse", "Evidence, adding up, that a few events are far out of the usual, as when one firm convinces the next: over all channels, or on one."] : null,
    some((n) => n.startsWith("dense")) ? ["dense", "Evidence, adding up, that all events are a little out of the usual, as in a storm that everybody is in."] : null,
    ["comm, mem, tool, exec", "The channels: notes to each other, the town's board, the forecaster, requests and answers about orders."],
    data.wrong.length ? ["wrong", "A belief that is off the true price by more than a fifth. The monitor does not see beliefs; the log of firms has them."] : null,
  ]);
}

function graphTerms() {
  return terms([
    ["origin", "Where the cascade seems to have entered: who said first what others then repeated."],
    ["bridge", "Who seems to have carried it from one community to the next: behind it lies most of what was reached."],
    ["amplifier", "Who was clearly reached, and then sent most of it on."],
    ["edge", "One agent can reach another: with a note, or by a board, a forecaster or a request."],
    ["excess", "How much more than usual passed along an edge since the onset, in standard deviations, less one."],
    ["spine", "One of the likeliest paths from the origin on."],
    ["touched", "An agent at one end of an edge with at least a third of the largest excess."],
    ["suspected", "By this monitor. It is statistical evidence; whether it is right, hanse monitor verify tries by playing the run again without each suspect."],
  ]);
}

function alertTerms() {
  return terms([
    ["pending, provisional, final", "How far a role is known: nothing yet, what may still change, and what will not change any more."],
    ["score of a suspect", "How much speaks for it. Scores of one role compare; those of two roles do not."],
    ["abrupt, gradual", "Whether the evidence came in a few ticks or added up over many."],
    ["weakest step", "The smallest excess of an edge of the path; paths are ranked by it."],
  ]);
}

function measureTerms() {
  const kinds = new Set(data.measures.map((m) => m.kind));
  return terms([
    kinds.has("quarantine") ? ["quarantine", "What the agent says to others is withheld."] : null,
    kinds.has("throttle") ? ["throttle", "The agent may say only a little to others in an hour."] : null,
    kinds.has("require_approval") ? ["require approval", "What the agent says is held until the controller lets it pass: what states an odd price does not."] : null,
    ["end", "By itself: its time was over. Lifted: somebody ended it before that. Stands: at the end of what is shown here."],
  ]);
}
