//! Foreign code that must not take us with it.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs code of an embedder, an adapter or a tool; `None` when it panicked.
///
/// What a panic carries is never looked at and never dropped: even dropping it
/// is foreign code (WIRE-015). It is leaked, which a fault may cost.
pub(crate) fn contained<T>(code: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(value) => Some(value),
        Err(payload) => {
            std::mem::forget(payload);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::panic_any;

    /// A payload that strikes back.
    struct Spite;

    impl Drop for Spite {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    // covers: WIRE-015
    #[test]
    fn a_panic_is_contained_whatever_it_carries() {
        assert_eq!(contained(|| 7), Some(7));
        assert_eq!(contained(|| -> u8 { panic!("a text") }), None);
        assert_eq!(contained(|| -> u8 { panic_any(Spite) }), None);
    }
}
