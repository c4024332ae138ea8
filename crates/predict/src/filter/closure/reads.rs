//! What reads must find, and what that says about other writes.

use super::{Access, Closure, Node, ReadFrom, Source, What};
use interloper_trace::LocationId;

impl Closure<'_> {
    /// It is known where what a read found must come from.
    pub(super) fn settle(&mut self, read: Node, source: ReadFrom) {
        self.sources[read] = Some(source);
        if let ReadFrom::Write(write) = source {
            self.edges.push((write, read));
            self.need(write);
        }
    }

    fn access(&self, node: Node) -> Option<Access> {
        match self.steps[node].what {
            What::Access(access) => Some(access),
            _ => None,
        }
    }

    /// The steps that must find what they found, with what they access.
    fn reads(&self) -> Vec<(Node, Access)> {
        let kept = |thread: usize| &self.threads[thread][..self.to_ask(thread)];
        let nodes = (0..self.threads.len()).flat_map(kept);
        nodes
            .filter_map(|node| Some((*node, self.access(*node)?)))
            .filter(|(_, access)| access.source.is_some())
            .collect()
    }

    /// The needed writes of a location, by thread. What comes last disturbs nobody, and what a read-modify-write
    /// that reads something else does is not known.
    fn writes(&self, location: LocationId) -> Vec<Vec<Node>> {
        let mut writes = vec![Vec::new(); self.threads.len()];
        for node in self.accesses.get(&location).into_iter().flatten().copied() {
            let (thread, place) = self.places[node];
            let is_needed = place < self.needed[thread] && node != self.triple[2];
            if let Some(access) = self.access(node).filter(|access| access.writes && is_needed)
                && !(access.is_rmw && self.is_last(node))
            {
                writes[thread].push(node);
            }
        }
        writes
    }

    /// Reads that could have found what they found in several places: if only one is left, it is that one. A read
    /// for which none is left, if there is one.
    pub(super) fn settle_reads(&mut self) -> Option<Node> {
        for (read, access) in self.reads() {
            if self.sources[read].is_some() {
                continue;
            }
            let Some(alike) = self.alike(read, access) else {
                self.sources[read] = Some(ReadFrom::Older);
                continue;
            };
            let writes = self.writes(access.location);
            // The last write of each thread that comes before the read.
            let before: Vec<Node> = writes
                .iter()
                .enumerate()
                .filter_map(|(thread, writes)| {
                    let known = self.count(read, thread);
                    writes.iter().copied().rfind(|write| self.places[*write].1 < known && *write != read)
                })
                .collect();
            let is_initial = access.source == Some(Source::Initial) || access.others.initial;
            let initial = (is_initial && before.is_empty()).then_some(ReadFrom::Initial);
            let left = alike.into_iter().filter(|write| {
                let is_overwritten = before.iter().any(|between| self.precedes(*write, *between));
                !is_overwritten && !self.surely_precedes(read, *write)
            });
            let mut left = left.map(ReadFrom::Write).chain(initial);
            match (left.next(), left.next()) {
                (None, _) => return Some(read),
                (Some(only), None) => self.settle(read, only),
                (Some(first), Some(second)) => {
                    let all: Vec<ReadFrom> = [first, second].into_iter().chain(left).collect();
                    self.follow_all(read, &all);
                }
            }
        }
        None
    }

    /// A read comes after whatever comes before all that it can have found.
    fn follow_all(&mut self, read: Node, sources: &[ReadFrom]) {
        let width = self.threads.len();
        for thread in 0..width {
            let before_all = sources.iter().map(|source| match source {
                ReadFrom::Write(write) => self.surely_before(*write, thread),
                ReadFrom::Initial | ReadFrom::Older => 0,
            });
            let new = before_all.min().unwrap_or(0);
            let known = &mut self.before[read * width + thread];
            self.has_followed |= new > *known;
            *known = new.max(*known);
        }
    }

    /// How many steps of a thread have happened when a write, which may not be needed, has.
    fn surely_before(&self, write: Node, thread: usize) -> usize {
        let (own, place) = self.places[write];
        match self.needed[own].min(place + 1).checked_sub(1) {
            Some(last) if own == thread => last + 1,
            Some(last) => self.count(self.threads[own][last], thread),
            None => 0,
        }
    }

    /// The writes that a read can have come from; none if some of them are not among these steps.
    fn alike(&self, read: Node, access: Access) -> Option<Vec<Node>> {
        let observed = match access.source {
            Some(Source::Write(at)) => Some(self.steps.binary_search_by_key(&at, |step| step.at).ok()?),
            _ => None,
        };
        let leaves_the_same = |node: &Node| {
            *node != read
                && Some(*node) != observed
                && self.access(*node).is_some_and(|other| other.writes && other.left == access.found)
        };
        let others: Vec<Node> = self.accesses[&access.location].iter().copied().filter(leaves_the_same).collect();
        (others.len() >= access.others.writes as usize).then(|| observed.into_iter().chain(others).collect())
    }

    /// Whether a needed step comes before another, which may not be needed.
    fn surely_precedes(&self, earlier: Node, later: Node) -> bool {
        let (thread, place) = self.places[later];
        match self.needed[thread].min(place + 1).checked_sub(1) {
            Some(known) => {
                let known = self.threads[thread][known];
                self.precedes(earlier, known) || (earlier == known && known != later)
            }
            None => false,
        }
    }

    /// Reads against other writes of their location.
    pub(super) fn order_accesses(&mut self) {
        for (read, access) in self.reads() {
            let source = match self.sources[read] {
                None | Some(ReadFrom::Older) => continue,
                Some(ReadFrom::Initial) => None,
                Some(ReadFrom::Write(write)) => Some(write),
            };
            for (thread, writes) in self.writes(access.location).iter().enumerate() {
                self.order_writes(read, source, thread, writes);
            }
        }
    }

    /// One read against the writes of one thread.
    fn order_writes(&mut self, read: Node, source: Option<Node>, thread: usize, writes: &[Node]) {
        // The last that comes before the read.
        let before = writes.partition_point(|write| self.places[*write].1 < self.count(read, thread));
        let last = before.checked_sub(1).map(|at| writes[at]);
        // The first that comes after the source.
        let after = match source {
            None => 0,
            Some(source) => writes.partition_point(|write| !self.precedes(source, *write)),
        };
        let next = writes[after..].iter().copied().find(|write| *write != read && Some(*write) != source);
        if let Some(source) = source
            && let Some(last) = last
            && last != source
        {
            self.order(last, source);
        }
        if let Some(next) = next {
            self.order(read, next);
        }
    }
}
