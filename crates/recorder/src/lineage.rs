//! How threads are called: by their place in the tree of forks, which is the same in every schedule.

use rustc_hash::FxHashMap;

/// The names of the threads of a run, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lineage {
    names: FxHashMap<u64, String>,
}

impl Lineage {
    /// A thread is made by another, which has made so many before.
    pub(crate) fn add(&mut self, number: u64, parent: u64, children_before: u64) {
        if number != 0 && !self.names.contains_key(&number) {
            let name = format!("{}.{}", self.name(parent), children_before.saturating_add(1));
            self.names.insert(number, name);
        }
    }

    /// The name of a thread.
    pub(crate) fn name(&self, number: u64) -> String {
        match self.names.get(&number) {
            Some(name) => name.clone(),
            None if number == 0 => "main".to_owned(),
            None => format!("thread#{number}"),
        }
    }
}
