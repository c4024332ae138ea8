//! Compiling programs for recording, and telling whether a binary can be recorded.
