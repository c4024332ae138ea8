//! A progress bar, once something takes more than a second, on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
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
        let bar = ProgressBar::with_draw_target(self.total, ProgressDrawTarget::stderr());
        let template = match self.total {
            Some(_) => "{prefix} [{bar:30}] {percent}% {elapsed} {msg}",
            None => "{prefix} {spinner} {elapsed} {msg}",
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
    bar: Option<ProgressBar>,
}

impl Stages {
    /// Nothing is shown yet.
    pub(crate) fn new(enabled: bool) -> Self {
        let bar = (enabled && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            if let Ok(style) = ProgressStyle::with_template("{prefix} {spinner} {elapsed} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        Stages { begun: Instant::now(), bar }
    }

    /// Says how far the ladder has been climbed.
    pub(crate) fn show(&self, progress: &interloper_ladder::Progress) {
        use interloper_ladder::Progress as At;
        match progress {
            At::Predicting => self.say("predicting", String::new()),
            At::Deciding { decided, feasible, all } => {
                self.say("deciding", format!("{decided} of {all} triples{}", best("feasible", *feasible as u64)));
            }
            At::Checking { done, all } => self.say("checking", format!("{done} of {all} witnesses")),
            _ => {}
        }
    }

    /// Says what is being done.
    pub(crate) fn say(&self, stage: &'static str, message: String) {
        let Some(bar) = &self.bar else { return };
        if self.begun.elapsed() < Progress::PATIENCE {
            return;
        }
        if bar.is_hidden() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.set_prefix(stage);
        bar.set_message(message);
        bar.tick();
    }
}

/// The best that was found so far.
pub(crate) fn best(verdict: &str, findings: u64) -> String {
    match findings {
        0 => "; nothing found yet".to_owned(),
        findings => format!("; best so far: {verdict} ({findings})"),
    }
}

impl Drop for Stages {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
