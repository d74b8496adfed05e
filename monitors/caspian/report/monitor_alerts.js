// The alerts: what was noticed, who is suspected, and the messages that speak for it.

function moment(minute) {
  return el("span", { class: "moment" }, clock(minute));
}

function plainTable(caption, heads, rows) {
  return scrolled(el("table", { class: heads.length < 5 ? "slim" : null }, el("caption", {}, caption),
    el("thead", {}, el("tr", {}, heads.map((h) => el("th", { scope: "col", class: h.number ? "number" : null }, h.text || h)))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell, i) =>
      el(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: heads[i].number ? "number" : null }, cell)))))));
}

function caseOf(alert) {
  const r = alert.report;
  const over = Object.keys(r.thresholds).filter((n) => n in r.statistics);
  return el("div", { class: "case", id: r.id },
    el("h3", {}, r.id + ", " + r.kind),
    el("p", { class: "note" }, "Alert at " + tickEnd(r.alert_tick) + ", " + figure(r.score) + " times the threshold; it seems to have begun at " + tickTime(r.onset)
      + ". " + capital(counted(r.agents_flagged, "agent has", "agents have")) + " clearly more inflow than usual since. "
      + (alert.revisions > 1 ? "Revised " + counted(alert.revisions - 1, "time", "times") + ", last at " + tickEnd(r.reported_tick) + "." : "")
      + (r.sampled < 1 ? " In the busiest tick only " + share(r.sampled) + " of the events were looked at." : "")),
    suspects(alert),
    over.length ? [el("h4", {}, "Statistics at the alert"), plainTable("Statistics at the alert", ["statistic", { text: "value", number: true }, { text: "threshold", number: true }],
      over.map((n) => [n, el("span", { class: r.statistics[n] >= r.thresholds[n] ? "bad" : null }, figure(r.statistics[n])), figure(r.thresholds[n])]))] : null,
    r.spines.length ? [el("h4", {}, "Spines"), plainTable("Spines", ["path", "channel", { text: "weakest step", number: true }],
      r.spines.map((s) => [el("span", { class: "path" }, s.path.join(" \u2192 ")), s.channel, figure(s.bottleneck)]))] : null,
    evidence(alert));
}

function suspects(alert) {
  const verdict = data.verdicts.find((v) => v.alert === alert.report.id && v.truth.attack);
  const rows = ROLES.map((name) => {
    const role = alert.report[name];
    const true_ = verdict ? verdict.roles.find((r) => r.role === name) : null;
    const cells = [
      el("span", { class: "role-name " + name }, name, " ", el("span", { class: "state-word" }, role.state)),
      [0, 1, 2].map((i) => role.suspects[i]).filter(Boolean).map((s, i) => el("span", {}, i ? ", " : "",
        el("span", { style: { "font-weight": i ? "400" : "600" } }, s.agent), el("span", { class: "state-word" }, " " + figure(s.score)))),
    ];
    if (!role.suspects.length) cells[1] = [el("span", { class: "state-word" }, "nobody yet")];
    if (verdict) {
      cells.push(true_.true || NOTHING, !true_.true ? NOTHING
        : el("span", { class: true_.rank === 1 ? "right" : "wrong" }, true_.rank === 1 ? "right" : true_.rank ? "in place " + true_.rank : "not among them"));
    }
    return cells;
  });
  return plainTable("Suspects", verdict ? ["role", "suspects, with scores", "really", "attribution"] : ["role", "suspects, with scores"], rows);
}

function evidence(alert) {
  if (!alert.evidence.length) return null;
  return [el("h4", {}, "Messages that speak for it"),
    el("ul", { class: "evidence" }, alert.evidence.map((e) => el("li", {},
      el("p", { class: "who" }, el("code", {}, e.id), "  " + clock(e.minute) + ", " + words(e.type) + " on " + e.channel + ", " + e.sender + " \u2192 " + e.recipient),
      el("p", { class: "said" }, e.text)))),
    el("p", { class: "spell" }, "What led to a message, and what came of it:"),
    copyable("hanse trace " + data.run + " why '" + alert.evidence[0].id + "'", "Command")];
}

function alertsSection() {
  return el("section", { id: "alerts" }, el("h2", {}, "Alerts"),
    el("p", { class: "lead" }, "An alert is statistical evidence that content travels from agent to agent more than it used to. It is no proof, and no reason by itself to block anybody."),
    data.alerts.length ? [data.alerts.map(caseOf), alertTerms()] : el("p", { class: "empty" }, data.calibration ? "No alert was raised." : "Without a calibration there are no alerts."));
}

function truthSection() {
  if (!data.verdicts.length) return null;
  const outcome = { detected: "right", missed: "wrong", "false alarm": "wrong", "rightly quiet": "right" };
  return el("section", { id: "truth" }, el("h2", {}, "How right it was"),
    el("p", { class: "lead" }, "What was really done to this run, as the log has it, and what the monitor made of it. Delays and errors are counted in ticks with traffic."),
    plainTable("How right it was", ["what was done", "from", "outcome", "alert", { text: "delay", number: true }, { text: "error of the onset", number: true }, "origin", "bridge", "amplifier"],
      data.verdicts.map((v) => [
        words(v.truth.kind) + (v.truth.attack ? "" : " (benign)"), moment(v.truth.onset),
        el("span", { class: outcome[v.outcome] + " moment" }, v.outcome), v.alert ? el("a", { href: "#" + v.alert, class: "moment" }, v.alert) : NOTHING, v.delay === null ? NOTHING : number(v.delay),
        v.onset_error === null ? NOTHING : number(v.onset_error),
        ...ROLES.map((name) => {
          const r = v.roles.find((x) => x.role === name);
          if (!r || !r.true) return v.truth[name] || NOTHING;
          return el("span", { class: r.rank === 1 ? "right" : "wrong" }, r.true + (r.rank === 1 ? "" : r.rank ? ", in place " + r.rank : r.suspects.length ? ", not suspected" : ", nobody suspected"));
        }),
      ])),
    data.other_alerts.length ? el("p", { class: "note" }, "False alarms, which belong to nothing that was done: " + data.other_alerts.join(", ") + ".") : null);
}

function measuresSection() {
  if (!data.measures.length) return null;
  const ends = { ended: "by itself", lifted: "lifted", "": "stands" };
  return el("section", { id: "measures" }, el("h2", {}, "Measures"),
    el("p", { class: "lead" }, "What was done against suspects. Measures hold back what an agent says to others, never its trade."),
    plainTable("Measures", ["agent", "measure", "towards", "from", "until", "end", "because of", "by"],
      data.measures.map((m) => [m.agent, words(m.kind), m.recipients.length ? listed(m.recipients) : "all", moment(m.begin), moment(m.end), ends[m.how] ?? words(m.how), m.reason || NOTHING, m.by || NOTHING])),
    measureTerms());
}

function lossesSection() {
  const sampled = data.points.filter((p) => p.sampled < 1);
  const rows = [
    ...Object.entries(data.dropped).map(([reason, count]) => ["dropped", words(reason), number(count)]),
    ...Object.entries(data.passed_over).filter(([, count]) => count).map(([reason, count]) => ["made no event", words(reason), number(count)]),
  ];
  return el("section", { id: "losses" }, el("h2", {}, "What was not looked at"),
    el("p", { class: "lead" }, sampled.length
      ? "Under load only a sample of the events was scored in " + counted(sampled.length, "tick", "ticks") + ", at worst " + share(Math.min(...sampled.map((p) => p.sampled))) + " of them."
      : "Every event was scored: nothing was sampled."),
    rows.length ? plainTable("What was not looked at", ["what became of it", "reason", { text: "count", number: true }], rows)
      : el("p", { class: "empty" }, "Nothing was dropped."));
}
