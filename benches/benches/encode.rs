//! Encoding of output records to finished lines, beside `serde_json`.

use agentx_benches::cpu::CpuTime;
use agentx_benches::output::{self, Sample};
use agentx_benches::{corpus, encode};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn corpora(criterion: &mut Criterion<CpuTime>) {
    for name in corpus::OUTPUT {
        let corpus = corpus::load(name).unwrap_or_else(|error| corpus::unavailable(name, &*error));
        encoding(criterion, name, &output::samples(&corpus));
    }
}

fn encoding(criterion: &mut Criterion<CpuTime>, name: &str, samples: &[Sample]) {
    encode::check(samples);
    let guard = encode::guard();
    let mut buffer = Vec::new();
    let mut group = criterion.benchmark_group(format!("encode/{name}"));
    group.throughput(Throughput::Bytes(encode::link(&guard, samples) as u64));
    group.sample_size(10);
    group.bench_function("link_guarded", |bencher| {
        bencher.iter(|| encode::link(&guard, samples));
    });
    group.bench_function("writer_guarded", |bencher| {
        bencher.iter(|| encode::writer(Some(&guard), &mut buffer, samples));
    });
    group.bench_function("writer", |bencher| {
        bencher.iter(|| encode::writer(None, &mut buffer, samples));
    });
    group.bench_function("serde_to_writer", |bencher| {
        bencher.iter(|| encode::serde_writer(&mut buffer, samples));
    });
    group.bench_function("serde_to_string_replace_contains", |bencher| {
        bencher.iter(|| encode::serde_usual(samples));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = corpora
}
criterion_main!(benches);
