//! Rules over command lines against a real shell.
//!
//! Lines are put together at random from pieces that separate, quote, hide and
//! substitute. A shell runs each of them in an empty folder with two programs in
//! its `PATH`, of which one must not run. Where it did run, no rule for the other
//! may have covered the line, and a rule that denies it must have been seen, or
//! the line must have been unclear enough to ask.

use agentx_core::json::{RawJson, Writer};
use agentx_core::policy::{Judgement, Policy};
use agentx_core::schema::permission::{
    Behavior, Destination, PermissionMode, PermissionRule, PermissionUpdate, RulesAction,
    RulesUpdate,
};
use agentx_core::tool::{ToolClass, ToolSpec};
use agentx_laws::SplitMix64;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Pieces of lines. `good` may run, `bad` may not; nothing here goes on for ever.
const PIECES: &[&str] = &[
    "good",
    "good ",
    "bad",
    "bad ",
    "good x",
    " x",
    " ",
    "\t",
    ";",
    " ; ",
    "&&",
    " && ",
    "||",
    " || ",
    "|",
    " | ",
    "&",
    " & ",
    "\n",
    "$(",
    ")",
    "(",
    "`",
    "'",
    "\"",
    "\\",
    "\\\n",
    "{ ",
    "}",
    "; }",
    "{bad,x}",
    "{good,x}",
    "$x",
    "${x:-",
    "$((",
    "))",
    "$'",
    "#",
    " # ",
    "! ",
    "if good; then ",
    "; else ",
    "; fi",
    "for x in bad; do ",
    "; done",
    "A=1 ",
    "A=",
    ">f",
    " 2>&1",
    " >/dev/null",
    " < /dev/null",
    "<(",
    ">(",
    "<<E\n",
    "\nE\n",
    "<<< ",
    "*",
    "?",
    "~",
    "eval ",
    "exec ",
    "command ",
    "b\"a\"d",
    "'bad'",
    "b\\ad",
    "./bad",
    "$0",
    "bash -c ",
    "case x in ",
    "x) ",
    ";; ",
    "esac",
    "f() ",
    "\r",
    "\u{a0}",
    "[[ x ]]",
    "time ",
    "&>f",
    "=",
    ":",
    ": ",
    "$IFS",
    "x=bad; ",
    "-",
    "hash -p ./bad good; ",
    ". ./bad",
    "source ./bad ",
    "printf -v 'a[$(bad)]' x",
    "printf ",
    "test ",
    "'a[$(bad)]'",
    "a[$(bad)]",
    "let ",
    "(( x ))",
    "[[ x -eq 0 ]]",
    "mapfile -C bad -c 1 a <<< x",
    "compgen -C bad ",
    "echo bad | bash",
    "echo bad ",
    "bash ",
    "BASH_ENV=./bad ",
    "PS4='$(bad)'; ",
    "set -x; ",
    "alias good=bad\n",
    "shopt -s expand_aliases\n",
    "trap bad EXIT; ",
    "coproc ",
    "function f ",
    "f; ",
    "read x <<< bad; ",
    "<>f",
    ">|f",
    "x='a[$(bad)]'; ",
    "unset ",
    "-v ",
    "&>/dev/null ",
    "|& ",
    " 2>/dev/null ",
];

struct Shell {
    folder: PathBuf,
}

impl Shell {
    fn new(name: &str) -> Self {
        let name = format!("agentx-rules-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::create_dir_all(folder.join("work")).unwrap();
        let shell = Self { folder };
        shell.program("good", "#!/bin/sh\n:\n");
        shell.program(
            "bad",
            &format!("#!/bin/sh\n: > '{}'\n", shell.mark().display()),
        );
        std::os::unix::fs::symlink("/bin/bash", shell.folder.join("bin/bash")).unwrap();
        shell
    }

    fn program(&self, name: &str, text: &str) {
        for folder in ["bin", "work"] {
            let path = self.folder.join(folder).join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    fn mark(&self) -> PathBuf {
        self.folder.join("mark")
    }

    /// Whether the line runs what must not run, in one shell or the other.
    fn runs_bad(&self, line: &str) -> bool {
        for program in ["/bin/bash", "/bin/sh"] {
            let ran = Command::new(program)
                .args(["-c", line])
                .env_clear()
                .env("PATH", self.folder.join("bin"))
                .current_dir(self.folder.join("work"))
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .output();
            drop(ran.unwrap());
        }
        fs::remove_file(self.mark()).is_ok()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn policy(rules: &[(Behavior, Option<&str>)]) -> Policy {
    let mut policy = Policy::new(PermissionMode::Default, "/repo".into());
    for (behavior, content) in rules {
        policy.apply(&PermissionUpdate::Rules(RulesUpdate {
            action: RulesAction::Add,
            rules: vec![PermissionRule {
                tool_name: "Bash".into(),
                rule_content: content.map(Into::into),
            }],
            behavior: *behavior,
            destination: Destination::Session,
        }));
    }
    policy
}

fn judge(policy: &Policy, line: &str) -> Judgement {
    let tool = ToolSpec {
        name: "Bash".into(),
        description: "".into(),
        input_schema: RawJson::empty_object(),
        class: ToolClass::Execute,
        path_member: None,
        parallel: false,
    };
    let mut input = Writer::new();
    input.begin_object();
    input.member_str("command", line);
    input.end_object();
    policy.judge(&tool, &RawJson::parse_bytes(&input.finish()).unwrap())
}

/// Whether the program exists; without a shell there is nothing to compare with.
fn has_shell() -> bool {
    Path::new("/bin/bash").exists()
}

fn line(rng: &mut SplitMix64) -> String {
    let count = 1 + rng.below(9);
    (0..count)
        .map(|_| PIECES[rng.below(PIECES.len())])
        .collect()
}

#[test]
fn no_line_slips_past_the_rules() {
    if !has_shell() {
        return;
    }
    let shell = Shell::new("pieces");
    let harmless = ["good:*", "::*", "echo:*", "printf:*", "test:*"];
    let covering = policy(&harmless.map(|rule| (Behavior::Allow, Some(rule))));
    let denying = policy(&[(Behavior::Allow, None), (Behavior::Deny, Some("bad:*"))]);
    let mut rng = SplitMix64::new(0x5eed);
    let (mut covered, mut denied, mut ran) = (0, 0, 0);
    for _ in 0..LINES {
        let line = line(&mut rng);
        let allowed = matches!(judge(&covering, &line), Judgement::Allow(_));
        let passed = matches!(judge(&denying, &line), Judgement::Allow(_));
        covered += u32::from(allowed);
        denied += u32::from(matches!(judge(&denying, &line), Judgement::Deny(_)));
        // What is denied or asked about does not run.
        if allowed || passed {
            ran += 1;
            assert!(!shell.runs_bad(&line), "{line:?} (covered: {allowed})");
        }
    }
    // The shell works, and the lines are worth it.
    assert!(shell.runs_bad("good; bad"));
    assert!(
        covered > LINES / 100 && denied > LINES / 20 && ran > LINES / 20,
        "{covered} {denied} {ran}"
    );
}

/// How many lines are tried.
const LINES: u32 = 4000;

/// A line of the grammar that a shell takes, which may run either program.
fn sentence(rng: &mut SplitMix64, depth: u32) -> String {
    let inner = |rng: &mut SplitMix64| sentence(rng, depth - 1);
    if depth == 0 {
        return simple(rng);
    }
    match rng.below(16) {
        0 => format!(
            "{} {} {}",
            inner(rng),
            pick(rng, &["&&", "||", "|", "&"]),
            inner(rng)
        ),
        1 => format!(
            "{}{}{}",
            inner(rng),
            pick(rng, &[";", "\n", " ;\t"]),
            inner(rng)
        ),
        2 => format!("({})", inner(rng)),
        3 => format!("{{ {}\n}}", inner(rng)),
        4 => format!(
            "if {}\nthen {}\nelse {}\nfi",
            inner(rng),
            inner(rng),
            inner(rng)
        ),
        5 => format!("for x in bad good; do $x\n{}\ndone", inner(rng)),
        6 => format!("good \"a $({}) b\"", inner(rng)),
        7 => format!("good ${{x:-$({})}}", inner(rng)),
        8 => format!(
            "good `{}`",
            inner(rng).replace('\\', "\\\\").replace('`', "\\`")
        ),
        9 => format!("eval {}", quoted(rng, depth)),
        10 => format!("bash -c {}", quoted(rng, depth)),
        // A name for each depth, so that nothing calls itself.
        11 => format!("f{depth}() {{ {}\n}}; f{depth}", inner(rng)),
        12 => format!("case a in (b) good;; a) {}\n;; esac", inner(rng)),
        13 => format!("! {}", inner(rng)),
        14 => format!("trap {} EXIT", quoted(rng, depth)),
        _ => simple(rng),
    }
}

/// A single command: either program in some disguise, with or without trimmings.
fn simple(rng: &mut SplitMix64) -> String {
    let before = pick(
        rng,
        &[
            "",
            "",
            "A=1 ",
            "A=$(good) ",
            ">f ",
            "2>&1 ",
            "command ",
            "exec ",
            "time ",
        ],
    );
    let name = pick(
        rng,
        &[
            "good",
            "good",
            "good",
            "bad",
            "\"bad\"",
            "b'a'd",
            "\\bad",
            "ba\\\nd",
            "./bad",
            "../bin/bad",
            "$'bad'",
            "$\"bad\"",
            "${y:-bad}",
            "b?d",
            "{bad,x}",
            "$(echo bad)",
        ],
    );
    let after = pick(
        rng,
        &[
            "",
            "",
            " x",
            " 'a; b'",
            " \"#\"",
            " >/dev/null",
            " # bad",
            " <<< x",
        ],
    );
    format!("{before}{name}{after}")
}

/// A whole line in quotes of either kind.
fn quoted(rng: &mut SplitMix64, depth: u32) -> String {
    let line = sentence(rng, depth - 1);
    if rng.one_in(2) {
        format!("'{}'", line.replace('\'', "'\\''"))
    } else {
        let escaped = ['\\', '"', '$', '`'];
        let escape = |c: char| {
            if escaped.contains(&c) {
                format!("\\{c}")
            } else {
                c.to_string()
            }
        };
        format!("\"{}\"", line.chars().map(escape).collect::<String>())
    }
}

fn pick<'a>(rng: &mut SplitMix64, items: &[&'a str]) -> &'a str {
    items[rng.below(items.len())]
}

#[test]
fn no_sentence_of_a_shell_slips_past_the_rules() {
    if !has_shell() {
        return;
    }
    let shell = Shell::new("sentences");
    let harmless = ["good:*", "echo:*"];
    let covering = policy(&harmless.map(|rule| (Behavior::Allow, Some(rule))));
    let denying = policy(&[(Behavior::Allow, None), (Behavior::Deny, Some("bad:*"))]);
    let mut rng = SplitMix64::new(0x5e17);
    let (mut bad, mut denied) = (0, 0);
    for _ in 0..SENTENCES {
        let depth = 1 + u32::try_from(rng.below(3)).unwrap();
        let line = sentence(&mut rng, depth);
        if !shell.runs_bad(&line) {
            continue;
        }
        bad += 1;
        let covered = judge(&covering, &line);
        assert!(!matches!(covered, Judgement::Allow(_)), "{line:?}");
        let judged = judge(&denying, &line);
        assert!(!matches!(judged, Judgement::Allow(_)), "{line:?}");
        denied += u32::from(matches!(judged, Judgement::Deny(_)));
    }
    // Most are seen through, not only asked about.
    assert!(bad > SENTENCES / 4 && denied > bad / 2, "{bad} {denied}");
}

/// How many sentences are tried.
const SENTENCES: u32 = 600;
