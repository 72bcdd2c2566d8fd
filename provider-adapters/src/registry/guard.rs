//! Keeping keys and routes out of what is public (DEC-30).

use super::{Entry, RegistryError, Routing};
use crate::limits::GUARDED_BYTES;
use agentx_core::json::Writer;

/// Routing values that are looked for: not those that are as public as a
/// model name, nor those too short to mean anything.
pub(super) fn routing_values(entries: &[Entry]) -> impl Iterator<Item = (&Entry, &Routing)> {
    let is_model = |value: &str| entries.iter().any(|entry| *entry.model == *value);
    entries
        .iter()
        .flat_map(|entry| entry.routing.iter().map(move |routing| (entry, routing)))
        .filter(move |(_, routing)| {
            let plain_version = routing.member == "api_version"
                && matches!(routing.value.as_str(), "v1" | "preview");
            let value = routing.value.as_str();
            value.len() >= GUARDED_BYTES && !plain_version && !is_model(value)
        })
}

/// Refuses a registry whose public catalog could not be written: it holds a
/// key or a route, or a route holds a key.
pub(super) fn check_collisions(entries: &[Entry]) -> Result<(), RegistryError> {
    let catalog = catalog_text(entries);
    let routes: Vec<&str> = entries
        .iter()
        .flat_map(|entry| entry.routing.iter().map(|routing| routing.value.as_str()))
        .collect();
    for entry in entries {
        let Some(key) = &entry.api_key else {
            continue;
        };
        if found(&catalog, key.expose()) {
            return Err(collision(
                entries,
                entry,
                "api_key",
                "the key occurs in the public catalog",
            ));
        }
        if routes.iter().any(|route| route.contains(key.expose())) {
            return Err(collision(
                entries,
                entry,
                "api_key",
                "the key occurs in a routing value",
            ));
        }
    }
    for (entry, routing) in routing_values(entries) {
        if found(&catalog, &routing.value) {
            let what = "the value occurs in the public catalog";
            return Err(collision(entries, entry, routing.member, what));
        }
    }
    Ok(())
}

/// Refuses a registry of which a key or a route occurs in `public`.
pub(super) fn check_public(entries: &[Entry], public: &str) -> Result<(), RegistryError> {
    let what = "the value occurs in what would be told in public";
    for entry in entries {
        let key = entry.api_key.as_ref();
        if key.is_some_and(|key| found(public, key.expose())) {
            return Err(collision(entries, entry, "api_key", what));
        }
    }
    for (entry, routing) in routing_values(entries) {
        if found(public, &routing.value) {
            return Err(collision(entries, entry, routing.member, what));
        }
    }
    Ok(())
}

/// Refuses a registry with a key that the frames of records can spell, whatever
/// stands in them. `words` holds all names and words of those records.
pub(super) fn check_frames(entries: &[Entry], words: &str) -> Result<(), RegistryError> {
    let what = "the key occurs in the records of every session";
    for entry in entries {
        let key = entry.api_key.as_ref().map(|key| key.expose());
        if key.is_some_and(|key| words.contains(key) || spans_frames(key)) {
            return Err(collision(entries, entry, "api_key", what));
        }
    }
    Ok(())
}

/// Whether a text can begin or end between two strings of a record. There only
/// punctuation, numbers, `true`, `false` and `null` stand, so no other text with
/// a quotation mark can.
fn spans_frames(text: &str) -> bool {
    let between = |part: &str| {
        part.bytes()
            .all(|byte| byte.is_ascii_digit() || b"{}[],:+-.Etruefalsn".contains(&byte))
    };
    text.contains('"') && text.split('"').any(between)
}

/// Names the entry by its id, or by its place where the id holds a key or a
/// route.
fn collision(entries: &[Entry], entry: &Entry, member: &str, what: &str) -> RegistryError {
    let own = entry.provider_type.as_str();
    let key = |other: &Entry| {
        let key = other.api_key.as_ref();
        key.is_some_and(|key| found(&entry.id, key.expose()))
    };
    let telling = entries.iter().any(key)
        || routing_values(entries).any(|(_, routing)| found(&entry.id, &routing.value));
    let place = entries.iter().position(|other| other.id == entry.id);
    let name = match place {
        Some(place) if telling => format!("providers[{place}]"),
        _ => format!("id {:?}", &*entry.id),
    };
    RegistryError(format!("auth.json: {name}: {own}.{member}: {what}"))
}

/// Looks for a text as it is and as JSON writes it.
fn found(catalog: &str, text: &str) -> bool {
    let mut writer = Writer::new();
    writer.string(text);
    let quoted = String::from_utf8(writer.finish()).unwrap_or_default();
    let escaped = quoted
        .trim_start_matches('"')
        .strip_suffix('"')
        .unwrap_or_default();
    catalog.contains(text) || (!escaped.is_empty() && catalog.contains(escaped))
}

/// The catalog as discovery writes it (WIRE-026), and below it once more the
/// texts as they are, so that no spelling is missed.
fn catalog_text(entries: &[Entry]) -> String {
    let mut writer = Writer::new();
    writer.begin_object();
    writer.member_u64("version", 1);
    writer.key("providers");
    writer.begin_array();
    for entry in entries {
        for selected in [true, false] {
            descriptor(&mut writer, entry, selected);
        }
    }
    writer.end_array();
    writer.end_object();
    let mut text = String::from_utf8(writer.finish()).unwrap_or_default();
    for entry in entries {
        text.push('\n');
        text.push_str(&display_name(entry));
    }
    text
}

fn display_name(entry: &Entry) -> String {
    format!("{} ({})", entry.id, entry.model)
}

fn descriptor(writer: &mut Writer, entry: &Entry, selected: bool) {
    let supported = !entry.efforts.is_empty();
    let default_effort = entry.default_effort.as_deref();
    let efforts = |writer: &mut Writer, name| {
        writer.key(name);
        writer.begin_array();
        entry
            .efforts
            .iter()
            .for_each(|effort| writer.string(effort));
        writer.end_array();
    };
    writer.begin_object();
    writer.member_str("value", &entry.id);
    writer.member_str("id", &entry.id);
    writer.member_str("providerType", entry.provider_type.as_str());
    writer.member_str("model", &entry.model);
    writer.member_str("displayName", &display_name(entry));
    writer.member_str(
        "description",
        "Deployment-backed model endpoint configured by AgentX-home auth.json",
    );
    writer.member_bool("default", entry.default);
    writer.member_bool("selected", selected);
    writer.member_bool("supportsEffort", supported);
    efforts(writer, "supportedReasoningEfforts");
    writer.member_opt_str("defaultReasoningEffort", default_effort);
    writer.key("reasoning");
    writer.begin_object();
    writer.member_bool("supported", supported);
    efforts(writer, "efforts");
    writer.member_opt_str("defaultEffort", default_effort);
    writer.end_object();
    writer.end_object();
}
