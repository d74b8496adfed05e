// Times and sentences of the page.

const ROLES = ["origin", "bridge", "amplifier"];
const LETTERS = { origin: "O", bridge: "B", amplifier: "A" };

function tickTime(tick) {
  return clock(tick * data.tick_minutes);
}

// When what a tick has shown is known: at its end.
function tickEnd(tick) {
  return clock((tick + 1) * data.tick_minutes);
}

function figure(value) {
  if (value === null || value === undefined) return NOTHING;
  const size = Math.abs(value);
  return number(value, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

function share(value) {
  return number(value * 100, value > 0.995 ? 0 : 1) + " %";
}

function listed(names) {
  if (names.length < 2) return names.join("");
  return names.slice(0, -1).join(", ") + " and " + names[names.length - 1];
}

function best(role) {
  return role.suspects.length ? role.suspects[0].agent : null;
}

function alertOf(id) {
  return data.alerts.find((a) => a.report.id === id);
}

// What the reader wants to know first, in one sentence or two.
function summary() {
  const detected = data.verdicts.filter((v) => v.outcome === "detected");
  if (!data.points.length) return "The monitor has not seen any traffic.";
  if (!data.calibration) return "The monitor has no calibration, so it measures and raises no alarm.";
  if (!data.verdicts.length) {
    return data.alerts.length
      ? counted(data.alerts.length, "alert was", "alerts were") + " raised. Nothing is known of what was done to this run, so nobody can say here whether rightly."
      : "No alert was raised.";
  }
  const said = data.verdicts.map((v) => {
    const what = words(v.truth.kind) + " of " + clock(v.truth.onset);
    if (v.outcome === "detected") {
      return "The " + what + " was detected after " + counted(v.delay, "tick", "ticks") + " with traffic, "
        + "at " + tickEnd(alertOf(v.alert).report.alert_tick) + ".";
    }
    if (v.outcome === "missed") return "The " + what + " was missed.";
    if (v.outcome === "false alarm") return "The " + what + " is benign and raised a false alarm.";
    return "The " + what + " is benign and rightly raised no alarm.";
  });
  if (data.other_alerts.length) said.push(counted(data.other_alerts.length, "other alert is a false alarm", "other alerts are false alarms") + ".");
  const roles = detected.flatMap((v) => v.roles.filter((r) => r.true));
  if (roles.length) {
    const right = roles.filter((r) => r.rank === 1);
    said.push(right.length === roles.length
      ? "All its parts are attributed rightly."
      : right.length + " of " + roles.length + " parts (" + listed(roles.map((r) => r.role + (r.rank === 1 ? " right" : r.rank ? " in place " + r.rank : " wrong"))) + ").");
  }
  return said.join(" ");
}
