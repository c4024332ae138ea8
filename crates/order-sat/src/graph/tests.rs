//! The graph against one that is searched all over each time.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug)]
enum Action {
    Node,
    /// An edge, permanent or not.
    Insert(u32, u32, bool),
    RemoveLast,
    /// Is there a path of edges older than this share of all?
    Path(u32, u32, u32),
}

/// All edges as they were inserted: from, to, label, time.
#[derive(Default)]
struct Reference {
    nodes: u32,
    edges: Vec<(u32, u32, i32, u32)>,
}

impl Reference {
    /// What can be reached from a node over these edges, by trying until nothing changes.
    fn reaches(&self, from: u32, to: u32, allowed: impl Fn(i32, u32) -> bool) -> bool {
        let mut reached = vec![false; self.nodes as usize];
        reached[from as usize] = true;
        loop {
            let before = reached.clone();
            for &(a, b, label, time) in &self.edges {
                reached[b as usize] |= reached[a as usize] && allowed(label, time);
            }
            if reached == before {
                return reached[to as usize];
            }
        }
    }

    /// The nodes, each time the lowest one that no other still has to come before.
    fn lowest_order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = Vec::new();
        let is_free = |order: &[u32], node| {
            !order.contains(&node) && self.edges.iter().all(|&(a, b, ..)| b != node || order.contains(&a))
        };
        while let Some(next) = (0..self.nodes).find(|&node| is_free(&order, node)) {
            order.push(next);
        }
        order
    }

    /// The fewest labels on any path, by relaxing until nothing changes.
    fn fewest_labels(&self, from: u32, to: u32, limit: u32) -> Option<usize> {
        let mut least = vec![None; self.nodes as usize];
        least[from as usize] = Some(0);
        for _ in 0..self.nodes {
            for &(a, b, label, time) in &self.edges {
                if (label == PERMANENT || time < limit)
                    && let Some(count) = least[a as usize].map(|count| count + usize::from(label != PERMANENT))
                    && least[b as usize].is_none_or(|known| count < known)
                {
                    least[b as usize] = Some(count);
                }
            }
        }
        least[to as usize]
    }
}

fn check(actions: &[Action], reach: usize) {
    let (mut graph, mut reference) = (Graph::default(), Reference::default());
    let mut next_label = 1;
    for &action in [Action::Node; 2].iter().chain(actions) {
        let nodes = reference.nodes.max(1);
        match action {
            Action::Node => {
                assert_eq!(graph.add_node(), reference.nodes);
                reference.nodes += 1;
            }
            Action::Insert(a, b, permanent) => {
                let (a, b) = (a % nodes, b % nodes);
                let time = reference.edges.len() as u32;
                let label = if permanent { PERMANENT } else { next_label };
                next_label += 1;
                let mut cycle = Vec::new();
                let done = graph.insert(a, b, label, time, &mut cycle);
                let closes = reference.reaches(b, a, |_, _| true);
                assert_eq!(done == Inserted::Cycle, closes);
                if closes {
                    assert_eq!(Some(cycle.len()), reference.fewest_labels(b, a, u32::MAX));
                    assert!(reference.reaches(b, a, |label, _| label == PERMANENT || cycle.contains(&label)));
                } else {
                    reference.edges.push((a, b, label, time));
                }
                if !closes {
                    graph.survey(a, b, reach);
                    let everything = reach == usize::MAX;
                    for node in 0..nodes {
                        let is_before = reference.reaches(node, a, |_, _| true);
                        let is_after = reference.reaches(b, node, |_, _| true);
                        assert!(!graph.is_ancestor(node) || is_before);
                        assert!(!graph.is_descendant(node) || is_after);
                        assert!(!everything || graph.is_ancestor(node) == is_before);
                        assert!(!everything || graph.is_descendant(node) == is_after);
                        assert_eq!(graph.is_ancestor(node), graph.ancestors().contains(&node));
                        assert_eq!(graph.is_descendant(node), graph.descendants().contains(&node));
                    }
                }
            }
            Action::RemoveLast => {
                if let Some((a, b, ..)) = reference.edges.pop() {
                    graph.remove_last(a, b);
                }
            }
            Action::Path(a, b, time) => {
                let (a, b) = (a % nodes, b % nodes);
                let mut labels = Vec::new();
                let found = graph.path(a, b, time, &mut labels);
                assert_eq!(found.then_some(labels.len()), reference.fewest_labels(a, b, time));
                if found {
                    let allowed = |label, at| label == PERMANENT || (at < time && labels.contains(&label));
                    assert!(reference.reaches(a, b, allowed));
                }
                let permanent = reference.reaches(a, b, |label, _| label == PERMANENT);
                assert_eq!(graph.permanent_path(a, b, usize::MAX), Some(permanent));
                assert!(graph.permanent_path(a, b, 1).is_none_or(|found| found == permanent));
            }
        }
        let positions = graph.lowest_order();
        assert!(reference.lowest_order().into_iter().map(|node| positions[node as usize]).eq(0..reference.nodes));
        let mut ranks: Vec<u32> = (0..reference.nodes).map(|node| graph.rank(node)).collect();
        assert!(reference.edges.iter().all(|&(a, b, ..)| ranks[a as usize] < ranks[b as usize]));
        ranks.sort_unstable();
        assert!(ranks.iter().copied().eq(0..reference.nodes));
    }
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        1 => Just(Action::Node),
        6 => (0..12_u32, 0..12_u32, any::<bool>()).prop_map(|(a, b, permanent)| Action::Insert(a, b, permanent)),
        2 => Just(Action::RemoveLast),
        2 => (0..12_u32, 0..12_u32, 0..40_u32).prop_map(|(a, b, time)| Action::Path(a, b, time)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn as_the_reference(actions in prop::collection::vec(action(), 1..60), everything in any::<bool>()) {
        check(&actions, if everything { usize::MAX } else { 3 });
    }
}
