//! The witness page in a real browser.

// Every test file is a crate of its own and uses a part of this.
#![allow(dead_code, clippy::unwrap_used)]

mod chromium;

pub(crate) use chromium::Chromium;
