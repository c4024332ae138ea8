// What goes along with the steps: the source of the two threads, and the values of variables.

/** The source that one of the two threads is at. */
class SourcePane {
  constructor(role, number) {
    this.role = role;
    this.title = el("h3", { class: "pane-title", id: `pane-${number}` });
    this.place = el("p", { class: "place" });
    this.code = el("div", { class: "code", role: "group", "aria-labelledby": `pane-${number}`, tabindex: "0" });
    this.root = el("section", { class: `pane ${role}`, "aria-labelledby": `pane-${number}` }, this.title, this.place, this.code);
  }

  /** Shows where a thread is after the event at a position; `isNow` if that event is its own. */
  show(order, name, position, isNow) {
    const thread = order.track.threads.indexOf(name);
    this.title.replaceChildren(named("span", "thread", name, 40));
    this.root.classList.toggle("now", isNow);
    const event = lastWithPlace(order, thread, position);
    if (!event) {
      this.place.textContent = "has not begun";
      this.code.replaceChildren();
      return;
    }
    this.place.textContent = placeText(event);
    const file = event.file === null ? undefined : FILES.get(event.file);
    const lines = file && event.line !== null ? around(file.lines, event.line) : [];
    if (lines.length === 0) {
      this.code.replaceChildren(el("p", { class: "quiet" }, "The source is not on this page."));
      return;
    }
    const marks = marksByLine(order, thread, event.file);
    this.code.replaceChildren(
      ...lines.map(([number, text]) =>
        el(
          "div",
          { class: `source-line${number === event.line ? " at" : ""}` },
          el("span", { class: "number" }, String(number)),
          el("span", { class: "marks" }, (marks.get(number) ?? []).join("")),
          el("code", {}, text || " "),
        ),
      ),
    );
  }
}

/** The last event of a thread up to a position that says where it is. */
function lastWithPlace(order, thread, position) {
  for (let at = position; at >= 0; at--) {
    const event = order.at(at);
    if (event.thread === thread && event.line !== null) return event;
  }
  return null;
}

function around(lines, line) {
  const AROUND = 6;
  const shown = [];
  for (let number = line - AROUND; number <= line + AROUND; number++) {
    if (lines[number] !== undefined) shown.push([number, lines[number]]);
  }
  return shown;
}

/** Which of (1), (2) and (3) a thread does at which line of a file. */
function marksByLine(order, thread, file) {
  const marks = new Map();
  order.marks.forEach((position, role) => {
    if (position === null) return;
    const event = order.at(position);
    if (event.thread !== thread || event.file !== file) return;
    marks.set(event.line, [...(marks.get(event.line) ?? []), `(${role + 1})`]);
  });
  return marks;
}

/** The values of variables, and what the two threads last saw of them. */
class ValuesPane {
  constructor() {
    this.body = el("tbody");
    this.heads = el("tr");
    this.none = el("p", { class: "quiet none" }, "No values were recorded in this trace.");
    this.root = el(
      "section",
      { class: "pane values", "aria-labelledby": "values-title" },
      el("h3", { class: "pane-title", id: "values-title" }, "Shared variables"),
      el("div", { class: "scroll", tabindex: "0", role: "group", "aria-labelledby": "values-title" }, el("table", {}, el("thead", {}, this.heads), this.body)),
      this.none,
    );
  }

  show(order, position, variable, threads) {
    const MOST = 8;
    const memory = memoryAfter(order, position);
    const numbers = threads.map((name) => order.track.threads.indexOf(nameOf(name)));
    this.heads.replaceChildren(
      el("th", { scope: "col" }, "variable"),
      el("th", { scope: "col" }, "value"),
      ...threads.map((name) => el("th", { scope: "col" }, shortened(nameOf(name), 20), " saw")),
    );
    const all = [...memory.values()];
    const ours = all.filter((entry) => entry.name === variable);
    const others = all.filter((entry) => entry.name !== variable).sort((one, other) => other.at - one.at);
    const shown = [...ours, ...(order.track.hasValues ? others : [])].slice(0, MOST);
    if (ours.length === 0) shown.unshift({ name: variable, value: null, size: 0, seen: new Map(), at: -1 });
    this.none.hidden = order.track.hasValues;
    const isInside = order.region !== null && position >= order.region[0] && position <= order.region[1];
    this.body.replaceChildren(...shown.map((entry) => this.row(entry, position, variable, numbers, isInside)));
  }

  row(entry, position, variable, threads, isInside) {
    const isOurs = entry.name === variable;
    return el(
      "tr",
      { class: `${isOurs ? "ours" : ""}${entry.at === position ? " touched" : ""}` },
      el("th", { scope: "row" }, named("code", "", nameOf(entry.name), 32)),
      el("td", { class: "value" }, entry.at < 0 ? "–" : valueText(entry.value, entry.size) + (entry.isOld ? " (before a gap)" : "")),
      ...threads.map((thread, role) => {
        if (!entry.seen.has(thread)) return el("td", { class: "quiet" }, "–");
        const seen = entry.seen.get(thread);
        // What the region's thread goes by while it is in the region, and is no longer so.
        const isStale = isOurs && role === 0 && isInside && seen !== null && entry.value !== null && String(seen) !== String(entry.value);
        return el("td", { class: isStale ? "stale" : "" }, valueText(seen, entry.size), isStale ? " " : null, isStale ? el("span", { class: "tag" }, "old") : null);
      }),
    );
  }
}
