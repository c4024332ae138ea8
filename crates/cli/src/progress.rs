//! A progress bar, once something takes more than a second, on a terminal.

use crate::terminal::draw_target;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Shows how far a pass over a trace is.
pub(crate) struct Progress {
    label: &'static str,
    total: Option<u64>,
    begun: Instant,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    const PATIENCE: Duration = Duration::from_secs(1);

    /// Progress towards a number of bytes or events.
    pub(crate) fn new(label: &'static str, total: Option<u64>, enabled: bool) -> Self {
        let wanted = enabled && std::io::stderr().is_terminal();
        Progress { label, total, begun: Instant::now(), wanted, bar: None }
    }

    /// Says how far it is.
    pub(crate) fn at(&mut self, position: u64, found: impl FnOnce() -> String) {
        if !self.wanted {
            return;
        }
        if self.bar.is_none() && self.begun.elapsed() >= Self::PATIENCE {
            self.bar = Some(self.draw());
        }
        if let Some(bar) = &self.bar {
            bar.set_position(position);
            bar.set_message(found());
        }
    }

    fn draw(&self) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(self.total, draw_target());
        let template = match self.total {
            Some(_) => "{prefix} [{bar:30}] {percent}% {elapsed} {wide_msg}",
            None => "{prefix} {spinner} {elapsed} {wide_msg}",
        };
        // The templates are constants; were one wrong, the default style would do.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(self.label);
        bar
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Shows at which rung of the ladder it is.
pub(crate) struct Stages {
    begun: Instant,
    /// The most that were ever feasible.
    feasible: AtomicU64,
    bar: Option<ProgressBar>,
}

impl Stages {
    /// Nothing is shown yet.
    pub(crate) fn new(enabled: bool) -> Self {
        let bar = (enabled && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            // One line, whatever the terminal's width: what does not fit is cut.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
                bar.set_style(style);
            }
            bar
        });
        Stages { begun: Instant::now(), feasible: AtomicU64::new(0), bar }
    }

    /// Says how far the ladder has been climbed. `better` is what is known already, if that is better than anything
    /// that this climb can find.
    pub(crate) fn show(&self, progress: &interloper_ladder::Progress, better: Option<String>) {
        use interloper_ladder::Progress as At;
        if let At::Deciding { feasible, .. } = progress {
            self.feasible.fetch_max(*feasible as u64, Ordering::Relaxed);
        }
        let best = better.unwrap_or_else(|| best("feasible", self.feasible.load(Ordering::Relaxed)));
        match progress {
            At::Predicting => self.say(format!("predicting{best}")),
            At::Deciding { all: 0, .. } => self.say(format!("deciding{best}")),
            At::Deciding { decided, all, .. } => {
                self.say(format!("deciding: {decided} of {}{best}", counted(*all as u64, "triple")));
            }
            At::Checking { done, all } => {
                self.say(format!("checking: {done} of {}{best}", counted(*all as u64, "witness")));
            }
            _ => {}
        }
    }

    /// Says what is being done. It is drawn at once: a part of it that came later would be seen beside what it follows.
    pub(crate) fn say(&self, message: String) {
        let Some(bar) = &self.bar else { return };
        if self.begun.elapsed() < Progress::PATIENCE {
            return;
        }
        if bar.is_hidden() {
            bar.set_draw_target(draw_target());
        }
        bar.set_message(message);
        bar.tick();
    }

    /// Has something else said, while nothing is drawn.
    pub(crate) fn aside(&self, say: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }
}

/// `1 run`, `2 witnesses`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let ending = match (number, noun.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{number} {noun}{ending}")
}

/// The best that was found so far.
pub(crate) fn best(verdict: &str, findings: u64) -> String {
    match findings {
        0 => "; nothing found yet".to_owned(),
        findings => format!("; best: {verdict} ({findings})"),
    }
}

impl Drop for Stages {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{best, counted};

    #[test]
    fn what_is_counted() {
        let all = [counted(1, "run"), counted(2, "run"), counted(1, "witness"), counted(0, "witness")];
        assert_eq!(all, ["1 run", "2 runs", "1 witness", "0 witnesses"]);
        assert_eq!([best("feasible", 0), best("feasible", 3)], ["; nothing found yet", "; best: feasible (3)"]);
    }
}
