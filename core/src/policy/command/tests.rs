use super::*;
use crate::policy::limits::COMMAND_LINE_BYTES;
use alloc::string::ToString as _;

fn covered(patterns: &[&str], line: &str) -> bool {
    Script::read(line.to_string()).is_covered(patterns.iter().copied())
}

fn runs(pattern: &str, line: &str) -> Found {
    Script::read(line.to_string()).runs(pattern)
}

#[test]
fn every_command_of_a_covered_line_is_one_of_the_patterns() {
    let patterns = ["git status:*", "ls", "echo:*", "cargo test:*"];
    for line in [
        "git status",
        "  git   status\t-s  ",
        "git status && git status -s",
        "git status; ls | echo; ls",
        "git status\nls\n",
        "ls &",
        "ls || ls |& ls",
        "echo 'a; rm (x) $y > z'",
        "echo \"a; rm (x) > z\" \"say \\\"hi\\\"\"",
        "\"git\" 'status'",
        "git status # rm x; `rm y`",
        "cargo test 2>&1 | echo",
        "cargo test >/dev/null 2>/dev/null",
        "cargo test >/dev/null 2>&1 </dev/null",
        "echo *.rs ~ a{b,c} ? [x]",
        "echo a;;ls",
    ] {
        assert!(covered(&patterns, line), "{line:?}");
    }
}

#[test]
fn whatever_else_a_line_holds_leaves_it_uncovered() {
    let patterns = ["git status:*", "ls", "echo:*"];
    for line in [
        "",
        " \t\n",
        "# ls",
        "rm x",
        "git",
        "git statusx",
        "git status-x",
        "git\u{a0}status",
        "\u{a0}git status",
        "git status\u{2003}; rm",
        "ls -l",
        "ls; rm x",
        "ls;rm x",
        "ls\nrm x",
        "ls & rm x",
        "ls && rm x",
        "ls || rm x",
        "ls | rm x",
        "echo $(rm x)",
        "echo `rm x`",
        "echo \"$(rm x)\"",
        "echo \"`rm x`\"",
        "echo ${x:-$(rm x)}",
        "echo $((x))",
        "echo $x",
        "echo $'a'",
        "echo <(rm x)",
        "echo >(rm x)",
        "(ls)",
        "{ ls; }",
        "ls() { rm x; }",
        "! ls",
        "if ls; then rm x; fi",
        "A=1 ls",
        "PATH=/evil ls",
        "LD_PRELOAD=x git status",
        "ls > /etc/passwd",
        "ls>>x",
        "echo x >| y",
        "echo x &> y",
        "echo x &>/dev/null",
        "echo x &>/dev/null rm",
        "echo x >& y",
        "echo x 2> y",
        "ls < x",
        "echo <<E\nrm x\nE",
        "echo <<< x",
        "> x",
        "echo 'a",
        "echo \"a",
        "echo \\",
        "l\\s",
        "echo a\\\nb",
        "/bin/ls",
        "./ls",
        "~/ls",
        "l* ",
        "{ls,rm}",
        "echo '$(rm x)'",
        "echo '`rm x`'",
        "echo 'a[$(rm x)]'",
        "echo a\rb",
        "echo a\u{7f}b",
        "echo >",
        "exec ls",
        "command ls",
        "eval ls",
        "sudo ls",
    ] {
        assert!(!covered(&patterns, line), "{line:?}");
    }
    assert!(!covered(&[], "ls"));
}

#[test]
fn a_line_that_is_allowed_word_for_word_is_covered_whatever_it_holds() {
    let line = "for f in *.o; do rm $f; done > log";
    assert!(covered(&[line], line));
    assert!(!covered(&[line], "for f in *.o; do rm $f; done > log2"));
    // The mark of a prefix is no text of a command.
    assert!(!covered(&["rm $x:*"], "rm $x:*"));
    assert!(!covered(&["rm $x:*"], "rm $x"));
}

#[test]
fn a_pattern_that_restrains_is_found_in_every_disguise() {
    for line in [
        "rm x",
        "rm",
        " rm\tx",
        "\"rm\" x",
        "r'm' x",
        "\\rm x",
        "r\\m x",
        "r\\\nm x",
        "/bin/rm x",
        "../../bin/rm x",
        "A=1 B+=2 rm x",
        "A=$(ls) rm x",
        "ls; rm x",
        "ls&&rm x",
        "ls||rm x",
        "ls|rm x",
        "ls|&rm x",
        "ls&rm x",
        "ls\nrm x",
        "(rm x)",
        "((ls); rm x)",
        "{ rm x; }",
        "f() { rm x; }; f",
        "function f { rm x; }",
        "! rm x",
        "if rm x; then ls; fi",
        "if ls; then rm x; else ls; fi",
        "if ls; then ls; else rm x; fi",
        "while ls; do rm x; done",
        "for f in a; do rm $f; done",
        "echo $(rm x)",
        "echo \"$(rm x)\"",
        "echo \"a $(echo $(rm x)) b\"",
        "echo `rm x`",
        "echo `echo \\`rm x\\``",
        "echo ${x:-$(rm x)}",
        "echo ${x:-`rm x`}",
        "echo $(( $(rm x) ))",
        "cat <(rm x)",
        "ls > >(rm x)",
        "rm x > y",
        "> y rm x",
        "ls &>y rm x",
        "2>/dev/null rm x",
        "sudo rm x",
        "sudo -u root rm x",
        "env A=1 rm x",
        "/usr/bin/env rm x",
        "timeout 5 rm x",
        "nice -n 5 sudo rm x",
        "command rm x",
        "exec rm x",
        "eval rm x",
        "eval 'rm x'",
        "eval \"eval 'rm x'\"",
        "bash -c 'rm x'",
        "sh -c \"ls; rm x\"",
        "/bin/sh -c 'echo $(rm x)'",
        "find . -exec rm {} \\;",
        "ls | xargs rm",
        "env -S'rm x'",
        "env -Srm",
        "env -iS \"rm x\"",
        "sudo env -u A --split-string=rm",
        "/usr/bin/env --split='rm x'",
        "fakeroot rm x",
        "prlimit rm x",
        "valgrind -q rm x",
        "ls | xargs -n 1 rm -f",
        "xargs sh -c 'rm $1' x",
        "trap 'rm x' EXIT",
        "ls # x\nrm x",
        ". /bin/rm x",
        "source rm",
        "hash -p /bin/rm ls; ls x",
        "compgen -C 'rm x'",
        "mapfile -C 'rm x' a < b",
    ] {
        assert_eq!(runs("rm:*", line), Found::Yes, "{line:?}");
    }
}

#[test]
fn what_hides_its_commands_is_unclear() {
    for line in [
        "$x",
        "$x y",
        "`ls` y",
        "$(ls) y",
        "\"$x\" y",
        "r$x",
        "r? x",
        "/bin/r* x",
        "{rm,x}",
        "~/x",
        "eval \"$x\"",
        "eval '{rm,x}'",
        "eval 'r?'",
        "bash -c \"$x\"",
        "case a in a) rm x;; esac",
        "cat <<E\nrm x\nE",
        "echo 'x",
        "echo $(ls",
        "echo `ls",
        "echo ${x",
        "echo >",
        "x=$y; $x",
        "printf -v 'a[$(rm x)]' y",
        "test -v 'a[`rm x`]'",
        "x='$(rm x)'",
        "git commit -m 'about $(rm x)'",
        "echo 'rm x' | sh",
        "echo 'rm x' | bash -x",
        ". /dev/stdin <<< 'rm x'",
        "echo 'rm x' | source /dev/stdin",
        "bash /dev/fd/0 <<< 'rm x'",
        "sudo sh -e /proc/self/fd/0 <f",
        "cd /dev; . stdin",
        "alias ls=rm",
        "shopt -s expand_aliases",
        "PS4=x; set -x",
        "BASH_ENV=x bash y",
        "\\\n rm x",
        "${x:-rm x}A=",
        "$0<<< rm",
        "$0>x",
        "${x:-rm x}",
        "ls <\\\n<E\n'\nE\nrm x\n'",
    ] {
        let found = runs("rm:*", line);
        assert!(found != Found::No, "{line:?}");
    }
    let deep = ["$(".repeat(40), ")".repeat(40)].concat();
    assert_eq!(runs("rm:*", &deep), Found::Unclear);
    let deep = ["echo ${x:-", &"${x:-".repeat(100_000)].concat();
    assert_eq!(runs("rm:*", &deep), Found::Unclear);
    let many = "echo a;".repeat(5_000);
    assert_eq!(runs("rm:*", &many), Found::Unclear);
    assert!(!covered(&["echo:*"], &many));
    assert!(covered(&["echo:*"], &"echo a;".repeat(4_000)));
    let long = ["echo ", &"a".repeat(COMMAND_LINE_BYTES)].concat();
    assert_eq!(runs("rm:*", &long), Found::Unclear);
    assert!(!covered(&["echo:*"], &long));
}

#[test]
fn other_commands_are_not_the_pattern() {
    for line in [
        "ls",
        "echo rm x",
        "grep rm x",
        "git rm x",
        "rmdir x",
        "rm-x",
        "echo 'rm x'",
        "bash build.sh rmdir",
        "git commit -m 'about $(ls)'",
        "X_ENV=y ls",
        "echo \"; rm x\"",
        "ls # rm x",
        "echo $HOME",
        "A=rm ls",
        "ls > rm",
        "for rm in a; do ls; done",
        "",
    ] {
        assert_eq!(runs("rm:*", line), Found::No, "{line:?}");
    }
}

#[test]
fn words_of_a_pattern_are_compared_one_by_one() {
    assert_eq!(runs("git push:*", "git  'push' origin"), Found::Yes);
    assert_eq!(runs("git push:*", "git pull; git push"), Found::Yes);
    assert_eq!(runs("git push:*", "git $x"), Found::Unclear);
    assert_eq!(runs("git push:*", "$x"), Found::Unclear);
    assert_eq!(runs("git push:*", "git pushx"), Found::No);
    assert_eq!(runs("git push:*", "git"), Found::No);
    assert_eq!(runs("git push", "git push"), Found::Yes);
    assert_eq!(runs("git push", "git push origin"), Found::No);
    assert_eq!(runs("git push", "git push; ls"), Found::Yes);
    // A pattern that is no single command is looked for as it is written.
    assert_eq!(runs("ls | sort:*", "wc x; ls | sort"), Found::Yes);
    assert_eq!(runs("ls | sort:*", "ls; sort"), Found::No);
}
