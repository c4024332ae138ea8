//! The library inside a recorded program.
