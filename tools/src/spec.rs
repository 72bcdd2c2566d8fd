//! What the model is told of the built-in tools.

use agentx_core::json::RawJson;
use agentx_core::tool::{Background, ToolClass, ToolSpec};

/// The built-in tools, in the order in which they are offered (configuration,
/// "Built-in tools"). Their schemas are closed.
#[must_use]
pub fn builtin_specs() -> Vec<ToolSpec> {
    let mut specs = vec![READ, GLOB, GREP, CURRENT_TIME, WRITE, EDIT, BASH];
    specs.drain(..).map(Builtin::spec).collect()
}

struct Builtin {
    name: &'static str,
    description: &'static str,
    schema: &'static str,
    class: ToolClass,
    path_member: Option<&'static str>,
    background: Background,
}

impl Builtin {
    fn spec(self) -> ToolSpec {
        ToolSpec {
            name: self.name.into(),
            description: self.description.into(),
            input_schema: RawJson::parse(self.schema).expect("a constant that a test reads"),
            class: self.class,
            path_member: self.path_member,
            parallel: matches!(self.class, ToolClass::Inert | ToolClass::ReadOnly),
            background: self.background,
        }
    }
}

const READ: Builtin = Builtin {
    name: "Read",
    description: "Reads a text file and shows its lines, each after its number and a tab. \
        Shows at most 2,000 lines of 2,000 characters, and tells when that cuts something; \
        go on with `offset`. Relative paths start at the working directory. Folders, binary \
        files, pipes and devices are refused.",
    schema: r#"{
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "The file to read."},
            "offset": {"type": "integer", "minimum": 1, "description": "Number of the first line to show; 1 when absent."},
            "limit": {"type": "integer", "minimum": 1, "description": "How many lines to show; 2,000 when absent and at most."}
        },
        "required": ["file_path"],
        "additionalProperties": false
    }"#,
    class: ToolClass::ReadOnly,
    path_member: Some("file_path"),
    background: Background::Never,
};

const GLOB: Builtin = Builtin {
    name: "Glob",
    description: "Lists the files below a folder whose path matches a glob pattern, sorted, \
        at most 1,000. The pattern is matched against the path below that folder: `*` and `?` \
        stay within one name, `**` crosses folders, `{a,b}` and `[a-z]` choose. Hidden files \
        are listed; what a `.gitignore` excludes, the folders of version control (such as \
        `.git`) and links to folders are not.",
    schema: r#"{
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "The glob pattern, such as `src/**/*.rs`."},
            "path": {"type": "string", "description": "The folder to look in; the working directory when absent."}
        },
        "required": ["pattern"],
        "additionalProperties": false
    }"#,
    class: ToolClass::ReadOnly,
    path_member: Some("path"),
    background: Background::Never,
};

const GREP: Builtin = Builtin {
    name: "Grep",
    description: "Searches the lines of the files below a folder, or of one file, for a regular \
        expression (without look-around and back-references), at most 100 results in path order. \
        Hidden files are searched; binary files, large files, links, what a `.gitignore` \
        excludes and the folders of version control (such as `.git`) are not.",
    schema: r#"{
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "The regular expression; `(?i)` in front ignores case."},
            "path": {"type": "string", "description": "The folder or file to search; the working directory when absent."},
            "glob": {"type": "string", "description": "Only files that match this glob; without a slash it is matched against the name alone."},
            "output_mode": {"type": "string", "enum": ["content", "files_with_matches", "count"], "description": "`content`: matching lines as path:line:text. `files_with_matches` (when absent): paths. `count`: path:number of matching lines."}
        },
        "required": ["pattern"],
        "additionalProperties": false
    }"#,
    class: ToolClass::ReadOnly,
    path_member: Some("path"),
    background: Background::Never,
};

const CURRENT_TIME: Builtin = Builtin {
    name: "CurrentTime",
    description: "Tells the current date, time and weekday in a time zone.",
    schema: r#"{
        "type": "object",
        "properties": {
            "timezone": {"type": "string", "description": "Name in the IANA time zone database, such as `Europe/Berlin`; UTC when absent."}
        },
        "additionalProperties": false
    }"#,
    class: ToolClass::Inert,
    path_member: None,
    background: Background::Never,
};

const WRITE: Builtin = Builtin {
    name: "Write",
    description: "Writes a file as a whole, replacing it if it exists and keeping its \
        permissions then. Folders that are missing are made. Relative paths start at the \
        working directory.",
    schema: r#"{
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "The file to write."},
            "content": {"type": "string", "description": "All that the file is to hold."}
        },
        "required": ["file_path", "content"],
        "additionalProperties": false
    }"#,
    class: ToolClass::Edit,
    path_member: Some("file_path"),
    background: Background::Never,
};

const EDIT: Builtin = Builtin {
    name: "Edit",
    description: "Replaces a text in a file by another. The old text must stand in the file \
        exactly as given, whitespace and line ends included, and only once unless `replace_all` \
        is true. The line numbers that Read shows are not part of the file.",
    schema: r#"{
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "The file to change."},
            "old_string": {"type": "string", "minLength": 1, "description": "The text to replace."},
            "new_string": {"type": "string", "description": "What takes its place."},
            "replace_all": {"type": "boolean", "description": "Replace every occurrence; false when absent."}
        },
        "required": ["file_path", "old_string", "new_string"],
        "additionalProperties": false
    }"#,
    class: ToolClass::Edit,
    path_member: Some("file_path"),
    background: Background::Never,
};

const BASH: Builtin = Builtin {
    name: "Bash",
    description: "Runs a shell command in the working directory and answers with what it wrote \
        to stdout and stderr, in that order of writing, at most 30,000 characters of head and \
        tail. A status other than 0 is an error. There is no input and no terminal, nothing is \
        kept between calls, and processes left in the background are ended with the command. \
        For a command that takes long and ends by itself there is `run_in_background`: the \
        answer comes at once and names a file that the output goes to, other work goes on \
        meanwhile, and you are told when the command has ended.",
    schema: r#"{
        "type": "object",
        "properties": {
            "command": {"type": "string", "minLength": 1, "description": "The command line, for `bash -c`."},
            "timeout_ms": {"type": "integer", "minimum": 1, "maximum": 600000, "description": "Milliseconds it may run; 120,000 when absent."},
            "description": {"type": "string", "description": "What the command does, in a few words, for the person who allows it."},
            "run_in_background": {"type": "boolean", "description": "Whether to go on while the command runs; false when absent. Its time is limited by `timeout_ms` all the same."}
        },
        "required": ["command"],
        "additionalProperties": false
    }"#,
    class: ToolClass::Execute,
    path_member: None,
    background: Background::When("run_in_background"),
};

#[cfg(test)]
mod tests {
    use super::*;
    use agentx_core::json::{ScanLimits, Scanner};

    // covers: DEC-26
    #[test]
    fn every_tool_has_a_closed_schema_and_only_lookers_run_side_by_side() {
        let specs = builtin_specs();
        let names: Vec<&str> = specs.iter().map(|spec| &*spec.name).collect();
        let expected = [
            "Read",
            "Glob",
            "Grep",
            "CurrentTime",
            "Write",
            "Edit",
            "Bash",
        ];
        assert_eq!(names, expected);
        for spec in &specs {
            let mut scanner = Scanner::new();
            let text = spec.input_schema.as_str().as_bytes();
            let schema = scanner.scan(text, &ScanLimits::DEFAULT).unwrap();
            let schema = schema.as_object().unwrap();
            let closed = schema.get("additionalProperties").unwrap();
            assert_eq!(closed.as_bool(), Some(false), "{}", spec.name);
            let properties = schema.get("properties").unwrap().as_object().unwrap();
            if let Some(member) = spec.path_member {
                assert!(properties.get(member).is_some(), "{}", spec.name);
            }
            let looks = matches!(spec.class, ToolClass::Inert | ToolClass::ReadOnly);
            assert_eq!(spec.parallel, looks, "{}", spec.name);
        }
    }
}
