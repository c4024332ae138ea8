//! `interloper view`: a result as a page for a browser.

use crate::args::ViewArgs;
use crate::exit::Exit;
use crate::message;
use crate::output::Target;
use crate::pages;
use crate::store;
use anyhow::{Context as _, bail};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) fn run(args: &ViewArgs) -> anyhow::Result<Exit> {
    let result = find(args.result.as_deref())?;
    let page = pages::of_stored(&result, args.trace.as_deref(), !args.no_source)?;
    let beside = result.with_extension("html");
    let output = args.output.as_deref().unwrap_or(&beside);
    let target = Target::of(Some(output));
    target.write_text(&page)?;
    if let Target::File(path) = target {
        Target::Stdout.write_text(&format!("{}\n", path.display()))?;
        if args.open {
            open(path);
        }
    }
    Ok(Exit::Clean)
}

/// The result that is meant: a file, the number of a stored one, or the latest.
fn find(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    let Some(given) = given.filter(|given| !store::is_latest(given)) else {
        let Some(latest) = store::latest_result() else { bail!(store::no_result()) };
        // The page goes beside the result, not beside the link to it.
        let path = std::fs::read_link(&latest).ok().and_then(|link| Some(latest.parent()?.join(link)));
        return Ok(path.unwrap_or(latest));
    };
    if given.is_dir() {
        return Ok(given.join(store::RESULT));
    }
    let number = given.to_str().and_then(|text| text.parse().ok());
    match number {
        Some(number) if !given.exists() => {
            let path = store::result_numbered(number);
            path.metadata().with_context(|| format!("there is no result {number}: {}", path.display()))?;
            Ok(path)
        }
        _ => Ok(given.to_owned()),
    }
}

/// Opens a page in the browser of whoever sits at the terminal.
fn open(path: &Path) {
    if !std::io::stdout().is_terminal() {
        message::say("note", "not opened: there is no terminal");
        return;
    }
    let opener =
        Command::new("xdg-open").arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Err(error) = opener {
        message::say("note", &format!("not opened: xdg-open: {error}"));
    }
}
