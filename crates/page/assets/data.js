// What is embedded in the page: see crates/page/src/data.rs, which writes it.

const DATA = JSON.parse(document.getElementById("data").textContent);

// What events do, by letter: the verb, what its target is an entry of, and what kind of thing it is.
const OPERATIONS = {
  r: ["reads", "locations", "access"],
  w: ["writes", "locations", "access"],
  u: ["updates", "locations", "access"],
  f: ["fails to update", "locations", "access"],
  A: ["locks", "objects", "lock"],
  S: ["locks (shared)", "objects", "lock"],
  T: ["fails to lock", "objects", "lock"],
  R: ["unlocks", "objects", "lock"],
  W: ["waits, unlocking", "objects", "lock"],
  X: ["wakes, locking", "objects", "lock"],
  s: ["signals", "objects", "sync"],
  b: ["wakes all of", "objects", "sync"],
  v: ["takes from", "objects", "sync"],
  p: ["posts", "objects", "sync"],
  a: ["arrives at", "objects", "sync"],
  l: ["passes", "objects", "sync"],
  o: ["begins once", "objects", "sync"],
  O: ["ends once", "objects", "sync"],
  q: ["finds done", "objects", "sync"],
  F: ["forks", "threads", "thread"],
  J: ["joins", "threads", "thread"],
  n: ["allocates", "objects", "heap"],
  d: ["frees", "objects", "heap"],
  B: ["enters region", "objects", "region"],
  E: ["leaves region", "objects", "region"],
  i: ["reads input", "objects", "input"],
  m: ["fences", null, "sync"],
  "?": ["does something", null, "other"],
};

const nameOf = (index) => DATA.names[index];

/** One track's events, each as an object that is made when it is asked for. */
class Track {
  constructor(raw) {
    this.raw = raw;
    this.name = nameOf(raw.name);
    this.threads = raw.threads.map(nameOf);
    this.cache = new Array(raw.t.length);
    // The condition variables of waits, by row.
    this.conditions = new Map(raw.y.map(([row, object]) => [row, nameOf(raw.objects[object])]));
    this.hasValues = raw.v.some((value) => value !== null);
  }

  event(row) {
    return (this.cache[row] ??= this.#event(row));
  }

  #event(row) {
    const raw = this.raw;
    const letter = raw.o[row];
    const [verb, table, kind] = OPERATIONS[letter] ?? OPERATIONS["?"];
    const target = raw.x[row];
    const location = table === "locations" && target !== null ? raw.locations[target] : null;
    const [file, line, fn] = raw.sites[raw.s[row]];
    return {
      thread: raw.t[row],
      letter,
      verb: this.conditions.has(row) ? verb.replace(",", ` at ${shortened(this.conditions.get(row), 24)},`) : verb,
      kind,
      target,
      name: target === null ? "" : location ? nameOf(location[0]) : nameOf(raw[table][target]),
      location: location && { name: location[0], object: location[1], offset: location[2], size: raw.z[row] },
      reads: "ruf".includes(letter),
      writes: "wu".includes(letter),
      value: raw.v[row],
      written: letter === "w" ? raw.v[row] : raw.w[row],
      size: raw.z[row],
      index: raw.i[row],
      file,
      line,
      fn: fn === null ? null : nameOf(fn),
    };
  }
}

const TRACKS = DATA.tracks.map((raw) => new Track(raw));

// Lines of source files, by the number of the file's name.
const FILES = new Map(DATA.files.map((file) => [file.name, file]));

/** A value as people read it: what may well be a small negative number is also told as one. */
function valueText(value, size) {
  if (value === null || value === undefined) return "?";
  const text = String(value);
  if (![1, 2, 4, 8].includes(size)) return text;
  const signed = BigInt.asIntN(size * 8, BigInt(text));
  return signed < 0n && signed > -1000000n ? `${text} (${signed})` : text;
}

/** A place in the source, in words. */
function placeText(event) {
  const file = event.file === null ? null : fileName(nameOf(event.file));
  const where = file === null ? (event.line === null ? "" : `line ${event.line}`) : file + (event.line === null ? "" : `:${event.line}`);
  return [where, event.fn ? `in ${shortened(event.fn, 80)}` : ""].filter(Boolean).join(" ");
}
