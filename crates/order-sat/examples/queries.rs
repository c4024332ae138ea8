//! Answers a file of ordering queries, and says how long each took.
//!
//! ```text
//! cargo run --release -p interloper-order-sat --example queries -- FILE [proof] [no-hints] [fresh]
//! ```
//!
//! With `proof` each "no" is checked, with `fresh` each query gets a solver of its own. A line of the file is one of
//!
//! | line | meaning |
//! |---|---|
//! | `p NODES VARIABLES ...` | the size, first; variable 1 is true |
//! | `e A B` | node A is before node B |
//! | `o VARIABLE A B` | the variable is the atom A < B |
//! | `c LITERAL...` | a clause |
//! | `q LITERAL...` | a query: is there a model with these? |

use std::process::ExitCode;
use std::time::{Duration, Instant};

use interloper_order_sat::check::Checker;
use interloper_order_sat::{Answer, Budget, Lit, Node, Options, Solver};

#[derive(Default)]
struct Queries {
    nodes: usize,
    variables: usize,
    edges: Vec<(usize, usize)>,
    atoms: Vec<(i32, usize, usize)>,
    clauses: Vec<Vec<i32>>,
    queries: Vec<Vec<i32>>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((file, flags)) = arguments.split_first() else {
        eprintln!("usage: queries FILE [proof] [no-hints] [fresh]");
        return ExitCode::FAILURE;
    };
    let flag = |name: &str| flags.iter().any(|flag| flag == name);
    let mut options = Options::default();
    options.proof = flag("proof");
    options.hints = !flag("no-hints");
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let Some(queries) = read(&text) else {
        eprintln!("{file}: not a file of queries");
        return ExitCode::FAILURE;
    };
    if flag("fresh") {
        for query in &queries.queries {
            answer(&queries, std::slice::from_ref(query), options);
        }
    } else {
        answer(&queries, &queries.queries, options);
    }
    ExitCode::SUCCESS
}

fn read(text: &str) -> Option<Queries> {
    let mut queries = Queries::default();
    for line in text.lines() {
        let (kind, numbers) = line.split_once(' ')?;
        let numbers: Vec<i32> =
            numbers.split_ascii_whitespace().map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let at = |place: usize| numbers.get(place).and_then(|&number| usize::try_from(number).ok());
        match kind {
            "p" => (queries.nodes, queries.variables) = (at(0)?, at(1)?),
            "e" => queries.edges.push((at(0)?, at(1)?)),
            "o" => queries.atoms.push((*numbers.first()?, at(1)?, at(2)?)),
            "c" => queries.clauses.push(numbers),
            "q" => queries.queries.push(numbers),
            _ => return None,
        }
    }
    Some(queries)
}

/// Builds the formula, answers the queries one after the other, and prints what it took.
fn answer(formula: &Queries, queries: &[Vec<i32>], options: Options) {
    let start = Instant::now();
    let mut solver = Solver::with_options(options);
    let nodes: Vec<Node> = (0..formula.nodes).map(|_| solver.node()).collect();
    for &(a, b) in &formula.edges {
        solver.require_before(nodes[a], nodes[b]);
    }
    let mut literals = vec![None; formula.variables + 1];
    literals[1] = Some(Lit::TRUE);
    for &(variable, a, b) in &formula.atoms {
        let atom = solver.before(nodes[a], nodes[b]);
        literals[variable as usize] = Some(atom);
        // The last node is the end of what is to be executed: the sooner, the less there is to satisfy.
        if options.hints && b + 1 == formula.nodes {
            solver.hint(!atom);
        }
    }
    let mut literal = |solver: &mut Solver, number: i32| {
        let literal = *literals[number.unsigned_abs() as usize].get_or_insert_with(|| solver.fresh());
        if number > 0 { literal } else { !literal }
    };
    for clause in &formula.clauses {
        let clause: Vec<Lit> = clause.iter().map(|&number| literal(&mut solver, number)).collect();
        solver.clause(&clause);
    }
    let built = start.elapsed();
    let mut checker = Checker::new();
    let (mut satisfiable, mut unsatisfiable, mut checking) = (0, 0, Duration::ZERO);
    let mut times = Vec::new();
    for query in queries {
        let assumptions: Vec<Lit> = query.iter().map(|&number| literal(&mut solver, number)).collect();
        let start = Instant::now();
        let answer = solver.solve(&assumptions, &Budget::default());
        times.push(start.elapsed());
        match answer {
            Answer::Satisfiable(_) => satisfiable += 1,
            Answer::Unsatisfiable(_) => unsatisfiable += 1,
            Answer::Unknown(reason) => println!("no answer: {reason:?}"),
        }
        if options.proof {
            let start = Instant::now();
            if let Err(error) = checker.check(&solver.take_proof()) {
                println!("the proof is wrong: {error}");
            }
            checking += start.elapsed();
        }
    }
    times.sort_unstable();
    let total: Duration = times.iter().sum();
    println!(
        "{satisfiable} yes, {unsatisfiable} no; built in {built:.2?}, solved in {total:.2?}, median {:.2?}, most {:.2?}",
        times.get(times.len() / 2).copied().unwrap_or_default(),
        times.last().copied().unwrap_or_default(),
    );
    println!("{:?}", solver.statistics());
    if options.proof {
        println!("checked {} lemmas and {} refutations in {checking:.2?}", checker.lemmas(), checker.refutations());
    }
}
