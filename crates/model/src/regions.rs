//! Which events belong to one step: the outermost regions of the chosen sources.

use interloper_trace::{RegionSource, ThreadId};

/// A choice of region sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionSources(u8);

impl RegionSources {
    /// None of them.
    pub const NONE: RegionSources = RegionSources(0);

    /// What is looked at unless the user says otherwise.
    pub fn default_choice() -> Self {
        [RegionSource::Annotated, RegionSource::Locks, RegionSource::Functions].into_iter().collect()
    }

    /// Whether regions of this source count.
    #[inline]
    pub const fn contains(self, source: RegionSource) -> bool {
        self.0 & (1 << source as u8) != 0
    }

    /// The choice with one more source.
    #[must_use]
    pub const fn with(self, source: RegionSource) -> Self {
        RegionSources(self.0 | 1 << source as u8)
    }
}

impl FromIterator<RegionSource> for RegionSources {
    fn from_iter<I: IntoIterator<Item = RegionSource>>(sources: I) -> Self {
        sources.into_iter().fold(Self::NONE, Self::with)
    }
}

/// How deeply each thread is inside regions.
#[derive(Clone, Debug)]
pub struct Regions {
    sources: RegionSources,
    depth: Vec<u32>,
}

/// What a begin or end event means once nesting is folded away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionEdge {
    /// The outermost region begins or ends here.
    Outermost,
    /// It changes nothing: nested, or of a source that was not chosen.
    Ignored,
}

impl Regions {
    /// No thread is inside a region.
    pub fn new(sources: RegionSources) -> Self {
        Regions { sources, depth: Vec::new() }
    }

    /// A region begins.
    #[inline]
    pub fn begin(&mut self, thread: ThreadId, source: RegionSource) -> RegionEdge {
        if !self.sources.contains(source) {
            return RegionEdge::Ignored;
        }
        if thread.index() >= self.depth.len() {
            self.depth.resize(thread.index() + 1, 0);
        }
        let depth = &mut self.depth[thread.index()];
        *depth += 1;
        if *depth == 1 { RegionEdge::Outermost } else { RegionEdge::Ignored }
    }

    /// A region ends.
    #[inline]
    pub fn end(&mut self, thread: ThreadId, source: RegionSource) -> RegionEdge {
        if !self.sources.contains(source) {
            return RegionEdge::Ignored;
        }
        match self.depth.get_mut(thread.index()) {
            Some(depth) if *depth > 0 => {
                *depth -= 1;
                if *depth == 0 { RegionEdge::Outermost } else { RegionEdge::Ignored }
            }
            _ => RegionEdge::Ignored,
        }
    }
}
