//! Just enough reading of Rust source: code apart from comments and literals,
//! production apart from tests, and which test covers which requirement.

/// A source text in two layers of the same shape: what stands in one layer is
/// blank in the other, and line numbers and columns stay as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    /// Code, with comments and the insides of literals blank.
    pub code: String,
    /// Comments, with everything else blank.
    pub comments: String,
}

impl Layers {
    /// Parts a source text that compiles.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut layers = Self {
            code: String::with_capacity(text.len()),
            comments: String::with_capacity(text.len()),
        };
        let mut rest = text;
        let mut after_word = false;
        while let Some(c) = rest.chars().next() {
            let (len, kind) = token(rest, after_word);
            let (piece, tail) = rest.split_at(len);
            layers.push(piece, kind);
            after_word = kind == Kind::Code && (c.is_alphanumeric() || c == '_');
            rest = tail;
        }
        layers
    }

    fn push(&mut self, piece: &str, kind: Kind) {
        for c in piece.chars() {
            let blank = if c == '\n' { '\n' } else { ' ' };
            self.code.push(if kind == Kind::Code { c } else { blank });
            self.comments
                .push(if kind == Kind::Comment { c } else { blank });
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

/// Length and kind of what `text` begins with; code comes one character a time.
fn token(text: &str, after_word: bool) -> (usize, Kind) {
    if text.starts_with("//") {
        return (text.find('\n').unwrap_or(text.len()), Kind::Comment);
    }
    if text.starts_with("/*") {
        return (block_comment(text), Kind::Comment);
    }
    if (!after_word || text.starts_with('"'))
        && let Some(len) = string(text)
    {
        return (len, Kind::Literal);
    }
    if let Some(len) = character(text) {
        return (len, Kind::Literal);
    }
    (text.chars().next().map_or(0, char::len_utf8), Kind::Code)
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// The length of a string literal of any kind at the start of `text`.
fn string(text: &str) -> Option<usize> {
    let prefix = text.find(|c| !matches!(c, 'b' | 'c' | 'r'))?;
    let hashes = text[prefix..].find(|c| c != '#')?;
    let open = prefix + hashes;
    if prefix > 2 || !text[open..].starts_with('"') {
        return None;
    }
    let body = open + 1;
    if text[..prefix].contains('r') {
        let close = format!("\"{}", "#".repeat(hashes));
        let end = text[body..].find(&close)?;
        return Some(body + end + close.len());
    }
    if hashes > 0 {
        return None;
    }
    let mut escaped = false;
    for (at, c) in text[body..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(body + at + 1),
            _ => {}
        }
    }
    None
}

/// The length of a character literal at the start of `text`; a lifetime is none.
fn character(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    if let Some(escape) = inner.strip_prefix('\\') {
        let close = escape.get(1..)?.find('\'')?;
        return Some(close + 4);
    }
    let len = inner.chars().next()?.len_utf8();
    inner[len..].starts_with('\'').then_some(len + 2)
}

/// Whether a file holds nothing but tests.
#[must_use]
pub fn is_test_file(path: &str) -> bool {
    let inner = path.strip_prefix("tests/").unwrap_or(path);
    let mut parts = inner.split('/').rev();
    let name = parts.next().unwrap_or_default();
    name == "tests.rs" || name.ends_with("_tests.rs") || parts.any(|part| part == "tests")
}

/// For each line of `code` whether it stands in an inline test module. Relies
/// on the layout of rustfmt: a block closes at the indentation it opened with.
#[must_use]
pub fn test_lines(code: &str) -> Vec<bool> {
    let lines: Vec<&str> = code.lines().collect();
    let mut marks = vec![false; lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let opens = lines[at].trim() == "#[cfg(test)]"
            && lines
                .get(at + 1)
                .is_some_and(|next| next.contains("mod ") && next.trim_end().ends_with('{'));
        if !opens {
            at += 1;
            continue;
        }
        let indent = lines[at].len() - lines[at].trim_start().len();
        let close = format!("{}}}", " ".repeat(indent));
        let end = (at + 2..lines.len())
            .find(|i| lines[*i].trim_end() == close)
            .unwrap_or(lines.len() - 1);
        marks[at..=end].fill(true);
        at = end + 1;
    }
    marks
}

/// A test and the requirements it says it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// `FILE::FUNCTION`.
    pub name: String,
    /// Line of the function or its first comment, counted from 1.
    pub line: usize,
    /// Ids of the comments `// covers: ID, ID` right above it.
    pub covers: Vec<String>,
}

/// All tests of a file, and what is wrong with its `covers` comments.
#[must_use]
pub fn tests(path: &str, text: &str) -> (Vec<Test>, Vec<String>) {
    let layers = Layers::of(text);
    let mut found: Vec<Test> = Vec::new();
    let mut wrong = Vec::new();
    let mut pending: Vec<String> = Vec::new();
    let mut since = None;
    let mut is_test = false;
    for (at, (code, comment)) in layers.code.lines().zip(layers.comments.lines()).enumerate() {
        let (code, comment) = (code.trim(), comment.trim());
        if let Some(ids) = comment.strip_prefix("// covers:") {
            pending.extend(ids.split(',').map(|id| id.trim().to_owned()));
            since.get_or_insert(at + 1);
        }
        if code.is_empty() {
            continue;
        }
        if code.starts_with("#[") {
            is_test |= is_test_attribute(code);
            continue;
        }
        let name = function_name(code).filter(|_| is_test);
        if let Some(name) = name {
            found.push(Test {
                name: format!("{path}::{name}"),
                line: since.unwrap_or(at + 1),
                covers: std::mem::take(&mut pending),
            });
        } else if let Some(line) = since {
            wrong.push(format!("{path}:{line}: `covers` stands above no test"));
            pending.clear();
        }
        since = None;
        is_test = false;
    }
    if let Some(line) = since {
        wrong.push(format!("{path}:{line}: `covers` stands above no test"));
    }
    (found, wrong)
}

fn is_test_attribute(code: &str) -> bool {
    let name = code
        .trim_start_matches("#[")
        .split([']', '('])
        .next()
        .unwrap_or_default();
    name == "test" || name.ends_with("::test")
}

fn function_name(code: &str) -> Option<&str> {
    let (_, after) = code.split_once("fn ")?;
    after.split(['(', '<']).next().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::{Layers, is_test_file, test_lines, tests};

    #[test]
    fn literals_and_comments_leave_the_code() {
        let text = "let a = \"todo!() // no\"; // yes: \"x\"\nlet b = br##\"}\"# \"##;\n'}'; '\\''; x::<'a>() /* { /* } */ */ + r#b;";
        let layers = Layers::of(text);
        let lines: Vec<&str> = layers.code.lines().map(str::trim_end).collect();
        assert_eq!(lines[0], format!("let a = {};", " ".repeat(15)));
        assert_eq!(lines[1], format!("let b = {};", " ".repeat(12)));
        assert!(lines[2].contains("x::<'a>()") && lines[2].ends_with("+ r#b;"));
        assert!(!lines[2].contains('}') && !lines[2].contains('{'));
        assert_eq!(
            layers.comments.lines().next().map(str::trim),
            Some("// yes: \"x\"")
        );
        assert_eq!(layers.code.len(), text.len());
    }

    #[test]
    fn a_word_before_a_quote_is_no_prefix() {
        let layers = Layers::of("attr\"x\" + b\"y\" + 'b' + b'\\n'");
        assert_eq!(layers.code.trim_end(), "attr    +      +     + b");
    }

    #[test]
    fn test_modules_are_told_from_production() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}\n";
        let marks = test_lines(text);
        assert_eq!(marks, [false, true, true, true, true, true, false]);
        assert_eq!(
            test_lines("#[cfg(test)]\nmod tests;\nfn a() {}\n"),
            [false; 3]
        );
    }

    #[test]
    fn files_of_tests_are_known_by_their_place() {
        for path in [
            "core/src/a/tests.rs",
            "tools/tests/run.rs",
            "tests/e2e/tests/x.rs",
        ] {
            assert!(is_test_file(path), "{path}");
        }
        for path in [
            "core/src/a.rs",
            "tests/e2e/src/lib.rs",
            "core/src/attests.rs",
        ] {
            assert!(!is_test_file(path), "{path}");
        }
    }

    #[test]
    fn a_test_carries_the_ids_above_it() {
        let text = "// covers: A-1, A-2\n/// Why.\n#[test]\n#[cfg(unix)]\nfn one() {\n    let x = 1;\n}\n\n#[tokio::test(flavor = \"x\")]\n// covers: B-1\nasync fn two() {}\n#[test]\nfn three() {}\n";
        let (found, wrong) = tests("f.rs", text);
        assert!(wrong.is_empty(), "{wrong:?}");
        let seen: Vec<(&str, usize, Vec<&str>)> = found
            .iter()
            .map(|t| {
                (
                    t.name.as_str(),
                    t.line,
                    t.covers.iter().map(String::as_str).collect(),
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("f.rs::one", 1, vec!["A-1", "A-2"]),
                ("f.rs::two", 10, vec!["B-1"]),
                ("f.rs::three", 13, vec![]),
            ]
        );
    }

    #[test]
    fn ids_above_anything_else_are_a_fault() {
        let (found, wrong) = tests(
            "f.rs",
            "// covers: A-1\nfn helper() {}\n#[test]\nfn one() {}\n",
        );
        assert_eq!(wrong, ["f.rs:1: `covers` stands above no test"]);
        assert!(found[0].covers.is_empty());
        let (_, wrong) = tests("f.rs", "let x = \"\n// covers: A-1\n\";\n");
        assert!(wrong.is_empty());
    }
}
