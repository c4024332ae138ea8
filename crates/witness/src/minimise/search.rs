//! All schedules with few switches, fewest first.
//!
//! A breadth-first search by number of switches over pairs of a state and the thread that runs. Three things
//! are not looked at, and none of them matters: states in which the triple cannot be completed any more;
//! those from which it needs too many switches, which is easily seen from who runs; and switches just before
//! a step that concerns no other thread, since that may as well be done first.

use super::{Budget, Goal};
use crate::interpret::{Program, State, StepId};
use interloper_model::Pattern;
use interloper_trace::ThreadId;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// The best order that shows the goal with fewer switches than `limit`: `Some(None)` if there is none,
/// `None` if the budget did not suffice to know.
pub(super) fn fewer_switches(
    program: &Program<'_>,
    goal: &Goal,
    limit: usize,
    budget: &mut Budget,
) -> Option<Option<Vec<StepId>>> {
    Search { program, goal, limit, budget, nodes: Vec::new(), seen: FxHashSet::default() }.run()
}

/// What it costs to copy, hash, compare and keep a word of a state, against executing a step.
const COPYING: usize = 2;

struct Search<'a, 't> {
    program: &'a Program<'t>,
    goal: &'a Goal,
    limit: usize,
    budget: &'a mut Budget,
    nodes: Vec<Node>,
    seen: FxHashSet<(Rc<State>, ThreadId)>,
}

/// A state that was reached, by whom, and from where.
struct Node {
    state: Rc<State>,
    thread: Option<ThreadId>,
    /// The node before, and how many steps of the thread lead from there to here.
    from: Option<(usize, u32)>,
}

/// What became of a step.
enum Reached {
    Goal(usize),
    Node(usize),
    Nothing,
    OutOfBudget,
}

impl Search<'_, '_> {
    fn run(mut self) -> Option<Option<Vec<StepId>>> {
        self.nodes.push(Node { state: Rc::new(self.program.start()), thread: None, from: None });
        let mut layer = vec![0];
        for switches in 0..self.limit {
            let mut next_layer = Vec::new();
            // The goal, reached by a switch: only if it is not reached without one.
            let mut goal = None;
            while let Some(node) = layer.pop() {
                if !self.is_new(node) {
                    continue;
                }
                for thread in (0..self.program.thread_count()).filter_map(ThreadId::from_index) {
                    let stays = self.nodes[node].thread.is_none_or(|running| running == thread);
                    for choice in self.choices(node, thread) {
                        match self.step(node, thread, choice, switches + usize::from(!stays)) {
                            Reached::Goal(node) if stays => return Some(Some(self.path(node))),
                            Reached::Goal(node) => goal = Some(node),
                            Reached::Node(node) if stays => layer.push(node),
                            Reached::Node(node) => next_layer.push(node),
                            Reached::Nothing => {}
                            Reached::OutOfBudget => return None,
                        }
                    }
                }
            }
            if let Some(node) = goal {
                return Some(Some(self.path(node)));
            }
            layer = next_layer;
        }
        Some(None)
    }

    /// Whether a state is reached for the first time, by this thread.
    fn is_new(&mut self, node: usize) -> bool {
        let node = &self.nodes[node];
        node.thread.is_none_or(|thread| self.seen.insert((Rc::clone(&node.state), thread)))
    }

    /// The ways in which a thread can do its next step.
    fn choices(&self, node: usize, thread: ThreadId) -> Vec<Option<ThreadId>> {
        let state = &self.nodes[node].state;
        if !self.program.enabled(state, thread) {
            return Vec::new();
        }
        let choices = self.program.choices(state, thread);
        if choices.is_empty() { vec![None] } else { choices.into_iter().map(Some).collect() }
    }

    /// Lets a thread do its next step, and what then concerns no other.
    fn step(&mut self, from: usize, thread: ThreadId, mut choice: Option<ThreadId>, switches: usize) -> Reached {
        let mut state = State::clone(&self.nodes[from].state);
        if !self.budget.spend(COPYING * state.size()) {
            return Reached::OutOfBudget;
        }
        let mut steps = 0;
        loop {
            let step = self.program.next_step(&state, thread);
            let Ok(outcome) = self.program.step(&mut state, thread, choice.take()) else { return Reached::Nothing };
            steps += 1;
            let at_goal = step == self.goal.second && self.is_shown(&state, outcome.satisfied);
            if !at_goal && !self.is_hopeful(&state, thread, switches) {
                return Reached::Nothing;
            }
            let next = self.program.next_step(&state, thread);
            if at_goal || !self.program.is_local(next) || !self.program.enabled(&state, thread) {
                self.nodes.push(Node { state: Rc::new(state), thread: Some(thread), from: Some((from, steps)) });
                let node = self.nodes.len() - 1;
                return match at_goal {
                    true if switches < self.limit => Reached::Goal(node),
                    true => Reached::Nothing,
                    false => Reached::Node(node),
                };
            }
        }
    }

    /// Whether the triple is complete, and fits, when its last step was done just now.
    fn is_shown(&self, state: &State, satisfied: bool) -> bool {
        let Goal { remote, events, .. } = self.goal;
        let (position, stuck) = state.progress(remote.thread);
        if position <= remote.number {
            return false;
        }
        let remote_satisfied = !(stuck && position == remote.number + 1);
        let kinds = [(events[0], true), (events[1], remote_satisfied), (events[2], satisfied)];
        let [Some(first), Some(remote), Some(second)] =
            kinds.map(|(event, as_observed)| self.program.access_kind(event, as_observed))
        else {
            return false;
        };
        Pattern::of(first, remote, second).is_some()
    }

    /// Whether the triple may still be completed, with few enough switches.
    fn is_hopeful(&self, state: &State, running: ThreadId, switches: usize) -> bool {
        let (local, remote) = (self.goal.first.thread, self.goal.remote.thread);
        let (local_position, local_stuck) = state.progress(local);
        let (remote_position, remote_stuck) = state.progress(remote);
        let first = local_position > self.goal.first.number;
        let second = local_position > self.goal.second.number;
        let middle = remote_position > self.goal.remote.number;
        if second || local_stuck || (middle && !first) || (remote_stuck && !middle) {
            return false;
        }
        let more = match (first, middle) {
            (false, _) if running == local => 2,
            (false, _) => 3,
            (true, false) if running == remote => 1,
            (true, false) => 2,
            (true, true) => usize::from(running != local),
        };
        switches + more < self.limit
    }

    /// The steps that lead to a node.
    fn path(&self, node: usize) -> Vec<StepId> {
        let mut turns = Vec::new();
        let mut at = &self.nodes[node];
        while let (Some(thread), Some((from, steps))) = (at.thread, at.from) {
            turns.push((thread, steps));
            at = &self.nodes[from];
        }
        let mut next = vec![0; self.program.thread_count()];
        let mut path = Vec::new();
        for (thread, steps) in turns.into_iter().rev() {
            let first = next[thread.index()];
            next[thread.index()] += steps;
            path.extend((first..first + steps).map(|number| StepId { thread, number }));
        }
        path
    }
}
