//! Decoding of the corpora, beside a line codec with serde.

use agentx_benches::corpus::{self, Corpus};
use agentx_benches::cpu::CpuTime;
use agentx_benches::{base, decode};
use agentx_core::json::Scanner;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const CHUNK: usize = 64 * 1024;

fn corpora(criterion: &mut Criterion<CpuTime>) {
    for name in corpus::NAMES {
        let corpus = corpus::load(name).unwrap_or_else(|error| corpus::unavailable(name, &*error));
        decoding(criterion, &corpus);
    }
}

fn decoding(criterion: &mut Criterion<CpuTime>, corpus: &Corpus) {
    let mut group = criterion.benchmark_group(format!("decode/{}", corpus.name));
    group.throughput(Throughput::Bytes(corpus.bytes.len() as u64));
    group.sample_size(10);
    let mut scanner = Scanner::new();
    group.bench_function("borrowed", |bencher| {
        bencher.iter(|| decode::borrowed(&mut scanner, corpus.bytes.chunks(CHUNK)));
    });
    group.bench_function("unescaped", |bencher| {
        bencher.iter(|| decode::unescaped(&mut scanner, corpus.bytes.chunks(CHUNK)));
    });
    group.bench_function("lines_serde_owned", |bencher| {
        bencher.iter(|| base::decode(corpus.bytes.chunks(CHUNK)));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = corpora
}
criterion_main!(benches);
