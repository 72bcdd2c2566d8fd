//! Recorded inputs, one a line.

use agentx_conformance::replay::Logged;
use agentx_core::agent::log;
use agentx_laws::Script;

/// A recorded log. What can be read is written as something that reads the same.
pub fn target(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for line in text.lines() {
        if let Ok(input) = log::read(line) {
            let written = log::write(&input).expect("an input that a log holds");
            assert_eq!(log::read(&written), Ok(input), "{written}");
        }
    }
    if let Ok(script) = Script::<Logged>::parse(text) {
        assert_eq!(Script::parse(&script.to_log()), Ok(script));
    }
}
