//! Declared values read back from a scanned text.
//!
//! Objects are open here: members that are not declared are dropped, so that a
//! peer may know more than we do (WIRE-PERM-013). What is declared has to be there
//! and to fit; there is no half of a value.

use super::{Shape, is_constant};
use crate::json::{Members, Object, RawJson, Str, Value};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A value that can be read from what its writer writes.
pub trait FromJson: Sized {
    /// The value; `None` when it is another one.
    fn read(value: Value<'_>) -> Option<Self>;
}

/// A declared object, or a choice of such, that can be read member by member.
pub trait FromMembers: FromJson {
    /// The members of it that an object has.
    fn read_members(fields: &mut Fields<'_>) -> Option<Self>;
}

/// The members of an object, to be taken by their names. Taken in the order of
/// the text each costs one look.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    object: Object<'a>,
    /// The first that was not taken in its turn.
    next: Option<(Str<'a>, Value<'a>)>,
    rest: Members<'a>,
}

impl<'a> Fields<'a> {
    /// The members of `object`.
    #[must_use]
    #[inline]
    pub fn of(object: Object<'a>) -> Self {
        let mut rest = object.iter();
        Self {
            object,
            next: rest.next(),
            rest,
        }
    }

    /// The value of the member with that name.
    #[inline]
    pub fn take(&mut self, name: &str) -> Option<Value<'a>> {
        // With nothing left every member was taken already.
        let (found, value) = self.next?;
        if found == *name {
            self.next = self.rest.next();
            return Some(value);
        }
        self.object.get(name)
    }

    /// The same, where `null` counts as absent.
    #[inline]
    pub fn take_some(&mut self, name: &str) -> Option<Value<'a>> {
        self.take(name).filter(|value| !value.is_null())
    }

    /// Whether the member with that name is there and has the value with this
    /// JSON text.
    #[inline]
    pub fn constant(&mut self, name: &str, json: &str) -> bool {
        self.take(name)
            .is_some_and(|value| value.raw() == json || is_constant(json, value))
    }
}

/// What tells records apart at a glance: their `type`, and their `subtype`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Discriminant<'a> {
    kind: Option<Value<'a>>,
    subtype: Option<Value<'a>>,
}

impl<'a> Discriminant<'a> {
    /// Those of an object.
    pub(crate) fn of(object: Object<'a>) -> Self {
        let mut fields = Fields::of(object);
        Self {
            kind: fields.take("type"),
            subtype: fields.take("subtype"),
        }
    }

    /// Whether an object of this shape may have them: none of its first members
    /// says otherwise.
    pub(crate) fn opens(self, shape: &Shape) -> bool {
        let is = |found: Option<Value<'_>>, json: &str| {
            found.is_some_and(|value| value.raw() == json || is_constant(json, value))
        };
        if let Shape::OneOf(shapes) = shape {
            return shapes.iter().any(|shape| self.opens(shape));
        }
        let Shape::Object(members) = shape else {
            return true;
        };
        let mut first = members.iter().take(2);
        first.all(|member| {
            let Shape::Constant(json) = member.shape else {
                return true;
            };
            match member.name {
                "type" => is(self.kind, json),
                "subtype" => is(self.subtype, json),
                _ => true,
            }
        })
    }
}

impl FromJson for String {
    fn read(value: Value<'_>) -> Option<Self> {
        Some(value.as_str()?.decode().ok()?.into_owned())
    }
}

impl FromJson for Arc<str> {
    fn read(value: Value<'_>) -> Option<Self> {
        Some(Self::from(&*value.as_str()?.decode().ok()?))
    }
}

impl FromJson for Cow<'static, str> {
    fn read(value: Value<'_>) -> Option<Self> {
        String::read(value).map(Cow::Owned)
    }
}

impl FromJson for bool {
    fn read(value: Value<'_>) -> Option<Self> {
        value.as_bool()
    }
}

impl FromJson for u64 {
    fn read(value: Value<'_>) -> Option<Self> {
        value.as_u64()
    }
}

impl FromJson for RawJson {
    fn read(value: Value<'_>) -> Option<Self> {
        (!value.is_null()).then(|| Self::from_value(value))
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    fn read(value: Value<'_>) -> Option<Self> {
        value.as_array()?.iter().map(T::read).collect()
    }
}

impl<T: FromJson, const N: usize> FromJson for [T; N] {
    fn read(value: Value<'_>) -> Option<Self> {
        Vec::read(value)?.try_into().ok()
    }
}

impl<T: FromJson> FromJson for Arc<[T]> {
    fn read(value: Value<'_>) -> Option<Self> {
        Vec::read(value).map(Self::from)
    }
}

impl<T: FromJson> FromJson for BTreeMap<Arc<str>, T> {
    fn read(value: Value<'_>) -> Option<Self> {
        let read = |(name, value): (Str<'_>, Value<'_>)| {
            let name = name.decode().ok()?;
            Some((Arc::from(&*name), T::read(value)?))
        };
        value.as_object()?.iter().map(read).collect()
    }
}

impl<T: FromJson> FromJson for Box<T> {
    fn read(value: Value<'_>) -> Option<Self> {
        T::read(value).map(Self::new)
    }
}

impl<T: FromMembers> FromMembers for Box<T> {
    fn read_members(fields: &mut Fields<'_>) -> Option<Self> {
        T::read_members(fields).map(Self::new)
    }
}
