// What memory holds after so many events of an order, and what each thread last saw of it.

/** Variables by name, as they are after some events of an order. */
class Memory {
  constructor(order) {
    this.order = order;
    this.next = 0;
    // Each has a value (null: not known), who last wrote it, and what each thread last read or wrote of it.
    this.variables = new Map();
    // The same by the object they are part of: only those can overlap.
    this.objects = new Map();
  }

  /** Goes on until the event at a position has happened; `look` is called after each access on the way. */
  advance(position, look = () => {}) {
    for (; this.next <= position; this.next++) {
      // What happened in a gap nobody knows: values from before may be out of date.
      if (this.order.gaps.has(this.next)) for (const variable of this.variables.values()) variable.isOld = true;
      const event = this.order.at(this.next);
      if (event.kind === "access" && event.location) look(this.next, event, this.access(event));
    }
    return this;
  }

  access(event) {
    const variable = this.variable(event);
    variable.at = this.next;
    if (event.reads) {
      const found = this.order.isFree(this.next) ? freely(variable, this.order, event) : event.value;
      variable.value = found;
      variable.size = event.size;
      variable.seen.set(event.thread, found);
    }
    if (event.writes) {
      variable.value = event.written;
      variable.size = event.size;
      variable.writer = event.thread;
      variable.seen.set(event.thread, event.written);
      // A write that overlaps another variable in part makes that one unknown.
      for (const other of this.objects.get(event.location.object)) {
        if (other !== variable && overlaps(other.location, event.location)) other.value = null;
      }
    }
    variable.isOld = false;
    return variable;
  }

  variable(event) {
    const { name, object } = event.location;
    let variable = this.variables.get(name);
    if (!variable) {
      variable = { name, location: event.location, value: null, size: event.size, writer: null, seen: new Map() };
      this.variables.set(name, variable);
      const parts = this.objects.get(object);
      if (parts) parts.push(variable);
      else this.objects.set(object, [variable]);
    }
    return variable;
  }
}

/** Memory after the event at a position. Going on is cheap; going back begins anew. */
function memoryAfter(order, position) {
  if (!order.memory || order.memory.next > position + 1) order.memory = new Memory(order);
  return order.memory.advance(position).variables;
}

/** What every read of an order finds, by position. */
function foundIn(order) {
  const found = new Array(order.length).fill(null);
  new Memory(order).advance(order.length - 1, (at, event, variable) => {
    if (event.reads) found[at] = event.writes ? event.value : variable.seen.get(event.thread);
  });
  return found;
}

/** What a read finds that need not find what it found: what memory holds, as far as that is known. */
function freely(variable, order, event) {
  if (variable.writer === null && variable.value === null) {
    // Nobody has written here before. If somebody had when it was recorded, what it finds now is not known.
    return order.wasWrittenBefore(event) ? null : event.value;
  }
  return variable.isOld || variable.size !== event.size ? null : variable.value;
}

function overlaps(one, other) {
  if (one.object !== other.object) return false;
  const end = (location) => location.offset + Math.max(location.size, 1);
  return one.offset < end(other) && other.offset < end(one);
}
