#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agentx_fuzz_targets::sse::target(data));
