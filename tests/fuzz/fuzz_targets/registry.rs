#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agentx_fuzz_targets::registry::target(data));
