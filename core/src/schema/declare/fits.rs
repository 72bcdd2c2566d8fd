//! Checks a written record against the shape its type declares: members in
//! their order, and ids at the end.

use super::{Member, Presence, Shape, has_shape};
use crate::json::Value;
use alloc::vec::Vec;

/// Whether `value` is the object of `shape`, followed by ids where it is a
/// session record.
pub(crate) fn record(shape: &Shape, value: Value<'_>, session: bool) -> bool {
    let Some(object) = value.as_object() else {
        return false;
    };
    let mut members: Vec<(_, Value<'_>)> = object
        .iter()
        .map(|(name, value)| (name.decode().unwrap(), value))
        .collect();
    if session {
        let last = members.pop().map(|(name, _)| name);
        let before = members.pop().map(|(name, _)| name);
        if last.as_deref() != Some("session_id") || before.as_deref() != Some("uuid") {
            return false;
        }
    }
    match shape {
        Shape::Object(declared) => {
            let mut left = members.as_slice();
            take(declared, &mut left) && left.is_empty()
        }
        Shape::OneOf(shapes) => shapes.iter().any(|shape| record(shape, value, session)),
        _ => false,
    }
}

type Left<'l, 'v> = &'l [(alloc::borrow::Cow<'v, str>, Value<'v>)];

/// Takes the declared members off the front, in their order.
fn take(declared: &[Member], left: &mut Left<'_, '_>) -> bool {
    declared.iter().all(|member| {
        if member.presence == Presence::Flattened {
            let Shape::Object(inner) = member.shape else {
                return false;
            };
            return take(inner, left);
        }
        let Some(((_, value), rest)) = left.split_first().filter(|((n, _), _)| n == member.name)
        else {
            return member.presence == Presence::Optional;
        };
        *left = rest;
        match member.presence {
            Presence::Nullable if value.is_null() => true,
            _ => fits(&member.shape, *value),
        }
    })
}

/// As `has_shape`, and with the members of inner objects in their order, too.
pub(crate) fn fits(shape: &Shape, value: Value<'_>) -> bool {
    match shape {
        Shape::List(item) => value
            .as_array()
            .is_some_and(|list| list.iter().all(|value| fits(item, value))),
        Shape::Map(item) => value
            .as_object()
            .is_some_and(|map| map.iter().all(|(_, value)| fits(item, value))),
        Shape::Object(_) => record(shape, value, false),
        Shape::OneOf(shapes) => shapes.iter().any(|shape| fits(shape, value)),
        _ => has_shape(shape, value),
    }
}
