//! What an order of steps really prescribes, and other orders that do the same.
//!
//! Two steps *depend* on each other if they are of one thread, touch the same bytes and one writes, use
//! the same lock, condition, semaphore, barrier or once-initialiser, or if one is the fork, the allocation
//! or the last step of a thread that the other has to wait for. Steps that do not may change places, with
//! the same effect (Mazurkiewicz). So a valid order prescribes no more than the order of dependent steps,
//! and what has no later step depending on it can be left out.

use super::{Goal, switches};
use crate::interpret::{Program, Resource, StepId};
use interloper_trace::ThreadId;
use rustc_hash::FxHashMap;

/// Other orders of what the goal needs of a valid order, with runs made long from the beginning or from the
/// end; those with the fewest switches first.
pub(super) fn rearranged(program: &Program<'_>, order: &[StepId], goal: &Goal) -> Vec<Vec<StepId>> {
    let order = needed(program, order, goal);
    let forwards = Graph::new(program, &order, goal);
    let backwards = forwards.reversed();
    let mut orders = Vec::new();
    for choice in [Choice::LongestRun, Choice::Earliest] {
        orders.push(forwards.schedule(choice).into_iter().map(|node| order[node]).collect());
        let last = order.len().saturating_sub(1);
        let backwards = backwards.schedule(choice).into_iter().rev();
        orders.push(backwards.map(|node| order[last - node]).collect());
    }
    orders.push(order);
    orders.sort_by_key(|order: &Vec<StepId>| switches(order));
    orders
}

/// The steps of a valid order that the goal depends on, and the goal.
pub(super) fn needed(program: &Program<'_>, order: &[StepId], goal: &Goal) -> Vec<StepId> {
    let graph = Graph::new(program, order, goal);
    let mut needed = vec![false; order.len()];
    for (node, step) in order.iter().enumerate().rev() {
        needed[node] |= *step == goal.second;
        if needed[node] {
            graph.before[node].iter().for_each(|&before| needed[before as usize] = true);
        }
    }
    order.iter().zip(needed).filter_map(|(step, needed)| needed.then_some(*step)).collect()
}

/// Whom to run when the running thread cannot go on.
#[derive(Clone, Copy)]
enum Choice {
    /// Who can then run for longest.
    LongestRun,
    /// Who comes next in the order that was given.
    Earliest,
}

/// The steps of an order, and which must come before which.
struct Graph {
    threads: Vec<ThreadId>,
    /// For each step, earlier ones that must come before it.
    before: Vec<Vec<u32>>,
}

impl Graph {
    fn new(program: &Program<'_>, order: &[StepId], goal: &Goal) -> Self {
        let mut before: Vec<Vec<u32>> = Vec::with_capacity(order.len());
        let mut numbers: FxHashMap<StepId, u32> = FxHashMap::default();
        let mut last_of_thread: FxHashMap<ThreadId, u32> = FxHashMap::default();
        let mut last_use: FxHashMap<Resource, u32> = FxHashMap::default();
        let mut reads_since: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (&step, node) in order.iter().zip(0..) {
            let mut mine: Vec<u32> = last_of_thread.insert(step.thread, node).into_iter().collect();
            for resource in program.footprint(step) {
                match resource {
                    Resource::Event(event) => {
                        mine.extend(program.step_of(event).and_then(|step| numbers.get(&step)));
                    }
                    Resource::Thread(thread) => mine.extend(last_of_thread.get(&thread)),
                    Resource::Segment { number, writes } => {
                        let write = Resource::Segment { number, writes: true };
                        mine.extend(last_use.get(&write));
                        let reads = reads_since.entry(number).or_default();
                        if writes {
                            mine.append(reads);
                            last_use.insert(write, node);
                        } else {
                            reads.push(node);
                        }
                    }
                    shared => mine.extend(last_use.insert(shared, node)),
                }
            }
            let previous = if step == goal.remote { Some(goal.first) } else { None };
            let previous = if step == goal.second { Some(goal.remote) } else { previous };
            mine.extend(previous.and_then(|previous| numbers.get(&previous)));
            // Pieces of one step may touch the same bytes.
            mine.retain(|&other| other != node);
            mine.sort_unstable();
            mine.dedup();
            before.push(mine);
            numbers.insert(step, node);
        }
        Graph { threads: order.iter().map(|step| step.thread).collect(), before }
    }

    /// The same with time running backwards: the last step is number 0.
    fn reversed(&self) -> Graph {
        let last = self.threads.len().saturating_sub(1);
        let mut before = vec![Vec::new(); self.threads.len()];
        for (node, earlier) in self.before.iter().enumerate().rev() {
            for &earlier in earlier {
                before[last - earlier as usize].push((last - node) as u32);
            }
        }
        Graph { threads: self.threads.iter().rev().copied().collect(), before }
    }

    /// All steps in an order that is allowed, with runs as long as they get.
    fn schedule(&self, choice: Choice) -> Vec<usize> {
        /// How far to look ahead for the longest run.
        const HORIZON: usize = 100;
        let mut queues: Vec<(ThreadId, Vec<usize>)> = Vec::new();
        let mut queue_of: FxHashMap<ThreadId, usize> = FxHashMap::default();
        for (node, &thread) in self.threads.iter().enumerate() {
            let queue = *queue_of.entry(thread).or_insert_with(|| {
                queues.push((thread, Vec::new()));
                queues.len() - 1
            });
            queues[queue].1.push(node);
        }
        let mut next = vec![0; queues.len()];
        let mut done = vec![false; self.threads.len()];
        let mut order = Vec::with_capacity(self.threads.len());
        let mut running: Option<usize> = None;
        loop {
            let run = |queue: usize, horizon: usize| {
                let (thread, nodes) = &queues[queue];
                let ready = |node: usize| {
                    self.before[node].iter().all(|&b| done[b as usize] || self.threads[b as usize] == *thread)
                };
                nodes[next[queue]..].iter().take(horizon).take_while(|&&node| ready(node)).count()
            };
            let chosen = running.filter(|&queue| run(queue, 1) > 0).or_else(|| {
                let able = (0..queues.len()).filter(|&queue| run(queue, 1) > 0);
                match choice {
                    Choice::Earliest => able.min_by_key(|&queue| queues[queue].1[next[queue]]),
                    Choice::LongestRun => {
                        able.max_by_key(|&queue| (run(queue, HORIZON), std::cmp::Reverse(queues[queue].1[next[queue]])))
                    }
                }
            });
            let Some(queue) = chosen else { return order };
            let node = queues[queue].1[next[queue]];
            next[queue] += 1;
            done[node] = true;
            order.push(node);
            running = Some(queue);
        }
    }
}
