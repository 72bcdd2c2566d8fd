//! `initialize` with its members, as official clients send it (compat, section 2).
//!
//! Members that are not known change nothing, and null is the same as absent. A
//! member that is known and has another shape is told by its place.

use crate::hook::HookEvent;
use crate::json::{Object, RawJson, ScanLimits, Scanner, Value};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::time::Duration;

/// What a host asks for in `initialize`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Initialize {
    /// Hooks to register, in order.
    pub hooks: Vec<HookRegistration>,
    /// Events that are not known; their hooks never run.
    pub unknown_events: Vec<UnknownEvent>,
    /// Names of MCP servers that the host owns.
    pub sdk_servers: Vec<String>,
    /// Further MCP servers: an object by name, or a list.
    pub mcp_servers: Option<RawJson>,
    /// Plugins, each as it was listed.
    pub plugins: Vec<RawJson>,
    /// What replaces the system prompt; an empty text leaves none.
    pub system_prompt: Option<String>,
    /// What stands behind the system prompt.
    pub append_system_prompt: Option<String>,
    /// JSON Schema of the output of each turn.
    pub json_schema: Option<RawJson>,
    /// Agents by name and description.
    pub agents: Vec<(String, String)>,
    /// Whether the next prompt is to be suggested after each turn.
    pub prompt_suggestions: bool,
}

/// Callbacks that belong to one matcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRegistration {
    /// Where it stands, for messages: `hooks.Stop[0]`.
    pub place: String,
    /// What they are told of.
    pub event: HookEvent,
    /// The tools they are for: a pattern; all without one.
    pub matcher: Option<String>,
    /// The host's names of them.
    pub callbacks: Vec<String>,
    /// How long each may take to answer.
    pub timeout: Option<Duration>,
    /// Whether a failure is no decision (`onFailure:"continue"`, DEC-33).
    pub failure_passes: bool,
}

/// An event that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEvent {
    /// Its name, of any length.
    pub name: String,
    /// Whether one of its hooks says `onFailure:"block"`.
    pub blocks: bool,
}

impl Initialize {
    /// Reads the members of the operation's object.
    ///
    /// # Errors
    ///
    /// The text of the correlated error. It may show names of the host's.
    pub fn parse(request: &RawJson) -> Result<Self, String> {
        let mut scanner = Scanner::new();
        let value = scanner.scan(request.as_str().as_bytes(), &ScanLimits::DEFAULT);
        let request = value.ok().and_then(Value::as_object);
        read(request.ok_or_else(|| "request must be an object".to_string())?)
    }
}

fn read(request: Object<'_>) -> Result<Initialize, String> {
    let mut read = Initialize {
        sdk_servers: texts(request, "sdkMcpServers")?.unwrap_or_default(),
        mcp_servers: servers(request)?,
        plugins: list(request, "plugins")?.unwrap_or_default(),
        system_prompt: system_prompt(request)?,
        append_system_prompt: text(request, "appendSystemPrompt")?,
        json_schema: object(request, "jsonSchema")?.map(|of| RawJson::from_value(of.value())),
        agents: agents(request)?,
        prompt_suggestions: flag(request, "promptSuggestions")?,
        ..Initialize::default()
    };
    let hooks = object(request, "hooks")?;
    for (name, groups) in hooks.into_iter().flatten() {
        let name = name.decode_lossy();
        let Some(event) = HookEvent::from_word(&name) else {
            read.unknown_events.push(UnknownEvent {
                name: name.into_owned(),
                blocks: says_block(groups),
            });
            continue;
        };
        let place = format!("hooks.{}", event.as_str());
        let groups = groups.as_array().ok_or_else(|| wrong(&place, "a list"))?;
        for (at, group) in groups.iter().enumerate() {
            read.hooks
                .push(registration(group, format!("{place}[{at}]"), event)?);
        }
    }
    Ok(read)
}

fn wrong(place: &str, expected: &str) -> String {
    format!("initialize: {place}: expected {expected}")
}

/// Whether a group of an event that is not known wants its failures to block.
fn says_block(groups: Value<'_>) -> bool {
    let blocks = |group: Value<'_>| {
        let says = group.as_object().and_then(|group| group.get("onFailure"));
        says.and_then(Value::as_str)
            .is_some_and(|word| word == *"block")
    };
    groups
        .as_array()
        .is_some_and(|list| list.iter().any(blocks))
}

fn registration(
    group: Value<'_>,
    place: String,
    event: HookEvent,
) -> Result<HookRegistration, String> {
    let group = group
        .as_object()
        .ok_or_else(|| wrong(&place, "an object"))?;
    let at = |name: &str| format!("{place}.{name}");
    let callbacks = present(group, "hookCallbackIds").and_then(Value::as_array);
    let callbacks = callbacks.and_then(|list| list.iter().map(decoded).collect());
    let timeout = match present(group, "timeout") {
        None => None,
        Some(value) => {
            let time = value.as_number().and_then(seconds);
            Some(time.ok_or_else(|| wrong(&at("timeout"), "a positive number of seconds"))?)
        }
    };
    let failure_passes = match present(group, "onFailure").map(decoded) {
        None => false,
        Some(Some(word)) if word == "block" => false,
        Some(Some(word)) if word == "continue" => true,
        Some(_) => return Err(wrong(&at("onFailure"), "one of block, continue")),
    };
    Ok(HookRegistration {
        matcher: match present(group, "matcher") {
            None => None,
            Some(value) => {
                Some(decoded(value).ok_or_else(|| wrong(&at("matcher"), "a text or null"))?)
            }
        },
        callbacks: callbacks.ok_or_else(|| wrong(&at("hookCallbackIds"), "a list of texts"))?,
        timeout,
        failure_passes,
        event,
        place,
    })
}

/// A number of seconds, in milliseconds and upwards; `None` where it is not positive.
fn seconds(number: &str) -> Option<Duration> {
    /// More digits than any time has.
    const DIGITS: i64 = 25;
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (number, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = whole.bytes().chain(fraction.bytes());
    if !digits.clone().all(|digit| digit.is_ascii_digit()) || digits.clone().all(|d| d == b'0') {
        return None;
    }
    // Where the point stands once the number counts milliseconds.
    let point = i64::try_from(whole.len()).ok()? + i64::from(exponent) + 3;
    let mut digits = digits;
    let mut millis = 0_u64;
    for _ in 0..point.clamp(0, DIGITS) {
        let digit = digits.next().map_or(0, |digit| digit.saturating_sub(b'0'));
        millis = millis.saturating_mul(10).saturating_add(digit.into());
    }
    Some(Duration::from_millis(millis.max(1)))
}

fn system_prompt(request: Object<'_>) -> Result<Option<String>, String> {
    let Some(value) = present(request, "systemPrompt") else {
        return Ok(None);
    };
    let parts: Option<Vec<String>> = match value.as_array() {
        Some(list) => list.iter().map(decoded).collect(),
        None => decoded(value).map(|text| alloc::vec![text]),
    };
    let parts = parts.ok_or_else(|| wrong("systemPrompt", "a text or a list of texts"))?;
    let said = parts.into_iter().filter(|part| !part.trim().is_empty());
    Ok(Some(said.collect::<Vec<_>>().join("\n\n")))
}

/// The agents by name; what they are made of is not looked at.
fn agents(request: Object<'_>) -> Result<Vec<(String, String)>, String> {
    let mut agents = Vec::new();
    for (name, agent) in object(request, "agents")?.into_iter().flatten() {
        let name = name.decode_lossy().into_owned();
        let place = format!("agents.{name}");
        let agent = agent
            .as_object()
            .ok_or_else(|| wrong(&place, "an object"))?;
        let description = present(agent, "description").map(decoded);
        let description = description.unwrap_or(Some(String::new()));
        let expected = || wrong(&format!("{place}.description"), "a text");
        agents.push((name, description.ok_or_else(expected)?));
    }
    Ok(agents)
}

fn servers(request: Object<'_>) -> Result<Option<RawJson>, String> {
    let Some(value) = present(request, "mcpServers") else {
        return Ok(None);
    };
    if value.as_object().is_none() && value.as_array().is_none() {
        return Err(wrong("mcpServers", "an object or a list"));
    }
    Ok(Some(RawJson::from_value(value)))
}

/// A member that is there and not null.
fn present<'a>(of: Object<'a>, name: &str) -> Option<Value<'a>> {
    of.get(name).filter(|value| !value.is_null())
}

/// A text; half a surrogate pair in it counts as U+FFFD (DEC-04).
fn decoded(value: Value<'_>) -> Option<String> {
    Some(value.as_str()?.decode_lossy().into_owned())
}

fn text(of: Object<'_>, name: &str) -> Result<Option<String>, String> {
    present(of, name)
        .map(|value| decoded(value).ok_or_else(|| wrong(name, "a text")))
        .transpose()
}

fn flag(of: Object<'_>, name: &str) -> Result<bool, String> {
    match present(of, name) {
        None => Ok(false),
        Some(value) => value.as_bool().ok_or_else(|| wrong(name, "true or false")),
    }
}

fn object<'a>(of: Object<'a>, name: &str) -> Result<Option<Object<'a>>, String> {
    present(of, name)
        .map(|value| value.as_object().ok_or_else(|| wrong(name, "an object")))
        .transpose()
}

fn list(of: Object<'_>, name: &str) -> Result<Option<Vec<RawJson>>, String> {
    let Some(value) = present(of, name) else {
        return Ok(None);
    };
    let list = value.as_array().ok_or_else(|| wrong(name, "a list"))?;
    Ok(Some(list.iter().map(RawJson::from_value).collect()))
}

fn texts(of: Object<'_>, name: &str) -> Result<Option<Vec<String>>, String> {
    let Some(value) = present(of, name) else {
        return Ok(None);
    };
    let list = value.as_array();
    let texts = list.and_then(|list| list.iter().map(decoded).collect());
    Ok(Some(texts.ok_or_else(|| wrong(name, "a list of texts"))?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn read(request: &str) -> Result<Initialize, String> {
        Initialize::parse(&RawJson::parse(request).unwrap())
    }

    #[test]
    fn the_members_of_both_clients_are_read_and_others_are_not() {
        let python = r#"{"subtype":"initialize","hooks":{"PreToolUse":[{"matcher":null,
            "hookCallbackIds":["hook_0","hook_1"],"timeout":2.5,"onFailure":"continue"}]},
            "agents":{"a":{"description":"d","prompt":"p"},"b":{}},"skills":"all","excludeDynamicSections":true}"#;
        let told = read(python).unwrap();
        assert_eq!(
            told.hooks,
            vec![HookRegistration {
                place: "hooks.PreToolUse[0]".to_string(),
                event: HookEvent::PreToolUse,
                matcher: None,
                callbacks: vec!["hook_0".to_string(), "hook_1".to_string()],
                timeout: Some(Duration::from_millis(2_500)),
                failure_passes: true,
            }]
        );
        let agents = [("a", "d"), ("b", "")].map(|(a, b)| (a.to_string(), b.to_string()));
        assert_eq!(told.agents, agents);
        let npm = r#"{"systemPrompt":["a","b"],"appendSystemPrompt":"c","sdkMcpServers":["s"],
            "sdkMcpServerManifests":7,"jsonSchema":{"type":"object"},"promptSuggestions":true,
            "mcpServers":{"x":{}},"plugins":[{"path":"/p"}],"title":7,
            "hooks":{"Nope":[{"hookCallbackIds":[],"onFailure":"block"}],"Neither":7,
            "Stop":[{"hookCallbackIds":[]}]}}"#;
        let told = read(npm).unwrap();
        assert_eq!(told.system_prompt.as_deref(), Some("a\n\nb"));
        assert_eq!(told.append_system_prompt.as_deref(), Some("c"));
        assert_eq!((told.sdk_servers.len(), told.plugins.len()), (1, 1));
        assert!(told.prompt_suggestions && told.json_schema.is_some());
        assert!(told.mcp_servers.is_some());
        let unknown: Vec<_> = told
            .unknown_events
            .iter()
            .map(|event| (&*event.name, event.blocks))
            .collect();
        assert_eq!(unknown, [("Nope", true), ("Neither", false)]);
        assert_eq!(told.hooks[0].matcher, None);
        let nothing = r#"{"hooks":null,"systemPrompt":null,"agents":null,"jsonSchema":null,
            "promptSuggestions":null,"plugins":null,"mcpServers":null,"sdkMcpServers":null}"#;
        assert_eq!(read(nothing), Ok(Initialize::default()));
    }

    #[test]
    fn what_has_another_shape_is_told_by_its_place() {
        for (request, fault) in [
            (r#"{"hooks":[]}"#, "hooks: expected an object"),
            (r#"{"hooks":{"Stop":{}}}"#, "hooks.Stop: expected a list"),
            (
                r#"{"hooks":{"Stop":[7]}}"#,
                "hooks.Stop[0]: expected an object",
            ),
            (
                r#"{"hooks":{"Stop":[{}]}}"#,
                "hooks.Stop[0].hookCallbackIds: expected a list of texts",
            ),
            (
                r#"{"hooks":{"Stop":[{"hookCallbackIds":[1]}]}}"#,
                "hooks.Stop[0].hookCallbackIds: expected a list of texts",
            ),
            (
                r#"{"hooks":{"Stop":[{"hookCallbackIds":[],"matcher":1}]}}"#,
                "hooks.Stop[0].matcher: expected a text or null",
            ),
            (
                r#"{"hooks":{"Stop":[{"hookCallbackIds":[],"timeout":"1"}]}}"#,
                "hooks.Stop[0].timeout: expected a positive number of seconds",
            ),
            (
                r#"{"hooks":{"Stop":[{"hookCallbackIds":[],"onFailure":"deny"}]}}"#,
                "hooks.Stop[0].onFailure: expected one of block, continue",
            ),
            (
                r#"{"systemPrompt":[1]}"#,
                "systemPrompt: expected a text or a list of texts",
            ),
            (r#"{"agents":{"x":1}}"#, "agents.x: expected an object"),
            (
                r#"{"agents":{"x":{"description":1}}}"#,
                "agents.x.description: expected a text",
            ),
            (
                r#"{"sdkMcpServers":"s"}"#,
                "sdkMcpServers: expected a list of texts",
            ),
            (r#"{"plugins":{}}"#, "plugins: expected a list"),
            (
                r#"{"mcpServers":1}"#,
                "mcpServers: expected an object or a list",
            ),
            (r#"{"jsonSchema":true}"#, "jsonSchema: expected an object"),
            (
                r#"{"promptSuggestions":1}"#,
                "promptSuggestions: expected true or false",
            ),
        ] {
            let told = read(request).unwrap_err();
            assert_eq!(told, format!("initialize: {fault}"), "{request}");
        }
    }

    #[test]
    fn times_are_positive_numbers_of_seconds() {
        let millis = |number| seconds(number).map(|time| time.as_millis());
        for (number, expected) in [
            ("60", 60_000),
            ("2.5", 2_500),
            ("0.0001", 1),
            ("1e-05", 1),
            ("1.5E2", 150_000),
            ("600e-1", 60_000),
            ("0.25e1", 2_500),
            ("1e21", u128::from(u64::MAX)),
            ("1000000000000000000000000000000", u128::from(u64::MAX)),
        ] {
            assert_eq!(millis(number), Some(expected), "{number}");
        }
        for number in ["0", "-1", "0.0", "0e9", "-0.5", "1e99999999999"] {
            assert_eq!(millis(number), None, "{number}");
        }
    }
}
