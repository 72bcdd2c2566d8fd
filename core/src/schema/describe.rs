//! JSON Schema (draft 2020-12) of every record, told from the same shapes that
//! writers and parsers are made of.
//!
//! A record's name is its direction, a dot and its wire name: `host.user`,
//! `agent.result`, `agent.system_init`. Under `reference.` stand records of hosts
//! that have another form in that profile. Under `answer.` stand the payloads of
//! successful control responses, by the operation they answer.
//!
//! A schema tells shape and spelling of one record. Not in it are ceilings
//! (`limits`), what depends on the session, such as its id, the names that an
//! environment update may not have, the ban of duplicate names and of unpaired
//! surrogate escapes, and the spelling of whole numbers, which have neither
//! fraction nor exponent.

use super::declare::{Json as _, Member, Presence, Shape, Spelling};
use super::inbound;
use super::outbound::Outbound;
use super::payload::{
    CancelledPayload, ContextUsagePayload, InitializePayload, McpServersPayload, McpStatusPayload,
    ModePayload, ReloadPluginsPayload, RewindFilesPayload, SettingsPayload,
};
use super::permission::PermissionAnswer;
use crate::json::Writer;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

#[cfg(test)]
mod tests;

/// The draft the schemas are written in.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Payloads of successful answers, by operation.
const ANSWERS: [(&str, Shape); 10] = [
    ("initialize", InitializePayload::SHAPE),
    ("get_context_usage", ContextUsagePayload::SHAPE),
    ("mcp_status", McpStatusPayload::SHAPE),
    ("mcp_set_servers", McpServersPayload::SHAPE),
    ("set_permission_mode", ModePayload::SHAPE),
    ("get_settings", SettingsPayload::SHAPE),
    ("cancel_async_message", CancelledPayload::SHAPE),
    ("reload_plugins", ReloadPluginsPayload::SHAPE),
    ("rewind_files", RewindFilesPayload::SHAPE),
    ("can_use_tool", PermissionAnswer::SHAPE),
];

/// Something that has a schema.
struct Entry {
    name: String,
    shape: Shape,
    /// Whether the ids of a session record follow.
    session: bool,
}

fn entries() -> Vec<Entry> {
    let plain = |side: &str, (name, shape): (&str, Shape)| Entry {
        name: format!("{side}.{name}"),
        shape,
        session: false,
    };
    let host = inbound::RECORDS.into_iter().map(|one| plain("host", one));
    let reference = inbound::REFERENCE_RECORDS.into_iter();
    let reference = reference.map(|one| plain("reference", one));
    let agent = Outbound::RECORDS
        .iter()
        .map(|(variant, shape, session)| Entry {
            name: format!("agent.{}", wire_name(variant, shape)),
            shape: *shape,
            session: *session,
        });
    let answers = ANSWERS.into_iter().map(|one| plain("answer", one));
    host.chain(reference).chain(agent).chain(answers).collect()
}

/// What the wire calls a record: its type, with the subtype of a `system` one;
/// where two share that, what the record is called here.
fn wire_name(variant: &str, shape: &Shape) -> String {
    let wire = kind(shape);
    let records = Outbound::RECORDS.iter();
    if records.filter(|(_, other, _)| kind(other) == wire).count() == 1 {
        return match wire {
            (kind, "") => kind.to_string(),
            (kind, subtype) => format!("{kind}_{subtype}"),
        };
    }
    let mut words = String::new();
    for letter in variant.chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push('_');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

/// A record's type, and the subtype of a `system` one.
fn kind(shape: &Shape) -> (&'static str, &'static str) {
    match constant(shape, "type") {
        "system" => ("system", constant(shape, "subtype")),
        kind => (kind, ""),
    }
}

/// The word that a member always has; empty where it varies.
fn constant(shape: &Shape, name: &str) -> &'static str {
    if let Shape::OneOf([first, ..]) = shape {
        return constant(first, name);
    }
    let Shape::Object(members) = shape else {
        return "";
    };
    let member = members.iter().find(|member| member.name == name);
    if let Some(Shape::Constant(json)) = member.map(|member| member.shape) {
        json.trim_matches('"')
    } else {
        ""
    }
}

/// The names of everything that has a schema, records of the host first.
#[must_use]
pub fn names() -> Vec<String> {
    entries().into_iter().map(|entry| entry.name).collect()
}

/// The schema of one record or payload, as a document. The part of the name
/// before the dot, unless it is `reference`, may be left out where that leaves no
/// doubt; `None` when there is no such record, or more than one.
#[must_use]
pub fn record_schema(name: &str) -> Option<Vec<u8>> {
    let entries = entries();
    let short = |entry: &&Entry| {
        let split = entry.name.split_once('.');
        split.is_some_and(|(side, of)| side != "reference" && of == name)
    };
    let entry = match entries.iter().find(|entry| entry.name == name) {
        Some(entry) => entry,
        None => {
            let mut found = entries.iter().filter(short);
            found.next().filter(|_| found.next().is_none())?
        }
    };
    let mut w = document(&entry.name);
    entry_keywords(entry, &mut w);
    w.end_object();
    Some(w.finish())
}

/// The schemas of all records as one document, which takes any record of either
/// direction as the profile `standalone` has it. Its `$defs` have every name of [`names`], and `host_to_agent` and
/// `agent_to_host` for the records of one direction.
#[must_use]
pub fn schema() -> Vec<u8> {
    const DIRECTIONS: [(&str, &str); 2] = [("host_to_agent", "host."), ("agent_to_host", "agent.")];
    let entries = entries();
    let mut w = document("AgentX wire records");
    references(DIRECTIONS.iter().map(|(name, _)| *name), &mut w);
    w.key("$defs");
    w.begin_object();
    for (direction, side) in DIRECTIONS {
        w.key(direction);
        w.begin_object();
        let names = entries.iter().map(|entry| entry.name.as_str());
        references(names.filter(|name| name.starts_with(side)), &mut w);
        w.end_object();
    }
    for entry in &entries {
        w.key(&entry.name);
        w.begin_object();
        entry_keywords(entry, &mut w);
        w.end_object();
    }
    w.end_object();
    w.end_object();
    w.finish()
}

/// An open document with its head.
fn document(title: &str) -> Writer {
    let mut w = Writer::new();
    w.begin_object();
    w.member_str("$schema", DIALECT);
    w.member_str("title", title);
    w
}

fn references<'a>(names: impl Iterator<Item = &'a str>, w: &mut Writer) {
    w.key("anyOf");
    w.begin_array();
    for name in names {
        w.begin_object();
        w.member_str("$ref", &format!("#/$defs/{name}"));
        w.end_object();
    }
    w.end_array();
}

fn entry_keywords(entry: &Entry, w: &mut Writer) {
    if entry.session {
        with_ids(&entry.shape, w);
    } else {
        keywords(&entry.shape, false, w);
    }
}

/// The keywords of a session record, whose shape is told without its ids.
fn with_ids(shape: &Shape, w: &mut Writer) {
    const IDS: [Member; 2] = [
        Member::required("uuid", Shape::String),
        Member::required("session_id", Shape::String),
    ];
    if let Shape::OneOf(shapes) = shape {
        any_of(shapes, w, with_ids);
    } else {
        let mut members = members_of(shape);
        members.extend(IDS);
        object(&members, false, w);
    }
}

fn any_of(shapes: &[Shape], w: &mut Writer, mut tell: impl FnMut(&Shape, &mut Writer)) {
    w.key("anyOf");
    w.begin_array();
    for shape in shapes {
        w.begin_object();
        tell(shape, w);
        w.end_object();
    }
    w.end_array();
}

fn schema_of(shape: &Shape, open: bool, w: &mut Writer) {
    w.begin_object();
    keywords(shape, open, w);
    w.end_object();
}

fn keywords(shape: &Shape, open: bool, w: &mut Writer) {
    match shape {
        Shape::String => w.member_str("type", "string"),
        Shape::Integer => whole_number(0, w),
        Shape::Positive => whole_number(1, w),
        Shape::Number => w.member_str("type", "number"),
        Shape::Bool => w.member_str("type", "boolean"),
        Shape::Any => {}
        Shape::NotNull => {
            w.key("not");
            schema_of(&Shape::Constant("null"), open, w);
        }
        Shape::Spelled(spelling) => {
            w.member_str("type", "string");
            pattern(*spelling, w);
        }
        Shape::Words(words) => {
            w.key("enum");
            w.begin_array();
            words.iter().for_each(|word| w.string(word));
            w.end_array();
        }
        Shape::Constant(json) => w.member_number_text("const", json),
        Shape::List(item) => list(item, open, w),
        Shape::NonEmpty(item) => {
            list(item, open, w);
            w.member_u64("minItems", 1);
        }
        Shape::Map(item) => map(item, open, w),
        Shape::Named(spelling, item) => {
            map(item, open, w);
            w.key("propertyNames");
            w.begin_object();
            pattern(*spelling, w);
            w.end_object();
        }
        Shape::Object(_) => object(&members_of(shape), open, w),
        Shape::OneOf(shapes) => any_of(shapes, w, |shape, w| keywords(shape, open, w)),
        Shape::Open(shape) => keywords(shape, true, w),
        Shape::Closed(shape) => keywords(shape, false, w),
    }
}

fn whole_number(least: u64, w: &mut Writer) {
    w.member_str("type", "integer");
    w.member_u64("minimum", least);
    w.member_u64("maximum", u64::MAX);
}

fn pattern(spelling: Spelling, w: &mut Writer) {
    w.member_str("pattern", spelling.pattern());
}

fn list(item: &Shape, open: bool, w: &mut Writer) {
    w.member_str("type", "array");
    w.key("items");
    schema_of(item, open, w);
}

fn map(item: &Shape, open: bool, w: &mut Writer) {
    w.member_str("type", "object");
    w.key("additionalProperties");
    schema_of(item, open, w);
}

/// Members in order, flattened records replaced by theirs.
fn members_of(shape: &Shape) -> Vec<Member> {
    let Shape::Object(declared) = shape else {
        return Vec::new();
    };
    let mut members = Vec::new();
    for member in *declared {
        if member.presence == Presence::Flattened {
            members.extend(members_of(&member.shape));
        } else {
            members.push(*member);
        }
    }
    members
}

fn object(members: &[Member], open: bool, w: &mut Writer) {
    w.member_str("type", "object");
    w.key("properties");
    w.begin_object();
    for member in members {
        w.key(member.name);
        if member.presence == Presence::Nullable {
            let choice = [member.shape, Shape::Constant("null")];
            w.begin_object();
            any_of(&choice, w, |shape, w| keywords(shape, open, w));
            w.end_object();
        } else {
            schema_of(&member.shape, open, w);
        }
        if let Presence::Aliased(alias) = member.presence {
            w.member_bool(alias, true);
        }
    }
    w.end_object();
    w.key("required");
    w.begin_array();
    let required = members
        .iter()
        .filter(|m| matches!(m.presence, Presence::Required | Presence::Nullable));
    required.for_each(|member| w.string(member.name));
    w.end_array();
    aliases(members, open, w);
    w.member_bool("additionalProperties", open);
}

/// Under its name or, where that is absent, under its alias.
fn aliases(members: &[Member], open: bool, w: &mut Writer) {
    let mut all = members.iter().filter_map(|member| {
        if let Presence::Aliased(alias) = member.presence {
            Some((member, alias))
        } else {
            None
        }
    });
    let Some(first) = all.next() else { return };
    w.key("allOf");
    w.begin_array();
    for (member, alias) in core::iter::once(first).chain(all) {
        w.begin_object();
        w.key("anyOf");
        w.begin_array();
        w.begin_object();
        requires(member.name, w);
        w.end_object();
        w.begin_object();
        w.key("properties");
        w.begin_object();
        w.key(alias);
        schema_of(&member.shape, open, w);
        w.end_object();
        requires(alias, w);
        w.end_object();
        w.end_array();
        w.end_object();
    }
    w.end_array();
}

fn requires(name: &str, w: &mut Writer) {
    w.key("required");
    w.begin_array();
    w.string(name);
    w.end_array();
}
