// An order of events: what stands where, what is held, and what comes before what.

/** An order of a track's events, expanded, with what can be drawn of it. */
class Order {
  constructor(raw) {
    this.track = TRACKS[raw.track];
    this.rows = expanded(raw.ranges ?? this.track.raw.order);
    this.marks = raw.marks;
    this.region = raw.region;
    this.gaps = new Map(raw.gaps);
    this.length = this.rows.length;
    // A schedule of recorded events, and not a run: the last read of a thread may find what it did not find.
    this.isSchedule = raw.schedule;
    // What comes before what, between threads: from and to by turns, by kind (crates/page/src/arrows).
    this.rawArrows = raw.arrows ?? this.track.raw.arrows;
  }

  /** The event at a position. */
  at(position) {
    return this.track.event(this.rows[position]);
  }

  /** Which of (1), (2) and (3) stands at a position: 1 to 3, or 0. */
  markAt(position) {
    return this.marks.indexOf(position) + 1;
  }

  /** What each read finds, by position; made once. */
  get found() {
    return (this.cachedFound ??= foundIn(this));
  }

  /** Whether the read at a position may find something else than was recorded. */
  isFree(position) {
    if (!this.isSchedule) return false;
    this.lastOf ??= new Map(this.rows.map((_, at) => [this.at(at).thread, at]));
    return this.lastOf.get(this.at(position).thread) === position;
  }

  /** Whether the location of a read had been written to by then when it was recorded. */
  wasWrittenBefore(event) {
    return expanded(this.track.raw.order).some((row) => {
      const other = this.track.event(row);
      return other.writes && other.index < event.index && other.target === event.target;
    });
  }

  /** Arrows from one position to another, each with its kind; made once. */
  get arrows() {
    return (this.cachedArrows ??= Object.entries(this.rawArrows).flatMap(([kind, ends]) => pairs(ends).map(([from, to]) => ({ from, to, kind }))));
  }

  /** For how long each lock is held: by whom, from where to where. */
  get spans() {
    return (this.cachedSpans ??= spansOf(this));
  }

  /** The positions that have to do with one finding's variable and its two threads. */
  about(variable, threads) {
    const names = new Set(threads.map(nameOf));
    const ours = new Set(this.track.threads.map((name, number) => (names.has(name) ? number : -1)));
    const positions = [];
    for (let position = 0; position < this.length; position++) {
      const event = this.at(position);
      const isOurs = ours.has(event.thread);
      const concerns =
        event.kind === "access" ? event.location?.name === variable
        : event.kind === "thread" ? isOurs || ours.has(event.target)
        : isOurs && event.kind !== "heap" && event.kind !== "input";
      if (concerns || this.markAt(position) > 0) positions.push(position);
    }
    return positions;
  }
}

function expanded(ranges) {
  const rows = [];
  for (const [begin, count] of pairs(ranges)) {
    for (let row = begin; row < begin + count; row++) rows.push(row);
  }
  return rows;
}

function pairs(flat) {
  return Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at], flat[2 * at + 1]]);
}

function spansOf(order) {
  const spans = [];
  const open = new Map();
  for (let position = 0; position < order.length; position++) {
    const event = order.at(position);
    const key = `${event.thread} ${event.target}`;
    if ("ASX".includes(event.letter)) {
      const held = open.get(key);
      if (held) held.depth++;
      else open.set(key, { thread: event.thread, lock: event.target, name: event.name, from: position, depth: 1 });
    } else if ("RW".includes(event.letter)) {
      const held = open.get(key);
      if (held && (--held.depth === 0 || event.letter === "W")) {
        spans.push({ ...held, to: position });
        open.delete(key);
      }
    }
  }
  for (const held of open.values()) spans.push({ ...held, to: order.length - 1 });
  return spans.sort((one, other) => one.from - other.from);
}
