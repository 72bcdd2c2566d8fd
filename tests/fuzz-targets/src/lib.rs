//! What a fuzzer calls: one function for each reader of bytes that come from
//! outside.
//!
//! A target takes any bytes and panics when something is wrong that no input may
//! lead to. Its inputs are the texts that its reader reads, so the files of
//! `tests/fuzz/corpus` can be read by people, and so can a finding. Where a
//! target has a choice besides, such as where to cut, the input decides: a
//! finding is found again from its bytes alone.
//!
//! `cargo test` runs every target over its corpus, and over damaged copies of it;
//! `tests/fuzz.sh` runs them under libFuzzer.

pub mod agent;
pub mod framing;
pub mod hook_output;
pub mod host;
pub mod http1;
pub mod json;
pub mod log;
pub mod models;
pub mod output_schema;
pub mod permission;
pub mod registry;
pub mod rules;
mod seed;
pub mod settings;
pub mod sse;
pub mod stored;
mod stream;

/// A reader under test.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, and that of its folder of inputs.
    pub name: &'static str,
    /// The function; it panics when it finds a fault.
    pub run: fn(&[u8]),
}

/// All of them.
pub const TARGETS: [Target; 17] = [
    target("agent", agent::target),
    target("chat", models::chat),
    target("framing", framing::target),
    target("hook_output", hook_output::target),
    target("host", host::target),
    target("http1", http1::target),
    target("json", json::target),
    target("log", log::target),
    target("messages", models::messages),
    target("output_schema", output_schema::target),
    target("permission", permission::target),
    target("registry", registry::target),
    target("responses", models::responses),
    target("rules", rules::target),
    target("settings", settings::target),
    target("sse", sse::target),
    target("stored", stored::target),
];

const fn target(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, run }
}
