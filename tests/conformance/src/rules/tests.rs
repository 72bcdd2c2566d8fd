use super::{HARD_LINES, INLINE_TEST_LINES, links, manifest, orphans, places, sizes, source};
use crate::tree::File;

#[test]
fn sizes_count_tests_apart() {
    let code = "fn a() {}\n".repeat(HARD_LINES);
    assert!(sizes(&File::of("a.rs", &code)).is_empty());
    let over = format!("{code}fn b() {{}}\n");
    assert_eq!(
        sizes(&File::of("a.rs", &over)),
        ["a.rs: 801 lines, 800 at most"]
    );
    assert!(sizes(&File::of("a/tests.rs", &code)).is_empty());
    assert_eq!(
        sizes(&File::of("a/tests.rs", &over)),
        ["a/tests.rs: 801 lines, 800 at most"]
    );
    let body = "    fn t() {}\n".repeat(INLINE_TEST_LINES);
    let inline = format!("{code}#[cfg(test)]\nmod tests {{\n{body}}}\n");
    let wrong = sizes(&File::of("a.rs", &inline));
    assert_eq!(wrong.len(), 1);
    assert!(wrong[0].contains("153 lines of inline tests"), "{wrong:?}");
}

#[test]
fn sources_are_finished_and_the_core_is_pure() {
    let bad = "fn a() { todo!() }\n#[ignore]\nuse std::fs;\nasync fn b() { c.await }\nlet m: HashMap<u8, u8>;\n";
    let wrong = source(&File::of("core/src/a.rs", bad));
    let told: Vec<&str> = wrong.iter().filter_map(|w| w.split('`').nth(1)).collect();
    assert_eq!(
        told,
        ["todo!", "#[ignore", "std::", "async ", ".await", "HashMap"]
    );
    assert_eq!(source(&File::of("tools/src/a.rs", bad)).len(), 2);
    let good = "// std::fs\nlet s = \"HashMap todo!\"; let mystd::x = MyHashMap;\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
    assert!(source(&File::of("core/src/a.rs", good)).is_empty());
    assert_eq!(source(&File::of("core/src/tests.rs", bad)).len(), 2);
}

#[test]
fn places_of_one_machine_and_outside_are_told() {
    let text = "x\n/root/x\n../shared/spec\n";
    let wrong = places(&File::of("docs/a.md", text));
    assert_eq!(
        wrong,
        [
            "docs/a.md:2: a path of one machine",
            "docs/a.md:3: names material outside the repository"
        ]
    );
    assert_eq!(places(&File::of(".ci/run", text)).len(), 1);
    assert_eq!(places(&File::of("tests/a.sh", text)).len(), 1);
    assert_eq!(places(&File::of("tests/a.rs", text)).len(), 2);
}

#[test]
fn manifests_take_what_the_workspace_says() {
    let keys = ["version", "edition", "rust-version", "license", "publish"];
    let good: String = keys
        .iter()
        .map(|k| format!("{k}.workspace = true\n"))
        .collect();
    let good = format!("[package]\nname = 'x'\n{good}[lints]\nworkspace = true\n");
    assert!(manifest(&File::of("x/Cargo.toml", &good)).is_empty());
    let bad = good
        .replace("[lints]\nworkspace", "[lints]\nworkspaces")
        .replace("license.w", "licence.w");
    let wrong = manifest(&File::of("x/Cargo.toml", &bad));
    assert_eq!(
        wrong,
        [
            "x/Cargo.toml: does not take the lints of the workspace",
            "x/Cargo.toml: does not take `license` from the workspace"
        ]
    );
    let root = "[workspace.lints.rust]\nunsafe_code = 'forbid'\n";
    assert!(manifest(&File::of("Cargo.toml", root)).is_empty());
    let wrong = manifest(&File::of("Cargo.toml", &root.replace("forbid", "warn")));
    assert_eq!(
        wrong,
        ["Cargo.toml: the workspace does not forbid unsafe code"]
    );
}

#[test]
fn links_lead_to_files_and_headings() {
    let text = "# One: `two`\n[a](b/c.md) [d](../README.md#top-2) [e](#one-two) [f](b) [w](https://x.y)\n```\n[x](none)\n```\n";
    let files = [
        File::of("docs/a.md", text),
        File::of("docs/b/c.md", ""),
        File::of("README.md", "## Top 2\n"),
    ];
    assert_eq!(links(&files[0], &files), [""; 0]);
    let bad = File::of("docs/a.md", "[a](c.md) [b](../../x) [c](#none) [d](b#x)\n");
    let wrong = links(&bad, &files);
    assert_eq!(
        wrong,
        [
            "docs/a.md:1: dead link c.md",
            "docs/a.md:1: dead link ../../x",
            "docs/a.md:1: dead link #none",
            "docs/a.md:1: dead link b#x"
        ]
    );
}

#[test]
fn files_that_nobody_compiles_are_told() {
    let files = [
        File::of("a/src/lib.rs", "pub mod b;\nmod c;\n// mod d;\nmod ee;\n"),
        File::of("a/src/b.rs", "mod tests;"),
        File::of("a/src/b/tests.rs", ""),
        File::of("a/src/c/mod.rs", "mod x;"),
        File::of("a/src/c/x.rs", ""),
        File::of("a/src/c/y.rs", ""),
        File::of("a/src/d.rs", ""),
        File::of("a/src/e.rs", ""),
        File::of("a/src/f/mod.rs", ""),
        File::of("a/src/bin/tool.rs", ""),
        File::of("a/tests/t.rs", ""),
        File::of("a/tests/tree/main.rs", "mod one;"),
        File::of("a/tests/tree/one.rs", ""),
    ];
    let told = ["a/src/c/y.rs", "a/src/d.rs", "a/src/e.rs", "a/src/f/mod.rs"];
    assert_eq!(
        orphans(&files),
        told.map(|path| format!("{path}: no module declares it"))
    );
}
