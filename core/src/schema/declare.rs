//! How a wire type is declared: once.
//!
//! `record!` takes the members of an object in the order in which they are
//! written and makes of them the struct, its writer, its reader ([`FromJson`]) and
//! its [`Shape`], from which a JSON Schema can be told. `words!` does the same for
//! a closed set of words, `union!` for a choice of records.
//!
//! A member line is one of
//!
//! | line | on the wire |
//! |---|---|
//! | `"type" = "user",` | always that value; no field |
//! | `required name: T,` | always there |
//! | `nullable name: Option<T>,` | always there, `null` for `None` |
//! | `optional name: Option<T>,` | left out for `None`, never `null` |
//! | `flag name: bool,` | `true`, or left out |
//! | `flatten name: T,` | the members of record `T` stand here |
//!
//! `name as "wireName"` gives the member another name than the field's.
//! `sealed struct` keeps the fields private, for types with a rule between
//! members that their constructors uphold; it has no reader. `checked struct` is
//! one that has: its `is_sound` tells whether the rule holds.
//!
//! Records that an agent is sent are read by hand, since what is wrong with them
//! has to be told well. Their shapes are tables of [`Member`]s, and the parsers hold
//! objects against the same tables: names, presence and values are checked by
//! what the schema is told from.

mod check;
#[cfg(test)]
pub(crate) mod fits;
mod macros;
mod read;

pub use super::grammar::Spelling;
#[cfg(test)]
pub(crate) use check::has_shape;
use check::is_constant;
pub(crate) use check::{Fault, fault, open_faults};
pub(crate) use macros::{
    constant, get, member, object, put, readable, record, spelled, union, wire, words,
};
pub(crate) use read::Discriminant;
pub use read::{Fields, FromJson, FromMembers};

use crate::json::{Object, RawJson, ScanError, Value, Writer};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What the JSON of a type looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A string.
    String,
    /// A whole number, not negative.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// A whole number above zero.
    Positive,
    /// Any value.
    Any,
    /// Any value but `null`.
    NotNull,
    /// A string that is spelled so.
    Spelled(Spelling),
    /// One of these strings.
    Words(&'static [&'static str]),
    /// Exactly the value with this JSON text.
    Constant(&'static str),
    /// A list of such values.
    List(&'static Self),
    /// A list of such values with at least one.
    NonEmpty(&'static Self),
    /// An object with any names and such values.
    Map(&'static Self),
    /// An object with names that are spelled so, and such values.
    Named(Spelling, &'static Self),
    /// An object with these members, and no others unless [`Shape::Open`] says so.
    Object(&'static [Member]),
    /// One of these.
    OneOf(&'static [Self]),
    /// That shape, its objects at every depth with unknown members, which are
    /// dropped (WIRE-PERM-013).
    Open(&'static Self),
    /// The opposite, inside an open one.
    Closed(&'static Self),
}

/// One line of a declared record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Name on the wire.
    pub name: &'static str,
    /// When it is there.
    pub presence: Presence,
    /// What its value looks like.
    pub shape: Shape,
}

impl Member {
    /// A member that is always there.
    pub(crate) const fn required(name: &'static str, shape: Shape) -> Self {
        Self::new(name, Presence::Required, shape)
    }

    /// A member that may be left out.
    pub(crate) const fn optional(name: &'static str, shape: Shape) -> Self {
        Self::new(name, Presence::Optional, shape)
    }

    /// A member that always has the value with this JSON text.
    pub(crate) const fn constant(name: &'static str, json: &'static str) -> Self {
        Self::required(name, Shape::Constant(json))
    }

    /// A member that is always there, under this name or, where that is
    /// absent, under the other.
    pub(crate) const fn aliased(name: &'static str, alias: &'static str, shape: Shape) -> Self {
        Self::new(name, Presence::Aliased(alias), shape)
    }

    /// The member's value in `object`, whatever its shape.
    pub(crate) fn of<'a>(&self, object: Object<'a>) -> Option<Value<'a>> {
        let found = object.get(self.name);
        if let Presence::Aliased(alias) = self.presence {
            found.or_else(|| object.get(alias))
        } else {
            found
        }
    }

    const fn new(name: &'static str, presence: Presence, shape: Shape) -> Self {
        Self {
            name,
            presence,
            shape,
        }
    }
}

/// When a member is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Always.
    Required,
    /// Always, possibly as `null`.
    Nullable,
    /// Not always, and as `null` only where its shape has that.
    Optional,
    /// Always; where the name is absent, under this one.
    Aliased(&'static str),
    /// Not a member itself: the members of its object stand in its place.
    Flattened,
}

/// A value with one way to write it.
pub trait Json {
    /// What that looks like.
    const SHAPE: Shape;

    /// Writes the value.
    fn write(&self, w: &mut Writer);

    /// The value as kept text.
    ///
    /// # Errors
    ///
    /// When kept text inside the value, nested into it, passes the depth limit.
    fn to_raw(&self) -> Result<RawJson, ScanError> {
        let mut writer = Writer::new();
        self.write(&mut writer);
        RawJson::of_writer(&writer.finish())
    }
}

/// A declared object, or a choice of such.
pub trait Record: Json {
    /// Writes the members into an object that is open.
    fn write_members(&self, w: &mut Writer);
}

/// A member that may be missing; only `Option` is one.
pub trait Maybe {
    /// What is there when something is.
    type Inner: Json;

    /// What is there.
    fn inner(&self) -> Option<&Self::Inner>;
}

impl<T: Json> Maybe for Option<T> {
    type Inner = T;

    fn inner(&self) -> Option<&T> {
        self.as_ref()
    }
}

impl Json for &str {
    const SHAPE: Shape = Shape::String;

    fn write(&self, w: &mut Writer) {
        w.string(self);
    }
}

impl Json for String {
    const SHAPE: Shape = Shape::String;

    fn write(&self, w: &mut Writer) {
        w.string(self);
    }
}

impl Json for Arc<str> {
    const SHAPE: Shape = Shape::String;

    fn write(&self, w: &mut Writer) {
        w.string(self);
    }
}

impl Json for Cow<'static, str> {
    const SHAPE: Shape = Shape::String;

    fn write(&self, w: &mut Writer) {
        w.string(self);
    }
}

impl Json for bool {
    const SHAPE: Shape = Shape::Bool;

    fn write(&self, w: &mut Writer) {
        w.bool(*self);
    }
}

impl Json for u64 {
    const SHAPE: Shape = Shape::Integer;

    fn write(&self, w: &mut Writer) {
        w.u64(*self);
    }
}

impl Json for RawJson {
    const SHAPE: Shape = Shape::NotNull;

    fn write(&self, w: &mut Writer) {
        w.raw(self);
    }
}

impl<T: Json> Json for Vec<T> {
    const SHAPE: Shape = Shape::List(&T::SHAPE);

    fn write(&self, w: &mut Writer) {
        write_list(self, w);
    }
}

impl<T: Json, const N: usize> Json for [T; N] {
    const SHAPE: Shape = Shape::List(&T::SHAPE);

    fn write(&self, w: &mut Writer) {
        write_list(self, w);
    }
}

impl<T: Json> Json for Arc<[T]> {
    const SHAPE: Shape = Shape::List(&T::SHAPE);

    fn write(&self, w: &mut Writer) {
        write_list(self, w);
    }
}

fn write_list<T: Json>(list: &[T], w: &mut Writer) {
    w.begin_array();
    list.iter().for_each(|item| item.write(w));
    w.end_array();
}

impl<T: Json> Json for BTreeMap<Arc<str>, T> {
    const SHAPE: Shape = Shape::Map(&T::SHAPE);

    fn write(&self, w: &mut Writer) {
        w.begin_object();
        for (name, value) in self {
            w.key(name);
            value.write(w);
        }
        w.end_object();
    }
}

impl<T: Json> Json for Box<T> {
    const SHAPE: Shape = T::SHAPE;

    fn write(&self, w: &mut Writer) {
        T::write(self, w);
    }
}

impl<T: Record> Record for Box<T> {
    fn write_members(&self, w: &mut Writer) {
        T::write_members(self, w);
    }
}
