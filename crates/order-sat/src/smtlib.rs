//! A formula and questions about it, as text that other solvers read: SMT-LIB, one command a line.
//!
//! Nodes are integers, and each atom is said in both directions, since of two different nodes one is before the other
//! while two integers may be equal. With that the answers are the same: an order of the nodes gives them numbers, and
//! numbers that satisfy all atoms give an order, in which nodes with equal numbers, which no atom compares, go by
//! their index.
//!
//! What is read back is what is written here, and not SMT-LIB at large.

use std::fmt::{self, Write as _};

use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::proof::Step;
use crate::{Answer, Budget, Lit, Node, Options, Solver};

/// A formula, and the assumptions of each question about it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    nodes: u32,
    edges: Vec<(Node, Node)>,
    /// The literal is the atom that the first node is before the second.
    atoms: Vec<(Lit, Node, Node)>,
    clauses: Vec<Vec<Lit>>,
    questions: Vec<Vec<Lit>>,
}

/// Why a text is none that was written here.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}: found {found:?}, which is not what is written by this crate")]
pub struct ScriptError {
    /// The line, from one.
    pub line: usize,
    /// What is there.
    pub found: String,
}

impl Script {
    /// The formula that a solver was told, from its log (see [`Options::proof`](crate::Options::proof)), with questions
    /// about it in that solver's literals.
    pub fn new(log: &[Step], questions: Vec<Vec<Lit>>) -> Self {
        let mut script = Script { questions, ..Script::default() };
        for step in log {
            match step {
                Step::Atom { literal, first, second } => script.add_atom(*literal, *first, *second),
                Step::Edge(first, second) => script.add_edge(*first, *second),
                Step::Input(clause) if !clause.contains(&Lit::TRUE) => script.clauses.push(clause.clone()),
                _ => {}
            }
        }
        script
    }

    /// How many questions there are.
    pub fn questions(&self) -> usize {
        self.questions.len()
    }

    /// How many nodes are ordered.
    pub fn nodes(&self) -> usize {
        self.nodes as usize
    }

    /// How many clauses the formula has.
    pub fn clauses(&self) -> usize {
        self.clauses.len()
    }

    /// Answers the questions one after the other, with one solver.
    pub fn answer(&self, options: Options, mut answered: impl FnMut(Answer)) {
        let mut solver = Solver::with_options(options);
        let nodes: Vec<Node> = (0..self.nodes).map(|_| solver.node()).collect();
        let mut literals: FxHashMap<Lit, Lit> = FxHashMap::default();
        for (first, second) in &self.edges {
            solver.require_before(nodes[first.index()], nodes[second.index()]);
        }
        for (literal, first, second) in &self.atoms {
            let atom = solver.before(nodes[first.index()], nodes[second.index()]);
            literals.insert(*literal, atom);
        }
        let mut of = |solver: &mut Solver, own: &Lit| match own.as_constant() {
            Some(_) => *own,
            None if own.is_positive() => *literals.entry(*own).or_insert_with(|| solver.fresh()),
            None => !*literals.entry(!*own).or_insert_with(|| solver.fresh()),
        };
        for clause in &self.clauses {
            let clause: Vec<Lit> = clause.iter().map(|literal| of(&mut solver, literal)).collect();
            solver.clause(&clause);
        }
        for question in &self.questions {
            let assumptions: Vec<Lit> = question.iter().map(|literal| of(&mut solver, literal)).collect();
            answered(solver.solve(&assumptions, &Budget::default()));
        }
    }

    /// Reads what [`Script`] displays as.
    ///
    /// # Errors
    ///
    /// At the first line that is something else.
    pub fn read(text: &str) -> Result<Script, ScriptError> {
        let mut script = Script::default();
        for (number, line) in text.lines().enumerate() {
            let error = || ScriptError { line: number + 1, found: line.chars().take(80).collect() };
            script.read_line(line).ok_or_else(error)?;
        }
        Ok(script)
    }

    fn read_line(&mut self, line: &str) -> Option<()> {
        let is_known = line.starts_with("(set-") || line.starts_with("(declare-const ");
        if let Some(question) = inside(line, "(check-sat-assuming (", "))") {
            self.questions.push(read_literals(question)?);
        } else if let Some(clause) = inside(line, "(assert (or ", " false))") {
            self.clauses.push(read_literals(clause)?);
        } else if let Some(edge) = inside(line, "(assert (< ", "))") {
            let (first, second) = read_nodes(edge)?;
            self.add_edge(first, second);
        } else if let Some(atom) = inside(line, "(assert (= ", ")))") {
            let (literal, nodes) = atom.split_once(" (< ")?;
            let (first, second) = read_nodes(nodes)?;
            match read_literals(literal)?[..] {
                [literal] if literal.is_positive() => self.add_atom(literal, first, second),
                // The other direction of the atom before.
                [literal] => (self.atoms.last() == Some(&(!literal, second, first))).then_some(())?,
                _ => return None,
            }
        } else if !is_known {
            return None;
        }
        Some(())
    }

    fn add_edge(&mut self, first: Node, second: Node) {
        self.nodes = self.nodes.max(first.number().max(second.number()) + 1);
        self.edges.push((first, second));
    }

    fn add_atom(&mut self, literal: Lit, first: Node, second: Node) {
        self.nodes = self.nodes.max(first.number().max(second.number()) + 1);
        self.atoms.push((literal, first, second));
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "(set-logic QF_IDL)")?;
        (0..self.nodes).try_for_each(|node| writeln!(f, "(declare-const n{node} Int)"))?;
        let said = self.atoms.iter().map(|(literal, ..)| literal);
        let said = said.chain(self.clauses.iter().chain(&self.questions).flatten());
        let constants = [Lit::TRUE, Lit::FALSE].map(Lit::variable);
        let mut variables: Vec<usize> =
            said.map(|literal| literal.variable()).filter(|variable| !constants.contains(variable)).collect();
        variables.sort_unstable();
        variables.dedup();
        variables.iter().try_for_each(|variable| writeln!(f, "(declare-const b{variable} Bool)"))?;
        for (first, second) in &self.edges {
            writeln!(f, "(assert (< n{} n{}))", first.index(), second.index())?;
        }
        for (literal, first, second) in &self.atoms {
            let (first, second) = (first.index(), second.index());
            writeln!(f, "(assert (= {} (< n{first} n{second})))", written(&[*literal]))?;
            writeln!(f, "(assert (= {} (< n{second} n{first})))", written(&[!*literal]))?;
        }
        for clause in &self.clauses {
            // A disjunction has two parts at least.
            writeln!(f, "(assert (or {} false))", written(clause))?;
        }
        for question in &self.questions {
            writeln!(f, "(check-sat-assuming ({}))", written(question))?;
        }
        Ok(())
    }
}

fn inside<'t>(line: &'t str, before: &str, after: &str) -> Option<&'t str> {
    line.strip_prefix(before)?.strip_suffix(after)
}

fn written(literals: &[Lit]) -> String {
    let mut text = String::new();
    for literal in literals {
        let space = if text.is_empty() { "" } else { " " };
        let done = match literal.as_constant() {
            Some(value) => write!(text, "{space}{value}"),
            None if literal.is_positive() => write!(text, "{space}b{}", literal.variable()),
            None => write!(text, "{space}(not b{})", literal.variable()),
        };
        done.unwrap_or_default();
    }
    text
}

/// Literals as they are written.
fn read_literals(text: &str) -> Option<Vec<Lit>> {
    let mut literals = Vec::new();
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        let literal = match word {
            "true" => Lit::TRUE,
            "false" => Lit::FALSE,
            "(not" => !read_variable(words.next()?.strip_suffix(')')?)?,
            word => read_variable(word)?,
        };
        literals.push(literal);
    }
    Some(literals)
}

fn read_variable(word: &str) -> Option<Lit> {
    let number: i32 = word.strip_prefix('b')?.parse().ok()?;
    (number > Lit::TRUE.dimacs()).then(|| Lit::from_dimacs(number))
}

fn read_nodes(text: &str) -> Option<(Node, Node)> {
    let (first, second) = text.split_once(' ')?;
    // Nodes are numbered without gaps: a number that large is not one of ours.
    let node = |word: &str| word.strip_prefix('n')?.parse().ok().filter(|number| *number < 1 << 28).map(Node::new);
    Some((node(first)?, node(second)?))
}
