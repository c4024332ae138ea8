// Threads as lanes, time downwards. Only rows that can be seen are in the document.

const ROW = 30;
// The two lanes that matter get more room than the others.
const LANE = 224;
const OTHER_LANE = 152;
const GUTTER = 62;
const RAIL = 16;
const OVERSCAN = 8;

/** The lanes of one order: a list box whose options are the events. */
class Lanes {
  /** `choose` is called with a row that was clicked. */
  constructor(choose) {
    this.head = el("div", { class: "lane-heads", "aria-hidden": "true" });
    this.drawing = svg("svg", { class: "drawing", "aria-hidden": "true", focusable: "false" });
    this.sheet = el("div", { class: "sheet", role: "presentation" });
    this.view = el("div", {
      class: "view",
      role: "listbox",
      tabindex: "0",
      "aria-label": "Events in this order. Arrow keys step.",
      "aria-describedby": "keys",
    });
    this.view.append(el("div", { class: "canvas", role: "presentation" }, this.drawing, this.sheet));
    this.canvas = this.view.firstChild;
    this.root = el("div", { class: "lanes" }, this.head, this.view);
    this.view.addEventListener("scroll", () => {
      this.head.scrollLeft = this.view.scrollLeft;
      requestAnimationFrame(() => this.draw());
    });
    this.sheet.addEventListener("click", (click) => {
      const row = click.target.closest("[data-row]");
      if (row) choose(Number(row.dataset.row));
    });
  }

  /** Shows these positions of an order. `threads` are the two that matter, as numbers of names. */
  show(order, positions, threads) {
    this.order = order;
    this.positions = positions;
    this.rowOf = new Map(positions.map((position, row) => [position, row]));
    const present = new Set(positions.map((position) => order.at(position).thread));
    // The two that matter stand at the right, the region's first, as they do in the cards above.
    const rank = (name) => threads.findIndex((thread) => nameOf(thread) === name);
    this.lanes = [...present].sort((one, other) => {
      const [first, second] = [order.track.threads[one], order.track.threads[other]];
      return rank(first) - rank(second) || compareNames(first, second);
    });
    this.laneOf = new Map(this.lanes.map((thread, lane) => [thread, lane]));
    this.roles = this.lanes.map((thread) => {
      const name = order.track.threads[thread];
      return name === nameOf(threads[0]) ? "local" : name === nameOf(threads[1]) ? "remote" : "other";
    });
    this.arrows = visibleArrows(order, this.rowOf);
    this.spans = visibleSpans(order, positions);
    this.region = this.regionRows();
    this.measure();
    const width = this.left(this.lanes.length);
    this.view.style.height = `min(62vh, 640px, ${positions.length * ROW + 2}px)`;
    this.head.replaceChildren(
      el("span", { class: "gutter" }, "event"),
      ...this.lanes.map((thread, lane) => {
        const head = named("span", `lane-head ${this.roles[lane]}`, order.track.threads[thread], 24);
        head.style.width = `${this.widths[lane]}px`;
        return head;
      }),
      el("span", { class: "rest" }),
    );
    this.canvas.style.height = `${positions.length * ROW}px`;
    this.canvas.style.minWidth = `${width}px`;
    this.drawing.setAttribute("width", width);
    this.shown = null;
  }

  /** How wide lanes are: all alike if there is room for that. */
  measure() {
    const room = this.root.clientWidth - GUTTER - 20;
    const others = this.roles.filter((role) => role === "other").length;
    const main = Math.max(1, this.lanes.length - others);
    const even = Math.floor(room / this.lanes.length);
    const wide = Math.max(LANE, Math.floor((room - others * OTHER_LANE) / main));
    this.widths = this.roles.map((role) => (even >= 2 * OTHER_LANE ? even : role === "other" ? OTHER_LANE : wide));
  }

  /** Where a lane begins. */
  left(lane) {
    return this.widths.slice(0, lane).reduce((sum, width) => sum + width, GUTTER);
  }

  /** Moves to a row, and brings it into view. */
  step(row) {
    this.current = row;
    const top = row * ROW;
    const height = this.view.clientHeight;
    if (top < this.view.scrollTop + ROW || top > this.view.scrollTop + height - 3 * ROW) {
      this.view.scrollTop = top - height / 2.5;
    }
    this.draw(true);
    this.view.setAttribute("aria-activedescendant", `row-${row}`);
  }

  /** Draws what can be seen. */
  draw(force = false) {
    if (!this.order) return;
    const height = this.view.clientHeight || 20 * ROW;
    const first = Math.max(0, Math.floor(this.view.scrollTop / ROW) - OVERSCAN);
    const last = Math.min(this.positions.length - 1, Math.ceil((this.view.scrollTop + height) / ROW) + OVERSCAN);
    if (!force && this.shown && this.shown[0] === first && this.shown[1] === last) return;
    this.shown = [first, last];
    const rows = [];
    for (let row = first; row <= last; row++) rows.push(this.row(row));
    this.sheet.replaceChildren(...rows);
    this.drawSlice(first, last);
  }

  row(row) {
    const position = this.positions[row];
    const event = this.order.at(position);
    const lane = this.laneOf.get(event.thread);
    const mark = this.order.markAt(position);
    const state = row === this.current ? "now" : row < this.current ? "past" : "future";
    const thread = this.order.track.threads[event.thread];
    const value = eventValue(this.order, position);
    const cell = el(
      "span",
      { class: `cell of-${event.kind}` },
      mark ? el("span", { class: `mark ${this.roles[lane]}` }, `(${mark})`) : null,
      el("span", { class: "verb" }, event.verb),
      " ",
      event.name ? named("span", "target", event.name, 40) : null,
      value === null ? null : el("span", { class: "value" }, value),
    );
    cell.style.marginLeft = `${this.left(lane) - GUTTER}px`;
    cell.style.width = `${this.widths[lane]}px`;
    const option = el(
      "div",
      {
        class: `row ${state} ${this.roles[lane]}${mark ? " marked" : ""}`,
        role: "option",
        id: `row-${row}`,
        "data-row": row,
        "aria-selected": row === this.current ? "true" : "false",
        "aria-posinset": row + 1,
        "aria-setsize": this.positions.length,
        "aria-label": `${mark ? `(${mark}) ` : ""}${thread} ${event.verb} ${event.name}${value === null ? "" : ` ${value}`}`,
      },
      el("span", { class: "gutter" }, String(event.index)),
      cell,
    );
    if (this.hasGapBefore(row)) option.classList.add("after-gap");
    option.style.top = `${row * ROW}px`;
    return option;
  }

  /** Whether something that happened before a row, since the row before it, is not on the page. */
  hasGapBefore(row) {
    if (this.order.gaps.size === 0) return false;
    const from = row === 0 ? 0 : this.positions[row - 1] + 1;
    for (let position = from; position <= this.positions[row]; position++) {
      if (this.order.gaps.has(position)) return true;
    }
    return false;
  }

  drawSlice(first, last) {
    const top = first * ROW;
    const height = (last - first + 1) * ROW;
    this.drawing.style.top = `${top}px`;
    this.drawing.setAttribute("height", Math.max(height, 0));
    const x = (thread) => this.left(this.laneOf.get(thread)) + RAIL;
    const y = (row) => row * ROW + ROW / 2 - top;
    const parts = [];
    const region = this.region;
    if (region && region.to >= first && region.from <= last) {
      const from = y(region.from) - ROW / 2 + 1;
      const to = y(region.to) + ROW / 2 - 1;
      parts.push(
        svg("rect", { class: "region", x: x(region.thread) - RAIL + 2, y: from, width: this.widths[this.laneOf.get(region.thread)] - 6, height: to - from, rx: 6 }),
      );
    }
    for (const thread of this.lanes) {
      parts.push(svg("line", { class: "rail", x1: x(thread), x2: x(thread), y1: 0, y2: height }));
    }
    for (const span of this.spans) {
      if (span.to < first || span.from > last) continue;
      const shift = RAIL - 6 - 4 * span.depth;
      const held = svg("rect", {
        class: `span lock-${span.lock % 4}`,
        x: x(span.thread) - RAIL + Math.max(shift, 2),
        y: y(span.from) - 5,
        width: 4,
        height: y(span.to) - y(span.from) + 10,
        rx: 2,
      });
      parts.push(held);
    }
    for (const arrow of this.arrows) {
      if (arrow.to < first || arrow.from > last) continue;
      parts.push(...this.arrow(arrow, x, y));
    }
    for (let row = first; row <= last; row++) {
      const event = this.order.at(this.positions[row]);
      const lane = this.laneOf.get(event.thread);
      const isMark = this.order.markAt(this.positions[row]) > 0;
      const radius = isMark ? 5.5 : 3.5;
      const state = row <= this.current ? "done" : "ahead";
      parts.push(svg("circle", { class: `dot ${this.roles[lane]} ${state}`, cx: x(event.thread), cy: y(row), r: radius }));
    }
    this.drawing.replaceChildren(...parts);
  }

  arrow(arrow, x, y) {
    const [from, to] = [this.order.at(this.positions[arrow.from]), this.order.at(this.positions[arrow.to])];
    const [x1, y1, x2, y2] = [x(from.thread), y(arrow.from), x(to.thread), y(arrow.to)];
    const toRight = x2 > x1;
    // Each row has one event, and its text stands right of the rail: down along a rail and then right, or left and
    // then down, no arrow crosses any text. Kinds keep apart from each other.
    const apart = { fork: -4, join: -4, lock: 0, reads: 4 }[arrow.kind] ?? -8;
    const side = toRight ? 1 : -1;
    const end = x2 + side * -6;
    const turn = 7;
    const isNow = arrow.from === this.current || arrow.to === this.current;
    const kind = `arrow ${arrow.kind}${isNow ? " now" : ""}${arrow.to > this.current ? " ahead" : ""}`;
    const [across, down] = [y2 + apart, x2 + 6 + apart / 2];
    const start = x1 + 6 + apart / 2;
    const line = toRight
      ? `M${start} ${y1 + 3}V${across - turn}q0 ${turn} ${turn} ${turn}H${end - 4}`
      : `M${x1 - 6} ${y1 + apart}H${down + turn}q${-turn} 0 ${-turn} ${turn}V${y2 - 9}`;
    const tip = toRight ? `M${end} ${across}l-7 -4v8z` : `M${down} ${y2 - 4}l-4 -7h8z`;
    return [svg("path", { class: kind, d: line }), svg("path", { class: `tip ${kind}`, d: tip })];
  }

  /** The rows that the region spans, and its thread. */
  regionRows() {
    const region = this.order.region;
    if (!region) return null;
    const thread = this.order.at(region[0]).thread;
    if (!this.laneOf.has(thread)) return null;
    const inside = this.positions.flatMap((position, row) => (position >= region[0] && position <= region[1] ? [row] : []));
    return inside.length === 0 ? null : { thread, from: inside[0], to: inside[inside.length - 1] };
  }
}

/** `main.10` comes after `main.9`. */
function compareNames(one, other) {
  return one.localeCompare(other, "en", { numeric: true });
}

/** Arrows between rows that are shown. A fork leads to the first row of its thread, a join comes from the last. */
function visibleArrows(order, rowOf) {
  const rows = [...rowOf.keys()];
  const firstOf = new Map();
  const lastOf = new Map();
  for (const position of rows) {
    const thread = order.at(position).thread;
    if (!firstOf.has(thread)) firstOf.set(thread, position);
    lastOf.set(thread, position);
  }
  const arrows = [];
  for (const arrow of order.arrows) {
    const from = arrow.kind === "join" ? lastOf.get(order.at(arrow.from).thread) : arrow.from;
    const to = arrow.kind === "fork" ? firstOf.get(order.at(arrow.to).thread) : arrow.to;
    const [fromRow, toRow] = [rowOf.get(from), rowOf.get(to)];
    if (fromRow !== undefined && toRow !== undefined && fromRow < toRow) {
      arrows.push({ from: fromRow, to: toRow, kind: arrow.kind });
    }
  }
  return arrows;
}

/** Locks held over rows that are shown; one inside another stands beside it. */
function visibleSpans(order, positions) {
  const spans = [];
  const open = new Map();
  const present = new Set(positions.map((position) => order.at(position).thread));
  const rowAfter = (position) => lowerBound(positions, position);
  for (const span of order.spans) {
    const from = rowAfter(span.from);
    const to = rowAfter(span.to + 1) - 1;
    if (to < from || !present.has(span.thread)) continue;
    const held = (open.get(span.thread) ?? []).filter((end) => end > span.from);
    spans.push({ ...span, from, to, depth: held.length });
    open.set(span.thread, [...held, span.to]);
  }
  return spans;
}

function lowerBound(sorted, wanted) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What an event read and wrote, in words; null if it is no access or nothing is known. */
function eventValue(order, position) {
  const event = order.at(position);
  if (event.kind !== "access") return null;
  const found = event.reads ? order.found[position] : null;
  if (event.letter === "u") return `${valueText(found, event.size)} → ${valueText(event.written, event.size)}`;
  const value = event.writes ? event.written : found;
  return value === null || value === undefined ? null : valueText(value, event.size);
}
