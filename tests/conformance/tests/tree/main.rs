//! The checks of this crate, over the real tree.

mod compat;
mod limits;
mod marks;
mod tidy;
mod trace;

/// Fails with all complaints at once.
fn complain(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
