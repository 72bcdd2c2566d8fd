//! Parts of a session that take room only once they are used.
//!
//! Most sessions wait for their host most of the time, and have no hook, server,
//! task or answer. Such a part is a pointer until somebody writes to it, and reads
//! as an empty one.

use alloc::boxed::Box;
use core::ops::{Deref, DerefMut};

/// What has an empty state that can stand for all that were never written to.
pub(crate) trait Empty: Default + 'static {
    /// The same as the default.
    const EMPTY: &'static Self;
}

/// A part that is made by the first write to it.
#[derive(Clone, Debug)]
pub(crate) struct Lazy<T>(Option<Box<T>>);

impl<T> Lazy<T> {
    /// A part nobody has written to.
    pub(crate) const NEW: Self = Self(None);

    /// A part that begins with this.
    pub(crate) fn with(part: T) -> Self {
        Self(Some(Box::new(part)))
    }

    /// The part, if somebody has written to it: for what is done to all of it that
    /// is there.
    pub(crate) fn made(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }

    /// Gives back what was written to.
    pub(crate) fn reset(&mut self) {
        self.0 = None;
    }
}

impl<T: Empty> Deref for Lazy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::EMPTY)
    }
}

impl<T: Empty> DerefMut for Lazy<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_with(Box::default)
    }
}
