//! The witness page: a result and the traces it speaks of, as one HTML file that needs nothing else.
//!
//! | module | holds |
//! |---|---|
//! | `story` | which orders of which traces show a finding, and how much of them is embedded |
//! | `arrows` | what comes before what, between threads, in an order |
//! | `seen` | what accesses read and wrote in an order |
//! | `track` | the events of a trace that are embedded, in columns |
//! | `source` | lines of source files |
//! | `words` | sentences: what was found, what it did, what is proved and what is not |
//! | `document`, `finding`, `serial` | the page, readable without a script |
//! | `data` | what the script is given |
//! | `policy` | style, script, and the content-security policy that lets these run and nothing else |
//! | `html`, `text` | markup and text that cannot act |
//!
//! Everything is in the HTML already, but for stepping: `assets/` has the style and the script, by hand and without
//! a framework. The script enters text as text only; there is no way from a name in a trace to markup.
//!
//! This crate **never** reads a file or the network: whoever calls it hands in traces and sources. It decides
//! nothing, either; verdicts are the result's.

mod arrows;
mod data;
mod document;
mod finding;
mod html;
mod policy;
mod seen;
mod serial;
mod source;
mod story;
mod text;
mod track;
mod words;

pub use source::SourceText;
pub use story::{RecordedTrace, TraceName};

use interloper_report::read::Result as Found;
use source::Sources;
use story::Story;

/// A page in the making.
#[derive(Debug)]
pub struct Page {
    name: String,
    result: Found,
    story: Story,
    sources: Sources,
    notes: Vec<String>,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// It is not JSON, or not of that shape.
    #[error("found no result of interloper: {0}")]
    NotAResult(#[from] serde_json::Error),
    /// It is of a schema that is not known here.
    #[error("found schema {found}, expected {expected}: another version of interloper made it")]
    OtherSchema {
        /// What it says.
        found: String,
        /// What is known.
        expected: &'static str,
    },
}

impl Page {
    /// A page of a result in its JSON form. `name` is what it is called.
    pub fn new(name: &str, json: &str) -> Result<Page, PageError> {
        let result: Found = serde_json::from_str(json)?;
        let expected = interloper_report::result::SCHEMA;
        if result.schema != expected {
            return Err(PageError::OtherSchema { found: text::clipped(&result.schema, 80), expected });
        }
        Ok(Page {
            name: name.to_owned(),
            result,
            story: Story::default(),
            sources: Sources::default(),
            notes: Vec::new(),
        })
    }

    /// The result that the page is about.
    pub fn result(&self) -> &Found {
        &self.result
    }

    /// Takes from traces what shows the findings. Each trace is asked for once, and let go before the next.
    pub fn read_traces(&mut self, shelf: &mut dyn FnMut(&TraceName) -> Option<RecordedTrace>) {
        self.story = Story::tell(&self.result, shelf);
    }

    /// The source files that lines should be shown of, most wanted first.
    pub fn source_files(&self) -> Vec<String> {
        source::wanted_files(&self.result, &self.story)
    }

    /// Takes the lines that are shown from a source file.
    pub fn add_source(&mut self, file: &str, source: &SourceText) {
        let lines = source::wanted_lines(file, &self.result, &self.story);
        self.sources.add(file, source, &lines);
    }

    /// Adds something that one should know.
    pub fn add_note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// The page.
    pub fn render(&self) -> String {
        document::render(self)
    }
}
