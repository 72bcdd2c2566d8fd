//! The session store: a listing, a long session taken up again, a batch on its
//! way to the operating system.

use agentx_benches::cpu::CpuTime;
use agentx_core::json::RawJson;
use agentx_core::model::Usage;
use agentx_core::schema::outbound::TextBlock;
use agentx_core::store::{
    AnswerEntry, Batch, Binding, CallEntry, Entry, EntryBlock, Opening, PromptEntry, ResultEntry,
};
use agentx_core::time::WallTime;
use agentx_store::Store;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

/// Sessions of the listing.
const SESSIONS: u64 = 10_000;

/// Entries of the long session.
const ENTRIES: u64 = 10_000;

fn batch(id: &str, first: u64, entries: Vec<Entry>) -> Batch {
    let opening = Opening {
        version: "0.0.0".to_owned(),
        cwd: "/home/somebody/work/project".to_owned(),
        binding: Binding {
            provider: "main".into(),
            kind: "openai_compatible".into(),
            model: "some-model".into(),
            route: "0123456789abcdef".repeat(4).into(),
        },
        title: "Find out why the build of the second target fails, and mend it".to_owned(),
        origin: None,
    };
    Batch {
        session_id: id.into(),
        first,
        opening: (first == 0).then(|| Box::new(opening)),
        entries: entries.into(),
        time: WallTime(1_800_000_000_000 + first),
    }
}

/// Entries as a working session has them: prompts, answers with a call, results
/// of about a kilobyte.
fn entries() -> Vec<Entry> {
    let text = |text: String| TextBlock { text };
    let entry = |n: u64| match n % 3 {
        0 => Entry::Prompt(PromptEntry {
            time_ms: n,
            uuid: format!("00000000-0000-4000-8000-{n:012}").into(),
            content: vec!["Look at the next file, and tell what it is for.".to_owned()],
        }),
        1 => Entry::Answer(AnswerEntry {
            time_ms: n,
            content: vec![
                EntryBlock::Text(text("I will read it.".to_owned())),
                EntryBlock::Call(CallEntry {
                    id: format!("toolu_{n}").into(),
                    name: "Read".into(),
                    input: RawJson::parse(r#"{"file_path":"/repo/src/main.rs"}"#)
                        .expect("an object"),
                }),
            ],
            usage: Some(Usage::ZERO),
        }),
        _ => Entry::Result(ResultEntry {
            time_ms: n,
            tool_use_id: format!("toolu_{}", n - 1).into(),
            content: vec![text("    let line = reader.next()?;\n".repeat(32))],
            is_error: false,
        }),
    };
    (0..ENTRIES).map(entry).collect()
}

fn listing(criterion: &mut Criterion<CpuTime>) {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut store = Store::open(home.path()).expect("a store");
    let prompt = entries().swap_remove(0);
    for n in 0..SESSIONS {
        let id = format!("00000000-0000-4000-8000-{n:012}");
        let stored = store.append(&batch(&id, 0, vec![prompt.clone()]));
        stored.expect("a session is stored");
    }
    let mut group = criterion.benchmark_group("store");
    group
        .sample_size(10)
        .throughput(Throughput::Elements(SESSIONS));
    group.bench_function("list", |bencher| {
        bencher.iter(|| {
            let store = Store::open_existing(home.path()).expect("a store");
            let sessions = store.expect("it is there").sessions().expect("a listing");
            assert_eq!(sessions.len() as u64, SESSIONS);
        });
    });
    group.finish();
}

fn resuming(criterion: &mut Criterion<CpuTime>) {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut store = Store::open(home.path()).expect("a store");
    let all = entries();
    store
        .append(&batch("long", 0, all.clone()))
        .expect("stored");
    let half = all[..all.len() / 2].to_vec();
    store.append(&batch("half", 0, half)).expect("stored");
    let mut group = criterion.benchmark_group("store");
    group.sample_size(10);
    for (name, id, count) in [
        ("restore", "long", ENTRIES),
        ("restore_half", "half", ENTRIES / 2),
    ] {
        group.throughput(Throughput::Elements(count));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let restored = store.restore(id).expect("a history");
                assert_eq!(restored.entries, count);
            });
        });
    }
    group.finish();
}

fn appending(criterion: &mut Criterion<CpuTime>) {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut store = Store::open(home.path()).expect("a store");
    let three = entries()[..3].to_vec();
    store.append(&batch("s", 0, three.clone())).expect("stored");
    let mut first = 3;
    let mut group = criterion.benchmark_group("store");
    group.sample_size(10);
    group.bench_function("append", |bencher| {
        bencher.iter_batched(
            || {
                first += 3;
                batch("s", first - 3, three.clone())
            },
            |batch| store.append(&batch).expect("stored"),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = listing, resuming, appending
}
criterion_main!(benches);
