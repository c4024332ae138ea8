//! Runs a program under the runtime and makes a trace of what it did.
