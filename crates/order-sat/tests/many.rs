//! One solver, many queries: each model is evaluated, and each "no" is checked from its proof.

use interloper_order_sat::check::Checker;
use interloper_order_sat::{Answer, Budget, Lit, Model, Node, Options, Solver};

/// SplitMix64. The formulas here are too large for a script that shrinks to be of use.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % limit as u64) as usize
    }

    /// Two different numbers.
    fn pair(&mut self, limit: usize) -> (usize, usize) {
        let first = self.below(limit);
        let second = (first + 1 + self.below(limit - 1)) % limit;
        (first, second)
    }
}

/// A formula that has a model, for the order of the nodes' numbers is one.
struct Planted {
    edges: Vec<(usize, usize)>,
    clauses: Vec<Vec<(usize, usize)>>,
}

impl Planted {
    fn grow(&mut self, random: &mut Random, nodes: usize, solver: &mut Solver, names: &[Node]) {
        for _ in 0..nodes / 8 {
            let (a, b) = random.pair(nodes);
            let (a, b) = (a.min(b), a.max(b));
            solver.require_before(names[a], names[b]);
            self.edges.push((a, b));
        }
        for _ in 0..nodes * 10 {
            let mut clause: Vec<(usize, usize)> = (0..3).map(|_| random.pair(nodes)).collect();
            let (a, b) = clause[0];
            clause[0] = (a.min(b), a.max(b));
            let literals: Vec<Lit> = clause.iter().map(|&(a, b)| solver.before(names[a], names[b])).collect();
            solver.clause(&literals);
            self.clauses.push(clause);
        }
    }

    fn assert_model(&self, model: &Model, names: &[Node], assumed: &[(usize, usize)]) {
        let before = |&(a, b): &(usize, usize)| model.position(names[a]) < model.position(names[b]);
        assert!(self.edges.iter().all(before));
        assert!(self.clauses.iter().all(|clause| clause.iter().any(before)));
        assert!(assumed.iter().all(before));
    }
}

fn ask_often(seed: u64, nodes: usize, queries: usize, checked: bool) -> (usize, usize) {
    let mut random = Random(seed);
    let mut options = Options::default();
    options.proof = checked;
    let mut solver = Solver::with_options(options);
    let mut checker = Checker::new();
    let mut names = Vec::new();
    let mut planted = Planted { edges: Vec::new(), clauses: Vec::new() };
    let (mut yes, mut no) = (0, 0);
    for query in 0..queries {
        // The formula is made in four parts, and searched after each.
        if query % (queries / 4) == 0 {
            names.extend((0..nodes / 4).map(|_| solver.node()));
            planted.grow(&mut random, names.len(), &mut solver, &names);
        }
        let assumed: Vec<(usize, usize)> = (0..7).map(|_| random.pair(names.len())).collect();
        let assumptions: Vec<Lit> = assumed.iter().map(|&(a, b)| solver.before(names[a], names[b])).collect();
        match solver.solve(&assumptions, &Budget::default()) {
            Answer::Satisfiable(model) => {
                planted.assert_model(&model, &names, &assumed);
                yes += 1;
            }
            Answer::Unsatisfiable(failed) => {
                assert!(!failed.is_empty(), "the formula has a model");
                assert!(failed.iter().all(|literal| assumptions.contains(literal)));
                no += 1;
            }
            Answer::Unknown(reason) => panic!("no limit was given, but {reason:?}"),
        }
        if let Err(error) = checker.check(&solver.take_proof()) {
            panic!("query {query}: {error}");
        }
    }
    (yes, no)
}

/// One test, since memory can be watched only while nothing else runs.
#[test]
fn many_queries() {
    memory_stays_bounded();
    answers_stay_right();
}

fn answers_stay_right() {
    for seed in 0..4 {
        let (yes, no) = ask_often(seed, 60, 1000, true);
        assert!(yes > 100 && no > 100, "{yes} yes and {no} no are too few of either");
    }
}

/// Not a measurement, but a guard against what grows with each query: memory of earlier answers must not.
fn memory_stays_bounded() {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        status.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
    };
    ask_often(9, 40, 2000, false);
    let before = resident();
    for seed in 10..14 {
        ask_often(seed, 40, 2000, false);
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 32 << 20, "grew by {grown} bytes in 8000 queries");
}
