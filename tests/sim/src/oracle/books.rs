//! The books of a prompt are of that prompt alone (DEC-27).

use super::model::Model;
use super::said::Said;
use super::{Judged, Oracle, broken};
use agentx_core::agent::{Config, Output};
use agentx_core::effect::Request;

/// Counts what a result tells.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// Model requests since the last prompt that ran.
    requests: u64,
}

impl Books {
    /// A prompt that went well had all its requests answered, so each was made. A
    /// suggestion behind an earlier one may have made one more.
    fn judge(&mut self, success: bool, turns: u64) -> Judged {
        if turns == 0 {
            return Ok(());
        }
        let made = std::mem::take(&mut self.requests);
        if success && made > 0 && turns > made {
            let what = format!("{turns} model requests are told, and {made} were made");
            return broken("the books are of one prompt", "DEC-27", what);
        }
        Ok(())
    }
}

impl Oracle for Books {
    fn began(&mut self, _config: &Config) {
        *self = Self::default();
    }

    fn output(&mut self, _model: &Model, output: &Output) -> Judged {
        if matches!(output, Output::Start(_, Request::Model(_))) {
            self.requests += 1;
        }
        Ok(())
    }

    fn said(&mut self, model: &Model, _line: &[u8], said: &Said<'_>) -> Judged {
        match said {
            // Where records wait for a validator, the next prompt may ask before.
            Said::Result(ending) if !model.lags() => self.judge(ending.success, ending.turns),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_an_earlier_prompt_do_not_count() {
        let mut books = Books { requests: 2 };
        assert_eq!(books.judge(true, 2), Ok(()));
        books.requests = 1;
        assert_eq!(books.judge(true, 0), Ok(()), "it never ran");
        let found = books.judge(true, 3).unwrap_err();
        assert_eq!(found.requirement, "DEC-27");
        assert_eq!(books.judge(false, 1), Ok(()), "it was asked for and held");
    }
}
