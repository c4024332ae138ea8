//! What the solver promises, one by one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use interloper_order_sat::{Answer, Budget, Lit, Options, Reason, Solver};

fn solve(solver: &mut Solver, assumptions: &[Lit]) -> Answer {
    solver.solve(assumptions, &Budget::default())
}

#[test]
fn atoms_are_the_same_whenever_asked() {
    let mut solver = Solver::new();
    let (a, b) = (solver.node(), solver.node());
    let atom = solver.before(a, b);
    assert_eq!(solver.before(a, b), atom);
    assert_eq!(solver.before(b, a), !atom);
    assert_eq!(solver.before(a, a), Lit::FALSE);
    assert_eq!(solver.statistics().atoms, 1);
}

#[test]
fn required_edges_decide_atoms() {
    let mut solver = Solver::new();
    let nodes: Vec<_> = (0..10).map(|_| solver.node()).collect();
    let early = solver.before(nodes[9], nodes[0]);
    for pair in nodes.windows(2) {
        solver.require_before(pair[1], pair[0]);
    }
    assert_eq!(solver.before(nodes[7], nodes[2]), Lit::TRUE);
    assert_eq!(solver.before(nodes[2], nodes[7]), Lit::FALSE);
    assert_eq!(solver.before(nodes[9], nodes[0]), early);
    let Answer::Satisfiable(model) = solve(&mut solver, &[]) else { panic!("the edges have an order") };
    assert!(model.value(early));
    assert!(model.order().iter().rev().eq(&nodes));
    let Answer::Unsatisfiable(failed) = solve(&mut solver, &[!early]) else { panic!("the edges decide it") };
    assert_eq!(failed, [!early]);
}

#[test]
fn a_cycle_of_required_edges_is_the_end() {
    let mut solver = Solver::new();
    let [a, b, c] = [(); 3].map(|()| solver.node());
    solver.require_before(a, b);
    solver.require_before(b, c);
    assert_eq!(solve(&mut solver, &[]).is_satisfiable(), Some(true));
    solver.require_before(c, a);
    let free = solver.fresh();
    let Answer::Unsatisfiable(failed) = solve(&mut solver, &[free]) else { panic!("there is a cycle") };
    assert_eq!(failed, []);
}

#[test]
fn a_node_is_not_before_itself() {
    let mut solver = Solver::new();
    let a = solver.node();
    solver.require_before(a, a);
    assert_eq!(solve(&mut solver, &[]).is_satisfiable(), Some(false));
}

#[test]
fn constants() {
    let mut solver = Solver::new();
    let free = solver.fresh();
    solver.clause(&[free, Lit::TRUE]);
    solver.clause(&[!free, Lit::FALSE]);
    let Answer::Satisfiable(model) = solve(&mut solver, &[Lit::TRUE]) else { panic!("not free is a model") };
    assert!(model.value(Lit::TRUE) && !model.value(Lit::FALSE) && !model.value(free));
    let Answer::Unsatisfiable(failed) = solve(&mut solver, &[!free, Lit::FALSE]) else { panic!("false is assumed") };
    assert_eq!(failed, [Lit::FALSE]);
    assert_eq!(solver.and(&[]), Lit::TRUE);
    assert_eq!(solver.or(&[]), Lit::FALSE);
    assert_eq!(solver.and(&[free, !free]), Lit::FALSE);
    assert_eq!(solver.or(&[free, free, Lit::FALSE]), free);
    solver.clause(&[Lit::FALSE]);
    assert_eq!(solve(&mut solver, &[]).is_satisfiable(), Some(false));
}

#[test]
fn at_most_one_of_any_number() {
    for count in 0..20 {
        let mut solver = Solver::new();
        let literals: Vec<_> = (0..count).map(|_| solver.fresh()).collect();
        solver.at_most_one(&literals);
        assert_eq!(solve(&mut solver, &[]).is_satisfiable(), Some(true));
        for first in 0..count {
            assert_eq!(solve(&mut solver, &[literals[first]]).is_satisfiable(), Some(true));
            for second in 0..first {
                let both = solve(&mut solver, &[literals[first], literals[second]]);
                assert_eq!(both.is_satisfiable(), Some(false), "{first} and {second} of {count}");
            }
        }
    }
}

#[test]
fn hints_are_followed_where_nothing_decides() {
    let mut solver = Solver::new();
    let nodes: Vec<_> = (0..6).map(|_| solver.node()).collect();
    for a in 0..6 {
        for b in a + 1..6 {
            solver.before(nodes[b], nodes[a]);
        }
    }
    let free = solver.fresh();
    let other = solver.fresh();
    solver.clause(&[free, other]);
    solver.hint(free);
    solver.hint(!other);
    let Answer::Satisfiable(model) = solve(&mut solver, &[]) else { panic!("anything goes") };
    assert_eq!(model.order(), nodes, "earlier made is earlier");
    assert!(model.value(free) && !model.value(other));
}

#[test]
fn without_a_proof_there_is_nothing_to_take() {
    let mut solver = Solver::new();
    solver.clause(&[]);
    assert_eq!(solve(&mut solver, &[]).is_satisfiable(), Some(false));
    assert!(solver.take_proof().is_empty());
    assert!(!Options::default().proof);
}

/// More pigeons than holes, if the result is true: hard to refute.
fn pigeons(solver: &mut Solver, holes: usize) -> Lit {
    let hard = solver.fresh();
    let nests: Vec<Vec<Lit>> = (0..=holes).map(|_| (0..holes).map(|_| solver.fresh()).collect()).collect();
    for nest in &nests {
        let mut clause = nest.clone();
        clause.push(!hard);
        solver.clause(&clause);
    }
    for hole in 0..holes {
        for (place, first) in nests.iter().enumerate() {
            for second in &nests[..place] {
                solver.clause(&[!first[hole], !second[hole]]);
            }
        }
    }
    hard
}

#[track_caller]
fn assert_gives_up(budget: &Budget, expected: Reason) {
    let mut solver = Solver::new();
    let hard = pigeons(&mut solver, 13);
    match solver.solve(&[hard], budget) {
        Answer::Unknown(reason) => assert_eq!(reason, expected),
        answer => panic!("answered {:?} within {budget:?}", answer.is_satisfiable()),
    }
    // The budget was for that call only, and the solver is fit for more.
    assert_eq!(solve(&mut solver, &[!hard]).is_satisfiable(), Some(true));
}

#[test]
fn conflicts_run_out() {
    assert_gives_up(&Budget { conflicts: Some(100), ..Budget::default() }, Reason::Conflicts);
}

#[test]
fn a_budget_counts_for_one_call() {
    let mut solver = Solver::new();
    let hard = pigeons(&mut solver, 6);
    let few = Budget { conflicts: Some(3), ..Budget::default() };
    for _ in 0..3 {
        assert!(matches!(solver.solve(&[hard], &few), Answer::Unknown(Reason::Conflicts)));
    }
    assert_eq!(solve(&mut solver, &[hard]).is_satisfiable(), Some(false));
}

#[test]
fn time_runs_out() {
    let start = Instant::now();
    let deadline = Some(start + Duration::from_millis(100));
    assert_gives_up(&Budget { deadline, ..Budget::default() }, Reason::Deadline);
    assert!(start.elapsed() < Duration::from_secs(20), "it took {:?}", start.elapsed());
    assert_gives_up(&Budget { deadline, ..Budget::default() }, Reason::Deadline);
}

#[test]
fn another_thread_stops_it() {
    let stop = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&stop);
    let stopper = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        other.store(true, Ordering::Relaxed);
    });
    assert_gives_up(&Budget { stop: Some(stop), ..Budget::default() }, Reason::Stopped);
    stopper.join().expect("it only waits");
}
