//! The theory, driven by hand as CaDiCaL would drive it, against a search for cycles.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug)]
enum Action {
    /// Between two searches: a new atom, or a required edge.
    Atom(u32, u32),
    Edge(u32, u32),
    /// A decision, and its level.
    Decide(usize, bool),
    /// An assignment at the present level.
    Assign(usize, bool),
    /// Takes all that the theory implies.
    Propagate,
    Backtrack(usize),
    /// Goes back ahead of the solver, which follows.
    Rewind,
}

const NODES: u32 = 8;

/// What CaDiCaL knows.
#[derive(Default)]
struct Driver {
    theory: Theory,
    /// Atoms by variable, from one: the first node and the second.
    atoms: Vec<(u32, u32)>,
    edges: Vec<(u32, u32)>,
    trail: Vec<i32>,
    levels: Vec<usize>,
    /// How long the trail was when these literals were propagated.
    propagated: Vec<(i32, usize)>,
}

impl Driver {
    fn edge(&self, literal: i32) -> (u32, u32) {
        let (a, b) = self.atoms[literal.unsigned_abs() as usize - 1];
        if literal > 0 { (a, b) } else { (b, a) }
    }

    /// Is there a way from one node to another by required edges and these literals?
    fn reaches(&self, from: u32, to: u32, literals: &[i32]) -> bool {
        let edges: Vec<_> =
            self.edges.iter().copied().chain(literals.iter().map(|&literal| self.edge(literal))).collect();
        let mut reached = [false; NODES as usize];
        reached[from as usize] = true;
        for _ in 0..NODES {
            for &(a, b) in &edges {
                reached[b as usize] |= reached[a as usize];
            }
        }
        reached[to as usize]
    }

    fn has_cycle(&self) -> bool {
        self.trail.iter().any(|&literal| {
            let (a, b) = self.edge(literal);
            self.reaches(b, a, &self.trail)
        })
    }

    /// A lemma: false literals only, apart from `but`, and a cycle if all of them are.
    fn check_lemma(&self, lemma: &[i32], but: Option<i32>, older: usize) {
        let cycle: Vec<i32> = lemma.iter().map(|literal| -literal).collect();
        for literal in &cycle {
            assert!(Some(-literal) == but || self.trail[..older].contains(literal), "{literal} in {lemma:?}");
        }
        assert!(but.is_none_or(|but| lemma.contains(&but)));
        let (a, b) = self.edge(cycle[0]);
        assert!(self.reaches(b, a, &cycle), "{lemma:?} is no cycle");
    }

    fn free(&self, variable: usize) -> Option<i32> {
        let variable = (variable % self.atoms.len().max(1)) as i32 + 1;
        let free = variable as usize <= self.atoms.len()
            && !self.trail.iter().any(|literal| literal.unsigned_abs() == variable.unsigned_abs());
        free.then_some(variable)
    }

    fn assign(&mut self, literal: i32) {
        self.trail.push(literal);
        self.theory.notify_assignment(&[literal]);
    }

    fn backtrack(&mut self, level: usize) {
        if level < self.levels.len() {
            self.trail.truncate(self.levels[level]);
            self.levels.truncate(level);
            self.propagated.retain(|&(literal, _)| self.trail.contains(&literal));
            self.theory.notify_backtrack(level);
        }
    }

    /// Takes all propagations, then a conflict if there is one. True if there was none.
    fn propagate(&mut self) -> bool {
        loop {
            let literal = self.theory.cb_propagate();
            if literal == 0 {
                break;
            }
            let (a, b) = self.edge(literal);
            assert!(self.reaches(a, b, &self.trail), "{literal} is not implied");
            assert!(!self.trail.contains(&literal), "{literal} is known");
            self.propagated.push((literal, self.trail.len()));
            self.assign(literal);
        }
        for (literal, older) in self.propagated.clone() {
            let reason = read(|| self.theory.cb_add_reason_clause_lit(literal));
            self.check_lemma(&reason, Some(literal), older);
        }
        let mut forgettable = false;
        let conflict = self.theory.cb_has_external_clause(&mut forgettable);
        assert_eq!(conflict, self.has_cycle());
        if conflict {
            let lemma = read(|| self.theory.cb_add_external_clause_lit());
            self.check_lemma(&lemma, None, self.trail.len());
        }
        !conflict
    }
}

fn read(mut next: impl FnMut() -> i32) -> Vec<i32> {
    std::iter::from_fn(|| Some(next()).filter(|&literal| literal != 0)).collect()
}

fn check(actions: &[Action]) {
    let mut driver = Driver::default();
    for _ in 0..NODES {
        driver.theory.add_node();
    }
    for &action in actions {
        match action {
            Action::Atom(a, b) => {
                let is_new = a != b && !driver.atoms.contains(&(a, b)) && !driver.atoms.contains(&(b, a));
                if is_new && driver.levels.is_empty() {
                    driver.atoms.push((a, b));
                    driver.theory.add_atom(driver.atoms.len() as i32, a, b);
                }
            }
            Action::Edge(a, b) => {
                if !driver.levels.is_empty() || !driver.propagate() {
                    continue;
                }
                let closes = driver.reaches(b, a, &driver.trail);
                let added = driver.theory.add_permanent(a, b);
                assert_eq!(added.is_err(), closes);
                match added {
                    Ok(()) => driver.edges.push((a, b)),
                    Err(cycle) => {
                        assert!(cycle.iter().all(|literal| driver.trail.contains(literal)));
                        assert!(driver.reaches(b, a, &cycle));
                    }
                }
            }
            Action::Decide(variable, sign) => {
                if let Some(variable) = driver.free(variable) {
                    driver.levels.push(driver.trail.len());
                    driver.theory.notify_new_decision_level();
                    driver.assign(if sign { variable } else { -variable });
                }
            }
            Action::Assign(variable, sign) => {
                if let Some(variable) = driver.free(variable) {
                    driver.assign(if sign { variable } else { -variable });
                }
            }
            Action::Propagate => {
                if !driver.propagate() {
                    if driver.levels.is_empty() {
                        return;
                    }
                    driver.backtrack(driver.levels.len() - 1);
                }
            }
            Action::Backtrack(level) => driver.backtrack(level),
            Action::Rewind => {
                driver.theory.rewind();
                driver.backtrack(0);
            }
        }
    }
    let conflict = driver.has_cycle();
    let model = driver.trail.clone();
    assert_eq!(driver.theory.cb_check_found_model(&model), !conflict);
    if !conflict {
        let positions = driver.theory.positions();
        for (a, b) in driver.trail.iter().map(|&literal| driver.edge(literal)).chain(driver.edges.iter().copied()) {
            assert!(positions[a as usize] < positions[b as usize]);
        }
    }
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => (0..NODES, 0..NODES).prop_map(|(a, b)| Action::Atom(a, b)),
        1 => (0..NODES, 0..NODES).prop_map(|(a, b)| Action::Edge(a, b)),
        6 => (0..64_usize, any::<bool>()).prop_map(|(variable, sign)| Action::Decide(variable, sign)),
        3 => (0..64_usize, any::<bool>()).prop_map(|(variable, sign)| Action::Assign(variable, sign)),
        6 => Just(Action::Propagate),
        1 => (0..6_usize).prop_map(Action::Backtrack),
        1 => Just(Action::Rewind),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10000))]

    #[test]
    fn as_a_search_for_cycles(
        atoms in prop::collection::vec((0..NODES, 0..NODES).prop_map(|(a, b)| Action::Atom(a, b)), 4..20),
        actions in prop::collection::vec(action(), 1..60),
    ) {
        check(&[atoms, actions].concat());
    }
}
