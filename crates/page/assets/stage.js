// Stepping through a finding: the order, the step, and everything that follows them.

class Stage {
  constructor() {
    this.lanes = new Lanes((row) => this.go(row));
    this.panes = [new SourcePane("local", 0), new SourcePane("remote", 1)];
    this.values = new ValuesPane();
    this.live = el("p", { class: "live", role: "status", "aria-live": "polite" });
    this.why = el("p", { class: "quiet why" });
    this.slider = el("input", { type: "range", min: 1, value: 1, "aria-label": "Step", class: "slider" });
    this.count = el("output", { class: "count" });
    this.root = el(
      "section",
      { class: "stage-inner", "aria-label": "The schedule, step by step" },
      this.bar(),
      this.why,
      this.live,
      el("div", { class: "split" }, this.lanes.root, el("div", { class: "side" }, this.values.root, ...this.panes.map((pane) => pane.root))),
      this.legend(),
    );
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value) - 1));
    this.root.addEventListener("keydown", (press) => this.key(press));
  }

  bar() {
    const choice = (name, value, text) => {
      const input = el("input", { type: "radio", name, value });
      input.addEventListener("change", () => (name === "order" ? this.choose(value) : this.focus(value === "finding")));
      return [input, el("label", {}, input, el("span", {}, text))];
    };
    const button = (text, label, act) => {
      const made = el("button", { type: "button", "aria-label": label, title: label }, text);
      made.addEventListener("click", act);
      return made;
    };
    this.choices = {};
    const orders = [["observed", "Observed"], ["witness", "Witness"]].map(([value, text]) => {
      const [input, label] = choice("order", value, text);
      this.choices[value] = input;
      return label;
    });
    const scopes = [["finding", "This finding"], ["all", "All events"]].map(([value, text]) => {
      const [input, label] = choice("scope", value, text);
      this.choices[value] = input;
      return label;
    });
    this.jumps = [1, 2, 3].map((mark) => button(`(${mark})`, `Go to access (${mark})`, () => this.jump(mark)));
    return el(
      "div",
      { class: "bar" },
      el("fieldset", { class: "segments" }, el("legend", {}, "Order"), ...orders),
      el("div", { class: "stepper" }, button("‹", "One step back", () => this.go(this.row - 1)), this.slider, button("›", "One step on", () => this.go(this.row + 1)), this.count),
      el("div", { class: "jumps", role: "group", "aria-label": "Go to" }, ...this.jumps),
      el("fieldset", { class: "segments" }, el("legend", {}, "Events"), ...scopes),
    );
  }

  legend() {
    const sample = (kind, text) =>
      el("li", {}, svg("svg", { class: "sample", width: 26, height: 10, "aria-hidden": "true" }, svg("path", { class: `arrow ${kind} now`, d: "M1 5H25" })), text);
    const keys = [
      ["↓ → j", "one step on"],
      ["↑ ← k", "one step back"],
      ["Page Up, Page Down", "ten steps"],
      ["Home, End", "first, last step"],
      ["1 2 3", "go to (1), (2), (3)"],
      ["[ ]", "previous, next event of this thread"],
      ["o", "observed or witness order"],
      ["n p", "next, previous finding"],
    ];
    this.letters = el("input", { type: "checkbox", checked: true });
    return el(
      "div",
      { class: "below" },
      el("ul", { class: "legend", "aria-label": "Arrows" }, sample("fork", "fork, join"), sample("lock", "unlock before lock"), sample("sync", "signal, post, arrival, end of once before what waits for it"), sample("reads", "write before read"), sample("atomic", "release before acquire"), el("li", {}, el("span", { class: "swatch" }), "lock held"), el("li", {}, el("span", { class: "swatch region" }), "region")),
      el(
        "details",
        { class: "keys", id: "keys" },
        el("summary", {}, "Keys"),
        el("dl", {}, ...keys.flatMap(([key, does]) => [el("dt", {}, ...key.split(" ").map((one) => el("kbd", {}, one.replace(",", "")))), el("dd", {}, does)])),
        el("label", {}, this.letters, " letters and digits work wherever the focus is"),
      ),
    );
  }

  /** Shows a finding in the place that its article has for it. */
  show(finding, place) {
    this.finding = finding;
    this.orders = {};
    place.append(this.root);
    for (const side of ["observed", "witness"]) {
      this.choices[side].disabled = finding[side] === null;
    }
    this.isFocused = true;
    this.choices.finding.checked = true;
    this.choose(finding.witness ? "witness" : "observed");
  }

  /** The order to go by. The step stays at the same event, where the other order has it. */
  choose(side) {
    if (!this.finding[side]) return;
    const before = this.order && this.orders[this.side] === this.order ? this.mark() : 0;
    this.side = side;
    this.order = this.orders[side] ??= new Order(this.finding[side]);
    this.choices[side].checked = true;
    this.why.textContent = this.explain();
    this.lay();
    this.go(this.rowOfMark(before || 2) ?? this.rowOfMark(1) ?? 0);
  }

  explain() {
    const { observed, witness, verdict } = this.finding;
    if (this.side === "observed") {
      const order = this.order.marks;
      const text = order.every((mark) => mark !== null)
        ? `In the order that was recorded they came ${[1, 2, 3].sort((one, other) => order[one - 1] - order[other - 1]).map((mark) => `(${mark})`).join(" ")}.`
        : "Not all three accesses are in the run that was recorded.";
      return witness ? text : `${text} There is no witness: a schedule that shows it is not known.`;
    }
    return verdict === "confirmed"
      ? `The order in which it happened${observed ? "" : "; the run that was recorded first is not on this page"}.`
      : "An order of the recorded events that shows it.";
  }

  focus(isFocused) {
    const position = this.positions[this.row];
    this.isFocused = isFocused;
    this.lay();
    this.go(Math.min(lowerBound(this.positions, position), this.positions.length - 1));
  }

  /** Lays out the rows. */
  lay() {
    const { variable, threads } = this.finding;
    const all = () => Array.from({ length: this.order.length }, (_, position) => position);
    const about = this.isFocused ? this.order.about(variable, threads) : all();
    this.positions = about.length > 0 ? about : all();
    this.lanes.show(this.order, this.positions, threads);
    this.slider.max = this.positions.length;
    this.jumps.forEach((button, role) => (button.disabled = this.rowOfMark(role + 1) === null));
  }

  rowOfMark(mark) {
    const position = this.order.marks[mark - 1];
    return position === null || position === undefined ? null : (this.lanes.rowOf.get(position) ?? null);
  }

  /** Which of (1), (2) and (3) the current step is, or 0. */
  mark() {
    return this.order.markAt(this.positions[this.row]);
  }

  jump(mark) {
    const row = this.rowOfMark(mark);
    if (row !== null) this.go(row);
  }

  /** Goes to a row; everything follows. */
  go(row) {
    this.row = Math.max(0, Math.min(row, this.positions.length - 1));
    const position = this.positions[this.row];
    const event = this.order.at(position);
    this.slider.value = this.row + 1;
    const step = `${this.row + 1} of ${this.positions.length}`;
    this.count.textContent = step;
    const said = this.say(event, position);
    this.slider.setAttribute("aria-valuetext", `${step}: ${said}`);
    this.live.textContent = said;
    this.lanes.step(this.row);
    const { variable, threads } = this.finding;
    this.panes.forEach((pane, side) => {
      const name = nameOf(threads[side]);
      pane.show(this.order, name, position, this.order.track.threads[event.thread] === name);
    });
    this.values.show(this.order, position, variable, threads);
    const mark = this.mark();
    this.jumps.forEach((button, role) => button.classList.toggle("now", role + 1 === mark));
  }

  say(event, position) {
    const mark = this.order.markAt(position);
    const value = eventValue(this.order, position);
    const recorded = event.reads && this.order.isFree(position) && String(this.order.found[position]) !== String(event.value)
      ? ` (${valueText(event.value, event.size)} when recorded)` : "";
    const role = mark === 2 ? ", the interloper" : "";
    const place = placeText(event);
    return [
      mark ? `(${mark}) ` : "",
      shortened(this.order.track.threads[event.thread], 40), " ", event.verb, " ", shortened(event.name, 60),
      value === null ? "" : `: ${value}`, recorded, role,
      place ? ` – ${place}` : "",
    ].join("");
  }

  /** The next event of the current thread, or the one before. */
  sameThread(direction) {
    const thread = this.order.at(this.positions[this.row]).thread;
    for (let row = this.row + direction; row >= 0 && row < this.positions.length; row += direction) {
      if (this.order.at(this.positions[row]).thread === thread) return this.go(row);
    }
  }

  key(press) {
    const inField = press.target.matches("input, select, textarea, summary, button");
    const moves = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, PageDown: 10, PageUp: -10 };
    if (press.ctrlKey || press.metaKey || press.altKey || inField || press.target.closest(".code, .scroll")) return;
    if (moves[press.key]) this.go(this.row + moves[press.key]);
    else if (press.key === "Home") this.go(0);
    else if (press.key === "End") this.go(this.positions.length - 1);
    else return;
    press.preventDefault();
  }

  /** Letters and digits, which work wherever the focus is, unless they are switched off. */
  letter(key) {
    switch (key) {
      case "j": return this.go(this.row + 1);
      case "k": return this.go(this.row - 1);
      case "o": return this.choose(this.side === "witness" ? "observed" : "witness");
      case "[": return this.sameThread(-1);
      case "]": return this.sameThread(1);
      case "1":
      case "2":
      case "3": return this.jump(Number(key));
    }
  }
}
