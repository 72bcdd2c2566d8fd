//! The books of a prompt are of that prompt alone (DEC-27).

use super::json::member;
use super::model::Model;
use super::said::Said;
use super::{Judged, Oracle, broken};
use agentx_core::agent::{Config, Input, Output};
use agentx_core::effect::{Progress, Request};
use agentx_core::model::Delta;

/// Counts what a result tells.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// Model requests since the last prompt that ran.
    requests: u64,
    /// Tokens that their answers have told.
    tokens: u64,
}

impl Books {
    /// A prompt that went well had all its requests answered, so each was made. A
    /// suggestion behind an earlier one may have made one more.
    fn judge(&mut self, success: bool, turns: u64, tokens: u64) -> Judged {
        if turns == 0 {
            return Ok(());
        }
        let told = std::mem::take(&mut self.tokens);
        if tokens > told {
            let what = format!("{tokens} tokens are told, and answers told {told}");
            return broken("the books are of one prompt", "DEC-27", what);
        }
        let made = std::mem::take(&mut self.requests);
        if success && made > 0 && turns > made {
            let what = format!("{turns} model requests are told, and {made} were made");
            return broken("the books are of one prompt", "DEC-27", what);
        }
        Ok(())
    }
}

fn number(object: &[u8], name: &str) -> u64 {
    let number = member(object, name).and_then(|number| std::str::from_utf8(number).ok());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

impl Oracle for Books {
    fn began(&mut self, _config: &Config) {
        *self = Self::default();
    }

    fn input(&mut self, _model: &Model, input: &Input<'_>) -> Judged {
        if let Input::Progress(_, Progress::Delta(Delta::Usage(usage))) = input {
            self.tokens += usage.input_tokens + usage.output_tokens;
        }
        Ok(())
    }

    fn output(&mut self, _model: &Model, output: &Output) -> Judged {
        if matches!(output, Output::Start(_, Request::Model(_))) {
            self.requests += 1;
        }
        Ok(())
    }

    fn said(&mut self, model: &Model, line: &[u8], said: &Said<'_>) -> Judged {
        match said {
            // Where records wait for a validator, the next prompt may ask before.
            Said::Result(ending) if !model.lags() => {
                let usage = member(line, "usage").unwrap_or_default();
                let tokens = number(usage, "input_tokens") + number(usage, "output_tokens");
                self.judge(ending.success, ending.turns, tokens)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_an_earlier_prompt_do_not_count() {
        let mut books = Books {
            requests: 2,
            tokens: 30,
        };
        assert_eq!(books.judge(true, 2, 30), Ok(()));
        books.requests = 1;
        assert_eq!(books.judge(true, 0, 0), Ok(()), "it never ran");
        let found = books.judge(true, 3, 0).unwrap_err();
        assert_eq!(found.requirement, "DEC-27");
        assert_eq!(
            books.judge(false, 1, 0),
            Ok(()),
            "it was asked for and held"
        );
        books.tokens = 15;
        let found = books.judge(true, 1, 30).unwrap_err();
        assert_eq!(found.requirement, "DEC-27", "more tokens than were told");
    }
}
