//! Results as people and machines read them.
//!
//! Analyses hand over ids; this crate turns them into names, sentences and fields. It is the only
//! one that knows the shapes of its formats, and it **never** decides anything: what is a finding,
//! and how far it got, was settled before.
//!
//! | module | holds |
//! |---|---|
//! | [`result`] | the result document, schema `interloper.result/1` |
//! | [`build`] | from predictions and tables to that document |
//! | [`evidence`] | what a trace says of the accesses of findings: values, locks, threads |
//! | [`order`] | which findings come first, and which belong together |
//! | [`text`] | the document for people |
//! | [`sources`] | source files, as far as they are there |
//! | [`words`] | patterns and verdicts, in sentences |
//! | [`stats`] | what a trace holds |
//! | [`dump`] | events, a line each |
//! | [`printable`] | names of the input, made harmless |

pub mod build;
pub mod dump;
pub mod evidence;
pub mod order;
pub mod printable;
pub mod result;
pub mod sources;
pub mod stats;
pub mod text;
pub mod words;

mod event_text;
mod fingerprint;
#[cfg(test)]
mod testing;
mod wrap;

pub use result::Document;
