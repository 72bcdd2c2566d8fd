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
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("agentx-rules-{}", std::process::id()));
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
    let shell = Shell::new();
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
