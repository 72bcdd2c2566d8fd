//! A coding agent behind a pipe: the command-line binary.
fn main() {}
