//! Results as people and machines read them.
//!
//! Analyses hand over ids; this crate turns them into names, sentences and fields. It is the only
//! one that knows the shapes of its formats, and it **never** decides anything: what is a finding,
//! and how far it got, was settled before.
//!
//! | module | holds |
//! |---|---|
//! | [`result`] | the result document, schema `interloper.result/1` |
//! | [`read`] | the same, read back from a file |
//! | [`build`] | from predictions and tables to that document |
//! | [`evidence`] | what a trace says of the accesses of findings: values, locks, threads |
//! | [`order`] | which findings come first, and which belong together |
//! | [`text`] | the document for people |
//! | [`sarif`] | the document for viewers of code scanning |
//! | [`sources`] | source files, as far as they are there |
//! | [`suppress`], [`baseline`] | what is not to be seen, and what was known before |
//! | [`stored`] | findings of a result that was written before, to be told again |
//! | [`words`], [`explain`] | patterns and verdicts, in sentences; what the words mean |
//! | [`stats`] | what a trace holds |
//! | [`dump`] | events, a line each |
//! | [`printable`] | names of the input, made harmless |

pub mod baseline;
pub mod build;
pub mod date;
pub mod dump;
pub mod evidence;
pub mod explain;
pub mod order;
pub mod printable;
pub mod read;
pub mod result;
pub mod sarif;
pub mod sources;
pub mod stats;
pub mod stored;
pub mod suppress;
pub mod text;
pub mod words;

mod event_text;
mod fingerprint;
mod glob;
mod mark;
#[cfg(test)]
mod testing;
mod wrap;

pub use result::Document;
pub use wrap::wrapped;
