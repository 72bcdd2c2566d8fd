//! Holds scanned values against shapes, members in any order.

use super::{Member, Presence, Shape};
use crate::json::{Kind, Object, Value};
use alloc::borrow::Cow;

/// What is wrong with an object.
#[derive(Debug)]
pub(crate) enum Fault<'a> {
    /// A member that the table does not have.
    Unknown(Cow<'a, str>, Value<'a>),
    /// This member is not there.
    Missing(&'static str),
    /// This member has another shape.
    Wrong(&'static str, Value<'a>),
}

/// The first fault of a closed object: unknown members in the order of the
/// text, then the declared ones in their order.
pub(crate) fn fault<'a>(object: Object<'a>, members: &[Member]) -> Option<Fault<'a>> {
    unknown(object, members).or_else(|| faults(object, members, false).next())
}

/// The faults of the declared members; others may stand beside them.
pub(crate) fn open_faults<'a>(
    object: Object<'a>,
    members: &[Member],
) -> impl Iterator<Item = Fault<'a>> {
    faults(object, members, true)
}

fn unknown<'a>(object: Object<'a>, members: &[Member]) -> Option<Fault<'a>> {
    object.iter().find_map(|(name, value)| {
        let name = name.decode_lossy();
        (!knows(members, &name)).then_some(Fault::Unknown(name, value))
    })
}

fn knows(members: &[Member], name: &str) -> bool {
    members.iter().any(|member| match member.presence {
        Presence::Aliased(alias) => name == member.name || name == alias,
        Presence::Flattened => {
            matches!(member.shape, Shape::Object(inner) if knows(inner, name))
        }
        Presence::Required | Presence::Nullable | Presence::Optional => name == member.name,
    })
}

fn faults<'a>(
    object: Object<'a>,
    members: &[Member],
    open: bool,
) -> impl Iterator<Item = Fault<'a>> {
    members
        .iter()
        .filter_map(move |member| member_fault(object, member, open))
}

fn member_fault<'a>(object: Object<'a>, member: &Member, open: bool) -> Option<Fault<'a>> {
    let name = member.name;
    if let (Presence::Flattened, Shape::Object(inner)) = (member.presence, member.shape) {
        let mut inner = inner.iter();
        return inner.find_map(|member| member_fault(object, member, open));
    }
    match member.of(object) {
        None => (member.presence != Presence::Optional).then_some(Fault::Missing(name)),
        Some(value) if member.presence == Presence::Nullable && value.is_null() => None,
        Some(value) => (!takes(&member.shape, value, open)).then_some(Fault::Wrong(name, value)),
    }
}

/// Whether `value` has this shape.
#[cfg(test)]
pub(crate) fn has_shape(shape: &Shape, value: Value<'_>) -> bool {
    takes(shape, value, false)
}

fn takes(shape: &Shape, value: Value<'_>, open: bool) -> bool {
    match shape {
        Shape::String => value.kind() == Kind::String,
        Shape::Integer => value.as_u64().is_some(),
        Shape::Positive => value.as_u64().is_some_and(|number| number > 0),
        Shape::Number => value.kind() == Kind::Number,
        Shape::Bool => value.kind() == Kind::Bool,
        Shape::Any => true,
        Shape::NotNull => !value.is_null(),
        Shape::Spelled(spelling) => value
            .as_str()
            .and_then(|text| text.decode().ok())
            .is_some_and(|text| spelling.fits(&text)),
        Shape::Words(words) => value
            .as_str()
            .is_some_and(|text| words.iter().any(|word| text == **word)),
        Shape::Constant(json) => is_constant(json, value),
        Shape::List(item) => value
            .as_array()
            .is_some_and(|list| list.iter().all(|value| takes(item, value, open))),
        Shape::NonEmpty(item) => value.as_array().is_some_and(|list| {
            !list.is_empty() && list.iter().all(|value| takes(item, value, open))
        }),
        Shape::Map(item) => value
            .as_object()
            .is_some_and(|map| map.iter().all(|(_, value)| takes(item, value, open))),
        Shape::Named(spelling, item) => value.as_object().is_some_and(|map| {
            map.iter().all(|(name, value)| {
                spelling.fits(&name.decode_lossy()) && takes(item, value, open)
            })
        }),
        Shape::Object(members) => value.as_object().is_some_and(|object| {
            (open || unknown(object, members).is_none())
                && faults(object, members, open).next().is_none()
        }),
        Shape::OneOf(shapes) => shapes.iter().any(|shape| takes(shape, value, open)),
        Shape::Open(shape) => takes(shape, value, true),
        Shape::Closed(shape) => takes(shape, value, false),
    }
}

/// Strings are compared decoded. Constants are plain words, numbers and literals.
pub(super) fn is_constant(json: &str, value: Value<'_>) -> bool {
    let word = json
        .strip_prefix('"')
        .and_then(|word| word.strip_suffix('"'));
    if let (Some(word), Some(text)) = (word, value.as_str()) {
        text == *word
    } else {
        value.raw() == json
    }
}
