//! Schedules: which thread runs, for how long, and their text form.
