//! Structured output: the JSON Schema that the answer of a run has to fit, and
//! what a validator says of an answer (DEC-42, RT-SCHM-010).
//!
//! Here is what a schema must be before it is offered to a model as the input
//! of a tool. What it means is for a validator to know, see
//! [`Request::Validate`](crate::effect::Request::Validate).

use crate::json::{RawJson, ScanError, ScanLimits, Scanner};
use crate::limits::Limits;
use crate::tool::{Background, ToolClass, ToolSpec};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Name of the tool that takes the answer. No other tool may have it.
pub const TOOL: &str = "StructuredOutput";

/// What the model is told of that tool.
const DESCRIPTION: &str = "Hands over the final answer of this task as data. The task is done only \
     once a call of this tool was accepted: call it when the work is finished, with an input that \
     fits the schema. A rejected call says why; correct the input and call again. A later accepted \
     call replaces the earlier one.";

/// The schema of a run's answer: JSON within its bounds, and of an object, since
/// the input of a tool is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSchema(RawJson);

/// Why a text is no schema of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaFault {
    /// It is longer than so many bytes.
    TooLong(usize),
    /// It is no JSON, or nests too deep.
    Json(ScanError),
    /// It has more arrays and objects than so many.
    TooMany(usize),
    /// It has an escape for half of a character (DEC-04).
    Surrogate,
    /// It is JSON, but no object.
    NoObject,
    /// Its `type` is something else than `"object"`.
    OtherType,
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(most) => write!(f, "over {most} bytes"),
            Self::Json(error) => write!(f, "{error}"),
            Self::TooMany(most) => write!(f, "over {most} arrays and objects"),
            Self::Surrogate => f.write_str("an unpaired surrogate escape"),
            Self::NoObject => f.write_str("expected a JSON Schema, which is a JSON object"),
            Self::OtherType => f.write_str(
                "at /type: expected \"object\", since the answer is the input of a tool",
            ),
        }
    }
}

impl core::error::Error for SchemaFault {}

impl OutputSchema {
    /// Reads a schema. Whether its keywords make sense is not looked at.
    ///
    /// # Errors
    ///
    /// What keeps it from being the input schema of a tool.
    pub fn parse(text: &[u8], limits: &Limits) -> Result<Self, SchemaFault> {
        if text.len() > limits.schema_bytes {
            return Err(SchemaFault::TooLong(limits.schema_bytes));
        }
        let depths = ScanLimits {
            max_depth: limits.schema_depth,
            node_depth: limits.node_depth,
        };
        let mut scanner = Scanner::new();
        let value = scanner.scan(text, &depths).map_err(SchemaFault::Json)?;
        if value.has_unpaired_surrogate() {
            return Err(SchemaFault::Surrogate);
        }
        let object = value.as_object().ok_or(SchemaFault::NoObject)?;
        if let Some(kind) = object.get("type") {
            let word = kind.as_str().and_then(|word| word.decode().ok());
            if word.as_deref() != Some("object") {
                return Err(SchemaFault::OtherType);
            }
        }
        let schema = RawJson::from_value(value);
        if Shape::of(&schema).nodes > limits.schema_nodes {
            return Err(SchemaFault::TooMany(limits.schema_nodes));
        }
        Ok(Self(schema))
    }

    /// The schema as it was given.
    #[must_use]
    pub const fn as_raw(&self) -> &RawJson {
        &self.0
    }

    /// The tool that takes the answer. Its input schema says `object` even where
    /// the schema leaves that open, which providers ask for (RT-SCHM-007).
    #[must_use]
    pub fn tool(&self) -> ToolSpec {
        ToolSpec {
            name: TOOL.into(),
            description: DESCRIPTION.into(),
            input_schema: self.with_type(),
            class: ToolClass::Inert,
            path_member: None,
            parallel: true,
            background: Background::Never,
        }
    }

    fn with_type(&self) -> RawJson {
        let mut scanner = Scanner::new();
        let text = self.0.as_str();
        let value = scanner.scan(text.as_bytes(), &ScanLimits::DEFAULT).ok();
        let object = value.and_then(crate::json::Value::as_object);
        if object.is_none_or(|object| object.get("type").is_some()) {
            return self.0.clone();
        }
        let rest = text.strip_prefix('{').unwrap_or(text);
        let comma = if rest == "}" { "" } else { "," };
        let typed = format!("{{\"type\":\"object\"{comma}{rest}");
        RawJson::parse(&typed).unwrap_or_else(|_| self.0.clone())
    }
}

/// How much there is in a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Arrays and objects.
    pub(crate) nodes: usize,
    /// Arrays and objects open at once.
    pub(crate) depth: usize,
}

impl Shape {
    /// Measures a value.
    pub(crate) fn of(value: &RawJson) -> Self {
        let mut shape = Self::default();
        let mut open = 0_usize;
        let (mut quoted, mut escaped) = (false, false);
        for byte in value.as_str().bytes() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = !quoted,
                b'{' | b'[' if !quoted => {
                    shape.nodes = shape.nodes.saturating_add(1);
                    open = open.saturating_add(1);
                    shape.depth = shape.depth.max(open);
                }
                b'}' | b']' if !quoted => open = open.saturating_sub(1),
                _ => {}
            }
        }
        shape
    }
}

/// A value to be held against a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validation {
    /// The schema.
    pub schema: OutputSchema,
    /// The value.
    pub value: RawJson,
}

/// What a validator says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Validity {
    /// The value fits.
    Fits,
    /// It does not: what is wrong and where, one text for each fault. None of
    /// them quotes the value.
    Breaks(Vec<String>),
    /// Nobody knows: the validator failed, or was not done in time.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn parse(text: &str) -> Result<OutputSchema, String> {
        OutputSchema::parse(text.as_bytes(), &Limits::DEFAULT).map_err(|fault| fault.to_string())
    }

    // covers: RT-SCHM-007
    #[test]
    fn the_tool_shows_an_object_where_the_schema_leaves_it_open() {
        for (schema, shown) in [
            ("{}", r#"{"type":"object"}"#),
            (
                r##"{ "$ref" : "#/$defs/a", "$defs":{"a":{"type":"object"}} }"##,
                r##"{"type":"object","$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}"##,
            ),
            (r#"{"type":"object"}"#, r#"{"type":"object"}"#),
            (
                r#"{"typ\u0065":"\u006fbject"}"#,
                r#"{"typ\u0065":"\u006fbject"}"#,
            ),
        ] {
            let schema = parse(schema).expect(schema);
            assert_eq!(schema.tool().input_schema.as_str(), shown);
            // What is validated stays the schema as it was given.
            assert_eq!(parse(schema.as_raw().as_str()).as_ref(), Ok(&schema));
        }
    }

    #[test]
    fn a_shape_counts_what_stands_outside_strings() {
        let shape = |text: &str| Shape::of(&RawJson::parse(text).expect(text));
        let counted = |nodes, depth| Shape { nodes, depth };
        assert_eq!(shape("1"), counted(0, 0));
        assert_eq!(shape("[{},{\"a\":[]}]"), counted(4, 3));
        assert_eq!(shape(r#"{"[{\\\"[":"\\\\"}"#), counted(1, 1));
    }

    // covers: RT-SCHM-010
    #[test]
    fn what_is_no_schema_of_an_object_is_told() {
        let most = Limits::DEFAULT.schema_bytes;
        let deep = Limits::DEFAULT.schema_depth;
        let nested =
            |levels: usize| "{\"not\":".repeat(levels - 1) + "{}" + &"}".repeat(levels - 1);
        assert!(parse(&nested(deep)).is_ok());
        assert!(parse(&nested(deep + 1)).is_err_and(|fault| fault.contains("deep")));
        let padded = |bytes: usize| alloc::format!("{{}}{}", " ".repeat(bytes - 2));
        assert!(parse(&padded(most)).is_ok());
        assert_eq!(
            parse(&padded(most + 1)),
            Err("over 262144 bytes".to_string())
        );
        let items = |nodes: usize| alloc::format!("{{\"enum\":[{}1]}}", "{},".repeat(nodes - 2));
        let most = Limits::DEFAULT.schema_nodes;
        assert!(parse(&items(most)).is_ok());
        assert_eq!(
            parse(&items(most + 1)),
            Err("over 4096 arrays and objects".to_string())
        );
        for (text, fault) in [
            ("", "byte"),
            ("{\"type\":\"object\"", "byte"),
            ("{\"a\":1,\"a\":2}", "duplicate"),
            ("true", "expected a JSON Schema"),
            ("[]", "expected a JSON Schema"),
            ("{\"type\":\"array\"}", "at /type: expected \"object\""),
            ("{\"type\":[\"object\",\"null\"]}", "at /type"),
            ("{\"title\":\"\\ud800\"}", "surrogate"),
        ] {
            let told = parse(text).expect_err(text);
            assert!(told.contains(fault), "{text}: {told}");
        }
    }
}
