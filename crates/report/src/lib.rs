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
//! | [`text`] | the document for people |
//! | [`stats`] | what a trace holds |
//! | [`dump`] | events, a line each |
//! | [`printable`] | names of the input, made harmless |

pub mod build;
pub mod dump;
pub mod printable;
pub mod result;
pub mod stats;
pub mod text;

mod event_text;
mod fingerprint;
mod wrap;

pub use fingerprint::Fingerprints;
pub use result::Document;
