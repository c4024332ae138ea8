//! Ctrl-C: the first one asks, the second one insists. And a signal that would end us where an error says more.

use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Begins to listen for interrupts.
pub(crate) fn install() {
    let flag = Arc::clone(INTERRUPTED.get_or_init(Arc::default));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the second signal finds the flag set and ends the process. Where a handler
        // cannot be installed, the signal keeps its ordinary, immediate effect.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag));
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
}

/// Has writing to a file that may not become longer (`ulimit -f`) fail, rather than end us. A handler, since
/// programs that are started would inherit that the signal is ignored.
pub(crate) fn survive_file_limits() {
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Whether the user wants us to stop.
pub(crate) fn requested() -> bool {
    INTERRUPTED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// What becomes true when the user wants us to stop.
pub(crate) fn flag() -> Arc<AtomicBool> {
    Arc::clone(INTERRUPTED.get_or_init(Arc::default))
}

/// A command was stopped by the user before it had anything to show: what it says instead.
#[derive(Debug)]
pub(crate) struct Interrupted(pub(crate) &'static str);

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Interrupted {}

/// Stops, if the user wants that, a command that leaves nothing behind.
pub(crate) fn stop_if_requested() -> Result<(), Interrupted> {
    if requested() { Err(Interrupted("nothing was written")) } else { Ok(()) }
}
