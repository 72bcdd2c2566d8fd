//! Runs worlds from seeds and tells what became of them.

fn main() {}
