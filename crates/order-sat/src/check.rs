//! A checker of answers "no", which shares no code with what found them.
//!
//! # What is checked
//!
//! - Each clause that CaDiCaL takes as given is a clause of the formula or a lemma of the theory.
//! - Each lemma is a cycle: were all its literals false, the edges they stand for would, with the required
//!   edges, go round.
//! - Each derived clause follows by unit propagation from the antecedents it names (RUP with hints, as in LRAT). So
//!   all that is derived follows from formula and lemmas; what is deleted only makes less follow.
//! - Each refutation is a derived clause, all of whose literals negate failed assumptions.
//!
//! # What is not
//!
//! Models: whoever gets one can evaluate it. And how gates and bit-vectors became clauses: here these are the
//! formula.

use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use crate::proof::{ClauseId, Step};
use crate::{Lit, Node};

/// What is wrong with a log.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum CheckError {
    /// A clause was taken as given that nobody gave.
    #[error("clause {0:?} is neither of the formula nor a lemma")]
    Unfounded(Vec<Lit>),
    /// A lemma has a literal that orders no nodes.
    #[error("lemma {0:?} has the literal {1:?}, which is no atom")]
    NoAtom(Vec<Lit>, Lit),
    /// A lemma that some order makes false.
    #[error("lemma {0:?} is no cycle")]
    NoCycle(Vec<Lit>),
    /// A clause was named that is not there.
    #[error("there is no clause {0:?}")]
    Missing(ClauseId),
    /// A clause came back that was never weakened, or not as it was.
    #[error("clause {0:?} was restored, but not weakened like this")]
    NotWeakened(ClauseId),
    /// The antecedents do not lead to a conflict.
    #[error("clause {0:?} does not follow from its antecedents")]
    NotImplied(ClauseId),
    /// A "no" without a clause that shows it.
    #[error("nothing shows that {0:?} cannot all hold")]
    NotRefuted(Vec<Lit>),
}

/// Checks a log as it grows. See the module.
#[derive(Default)]
pub struct Checker {
    atoms: FxHashMap<Lit, (Node, Node)>,
    /// By node: what is required to be after it.
    edges: Vec<Vec<Node>>,
    /// Clauses of the formula and checked lemmas, sorted.
    founded: FxHashSet<Vec<Lit>>,
    clauses: FxHashMap<ClauseId, Vec<Lit>>,
    weakened: FxHashMap<ClauseId, Vec<Lit>>,
    concluded: Vec<ClauseId>,
    lemmas: u64,
    refutations: u64,
}

impl Checker {
    /// A checker that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks what comes next in the log.
    ///
    /// # Errors
    ///
    /// At the first step that is wrong.
    pub fn check(&mut self, steps: &[Step]) -> Result<(), CheckError> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    /// How many lemmas were checked.
    pub fn lemmas(&self) -> u64 {
        self.lemmas
    }

    /// How many refutations were checked.
    pub fn refutations(&self) -> u64 {
        self.refutations
    }

    fn step(&mut self, step: &Step) -> Result<(), CheckError> {
        match step {
            Step::Atom { literal, first, second } => {
                self.atoms.insert(*literal, (*first, *second));
                self.atoms.insert(!*literal, (*second, *first));
            }
            Step::Edge(first, second) => {
                let most = first.index().max(second.index());
                if self.edges.len() <= most {
                    self.edges.resize(most + 1, Vec::new());
                }
                self.edges[first.index()].push(*second);
            }
            Step::Input(clause) => {
                self.founded.insert(sorted(clause));
            }
            Step::Lemma(clause) => {
                self.check_lemma(clause)?;
                self.founded.insert(sorted(clause));
                self.lemmas += 1;
            }
            Step::Original(id, clause) => {
                let clause = sorted(clause);
                if !self.founded.contains(&clause) {
                    return Err(CheckError::Unfounded(clause));
                }
                self.clauses.insert(*id, clause);
            }
            Step::Restored(id, clause) => match self.weakened.remove(id) {
                Some(known) if known == sorted(clause) => {
                    self.clauses.insert(*id, known);
                }
                _ => return Err(CheckError::NotWeakened(*id)),
            },
            Step::Derived { id, clause, antecedents } => {
                self.check_derived(*id, clause, antecedents)?;
                self.clauses.insert(*id, sorted(clause));
            }
            Step::Weakened(id) => {
                let clause = self.clauses.get(id).ok_or(CheckError::Missing(*id))?;
                self.weakened.insert(*id, clause.clone());
            }
            Step::Deleted(id) => {
                self.clauses.remove(id).ok_or(CheckError::Missing(*id))?;
            }
            Step::Concluded(ids) => self.concluded.clone_from(ids),
            Step::Refuted(failed) => {
                let shows = |id: &ClauseId| {
                    self.clauses.get(id).is_some_and(|clause| clause.iter().all(|&literal| failed.contains(&!literal)))
                };
                if !self.concluded.iter().any(shows) {
                    return Err(CheckError::NotRefuted(failed.clone()));
                }
                self.concluded.clear();
                self.refutations += 1;
            }
        }
        Ok(())
    }

    /// Were all literals false, would there be a cycle? It has to go through the first literal's edge; one that does
    /// not would be a lemma without that literal.
    fn check_lemma(&self, lemma: &[Lit]) -> Result<(), CheckError> {
        let mut extra: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
        for &literal in lemma {
            let &(first, second) =
                self.atoms.get(&!literal).ok_or_else(|| CheckError::NoAtom(lemma.to_vec(), literal))?;
            extra.entry(first).or_default().push(second);
        }
        let cycle = match lemma.first().and_then(|&literal| self.atoms.get(&!literal)) {
            Some(&(first, second)) => self.reaches(second, first, &extra),
            None => (0..self.edges.len()).any(|index| {
                let node = Node::new(index as u32);
                self.edges[index].iter().any(|&next| self.reaches(next, node, &extra))
            }),
        };
        if cycle { Ok(()) } else { Err(CheckError::NoCycle(lemma.to_vec())) }
    }

    /// Is there a way from one node to another along required and extra edges?
    fn reaches(&self, from: Node, to: Node, extra: &FxHashMap<Node, Vec<Node>>) -> bool {
        let mut seen = FxHashSet::from_iter([from]);
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            if node == to {
                return true;
            }
            let required = self.edges.get(node.index()).into_iter().flatten();
            for &next in required.chain(extra.get(&node).into_iter().flatten()) {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        false
    }

    /// With all literals of the clause false, do the antecedents propagate to a conflict?
    fn check_derived(&self, id: ClauseId, clause: &[Lit], antecedents: &[ClauseId]) -> Result<(), CheckError> {
        let mut falsified: FxHashSet<Lit> = clause.iter().copied().collect();
        if clause.iter().any(|&literal| falsified.contains(&!literal)) {
            return Ok(());
        }
        for antecedent in antecedents {
            let antecedent = self.clauses.get(antecedent).ok_or(CheckError::Missing(*antecedent))?;
            let mut left = antecedent.iter().filter(|literal| !falsified.contains(literal));
            match (left.next(), left.next()) {
                (None, _) => return Ok(()),
                (Some(&literal), None) => {
                    falsified.insert(!literal);
                }
                _ => return Err(CheckError::NotImplied(id)),
            }
        }
        Err(CheckError::NotImplied(id))
    }
}

fn sorted(clause: &[Lit]) -> Vec<Lit> {
    let mut clause = clause.to_vec();
    clause.sort_unstable();
    clause.dedup();
    clause
}
