//! Inputs of the built-in tools, read strictly: a member that is unknown,
//! missing or of the wrong type is a fault that names it.

use crate::stop::Stop;
use crate::text::shown;
use agentx_core::guard::Guard;
use agentx_core::json::{Object, RawJson, ScanLimits, Scanner, Value};

/// What `Read` is asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReadInput {
    pub(crate) file_path: String,
    /// First line, counted from 1.
    pub(crate) offset: Option<u64>,
    pub(crate) limit: Option<u64>,
}

impl ReadInput {
    pub(crate) fn parse(input: &RawJson, guard: &Guard) -> Result<Self, Stop> {
        read_object(input, guard, &["file_path", "offset", "limit"], |members| {
            Ok(Self {
                file_path: members.text("file_path")?,
                offset: members.count("offset")?,
                limit: members.count("limit")?,
            })
        })
    }
}

/// What `Glob` is asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GlobInput {
    pub(crate) pattern: String,
    pub(crate) path: Option<String>,
}

impl GlobInput {
    pub(crate) fn parse(input: &RawJson, guard: &Guard) -> Result<Self, Stop> {
        read_object(input, guard, &["pattern", "path"], |members| {
            Ok(Self {
                pattern: members.text("pattern")?,
                path: members.optional_text("path")?,
            })
        })
    }
}

/// What `Grep` answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GrepMode {
    Content,
    FilesWithMatches,
    Count,
}

/// What `Grep` is asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GrepInput {
    pub(crate) pattern: String,
    pub(crate) path: Option<String>,
    pub(crate) glob: Option<String>,
    pub(crate) output_mode: GrepMode,
}

impl GrepInput {
    pub(crate) fn parse(input: &RawJson, guard: &Guard) -> Result<Self, Stop> {
        let known = ["pattern", "path", "glob", "output_mode"];
        read_object(input, guard, &known, |members| {
            Ok(Self {
                pattern: members.text("pattern")?,
                path: members.optional_text("path")?,
                glob: members.optional_text("glob")?,
                output_mode: match members.optional_text("output_mode")?.as_deref() {
                    None | Some("files_with_matches") => GrepMode::FilesWithMatches,
                    Some("content") => GrepMode::Content,
                    Some("count") => GrepMode::Count,
                    Some(_) => {
                        let set = "`content`, `files_with_matches` or `count`";
                        return Err(wrong("output_mode", set));
                    }
                },
            })
        })
    }
}

/// What `CurrentTime` is asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TimeInput {
    pub(crate) timezone: Option<String>,
}

impl TimeInput {
    pub(crate) fn parse(input: &RawJson, guard: &Guard) -> Result<Self, Stop> {
        read_object(input, guard, &["timezone"], |members| {
            Ok(Self {
                timezone: members.optional_text("timezone")?,
            })
        })
    }
}

/// What `Write` is asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WriteInput {
    pub(crate) file_path: String,
    pub(crate) content: String,
}

impl WriteInput {
    pub(crate) fn parse(input: &RawJson, guard: &Guard) -> Result<Self, Stop> {
        read_object(input, guard, &["file_path", "content"], |members| {
            Ok(Self {
                file_path: members.text("file_path")?,
                content: members.text("content")?,
            })
        })
    }
}

/// What `Edit` is asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EditInput {
    pub(crate) file_path: String,
    pub(crate) old_string: String,
    pub(crate) new_string: String,
    pub(crate) replace_all: bool,
}

impl EditInput {
    pub(crate) fn parse(input: &RawJson, guard: &Guard) -> Result<Self, Stop> {
        let known = ["file_path", "old_string", "new_string", "replace_all"];
        read_object(input, guard, &known, |members| {
            Ok(Self {
                file_path: members.text("file_path")?,
                old_string: members.text("old_string")?,
                new_string: members.text("new_string")?,
                replace_all: members.flag("replace_all")?,
            })
        })
    }
}

/// What `Bash` is asked. Its `description` is for whoever is asked to allow
/// the call; the body only checks its type.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BashInput {
    pub(crate) command: String,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) run_in_background: bool,
}

impl BashInput {
    pub(crate) fn parse(input: &RawJson, guard: &Guard) -> Result<Self, Stop> {
        let known = ["command", "timeout_ms", "description", "run_in_background"];
        read_object(input, guard, &known, |members| {
            members.optional_text("description")?;
            Ok(Self {
                command: members.text("command")?,
                timeout_ms: members.count("timeout_ms")?,
                run_in_background: members.flag("run_in_background")?,
            })
        })
    }
}

/// The members of an input object whose names are all known.
struct Members<'a>(Object<'a>);

fn read_object<T>(
    input: &RawJson,
    guard: &Guard,
    known: &[&str],
    build: impl FnOnce(&Members<'_>) -> Result<T, Stop>,
) -> Result<T, Stop> {
    let mut scanner = Scanner::new();
    let value = scanner
        .scan(input.as_str().as_bytes(), &ScanLimits::DEFAULT)
        .map_err(|fault| Stop::fault(format!("The input is not valid JSON: {fault}.")))?;
    let object = value
        .as_object()
        .ok_or_else(|| Stop::fault("The input must be a JSON object."))?;
    for (name, _) in object {
        if !known.iter().any(|known| name == *known) {
            let name = shown(&name.decode_lossy(), guard);
            let known = known.join("`, `");
            let text = format!("Unknown member `{name}` in the input; known are `{known}`.");
            return Err(Stop::fault(text));
        }
    }
    build(&Members(object))
}

impl Members<'_> {
    /// A string that must be there.
    fn text(&self, name: &str) -> Result<String, Stop> {
        self.optional_text(name)?
            .ok_or_else(|| Stop::fault(format!("Member `{name}` is missing in the input.")))
    }

    /// A string that may be absent.
    fn optional_text(&self, name: &str) -> Result<Option<String>, Stop> {
        self.optional(name, "a string", |value| {
            value.as_str()?.decode().ok().map(|text| text.into_owned())
        })
    }

    /// A whole number from 1 that may be absent.
    fn count(&self, name: &str) -> Result<Option<u64>, Stop> {
        self.optional(name, "a whole number of at least 1", |value| {
            value.as_u64().filter(|count| *count >= 1)
        })
    }

    /// A truth value; absent is false.
    fn flag(&self, name: &str) -> Result<bool, Stop> {
        Ok(self
            .optional(name, "true or false", |value| value.as_bool())?
            .unwrap_or(false))
    }

    fn optional<T>(
        &self,
        name: &str,
        expected: &str,
        read: impl FnOnce(Value<'_>) -> Option<T>,
    ) -> Result<Option<T>, Stop> {
        match self.0.get(name) {
            None => Ok(None),
            Some(value) => read(value).map(Some).ok_or_else(|| wrong(name, expected)),
        }
    }
}

fn wrong(name: &str, expected: &str) -> Stop {
    Stop::fault(format!("Member `{name}` must be {expected}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawJson {
        RawJson::parse(text).unwrap()
    }

    fn fault<T: std::fmt::Debug>(result: Result<T, Stop>) -> String {
        match result.unwrap_err() {
            Stop::Fault(text) => text,
            Stop::Cancelled => panic!("cancelled"),
        }
    }

    #[test]
    fn escapes_are_decoded_and_absent_members_have_defaults() {
        let edit = raw(r#"{"file_path":"a","old_string":"\n\u00e9","new_string":"\"🙂"}"#);
        let edit = EditInput::parse(&edit, &Guard::default()).unwrap();
        assert_eq!(edit.old_string, "\né");
        assert_eq!(edit.new_string, "\"🙂");
        assert!(!edit.replace_all);
        let grep = GrepInput::parse(&raw(r#"{"pattern":"x"}"#), &Guard::default()).unwrap();
        assert_eq!(grep.output_mode, GrepMode::FilesWithMatches);
        assert_eq!(
            TimeInput::parse(&raw("{}"), &Guard::default())
                .unwrap()
                .timezone,
            None
        );
    }

    #[test]
    fn every_fault_names_its_member() {
        let cases = [
            (r#"{"offset":1}"#, "`file_path` is missing"),
            (r#"{"file_path":5}"#, "`file_path` must be a string"),
            (r#"{"file_path":null}"#, "`file_path` must be a string"),
            (r#"{"file_path":"\ud800"}"#, "`file_path` must be a string"),
            (r#"{"file_path":"a","offset":0}"#, "`offset` must be"),
            (r#"{"file_path":"a","offset":-1}"#, "`offset` must be"),
            (r#"{"file_path":"a","limit":1.5}"#, "`limit` must be"),
            (r#"{"file_path":"a","limit":"2"}"#, "`limit` must be"),
            (
                r#"{"file_path":"a","limit":99999999999999999999}"#,
                "`limit` must be",
            ),
            (r#"{"file_path":"a","lines":1}"#, "Unknown member `lines`"),
            ("[]", "must be a JSON object"),
        ];
        for (input, expected) in cases {
            let text = fault(ReadInput::parse(&raw(input), &Guard::default()));
            assert!(text.contains(expected), "{input}: {text}");
        }
        let text = fault(BashInput::parse(
            &raw(r#"{"command":"a","run_in_background":1}"#),
            &Guard::default(),
        ));
        assert!(text.contains("`run_in_background` must be true or false"));
        let text = fault(BashInput::parse(
            &raw(r#"{"command":"a","description":1}"#),
            &Guard::default(),
        ));
        assert!(text.contains("`description` must be a string"));
        let text = fault(GrepInput::parse(
            &raw(r#"{"pattern":"a","output_mode":"x"}"#),
            &Guard::default(),
        ));
        assert!(text.contains("`output_mode` must be `content`"), "{text}");
    }
}
