//! Answers about files: those that were put back, and those that were seen.

use super::{Line, LogFault, Words};
use crate::checkpoint::{RewindReport, Seeding};
use alloc::string::String;
use alloc::vec::Vec;

pub(super) fn write_rewound(line: Line, rewound: &Result<RewindReport, String>) -> Line {
    match rewound {
        Err(why) => line.word("refused").text(why),
        Ok(report) => {
            let line = line
                .word("done")
                .number(report.insertions)
                .number(report.deletions)
                .number(report.changed.len());
            let texts = report.changed.iter().chain(&report.failures);
            texts.fold(line, |line, text| line.text(text))
        }
    }
}

pub(super) fn read_rewound(
    words: &mut Words<'_>,
) -> Result<Result<RewindReport, String>, LogFault> {
    match words.word()? {
        "refused" => Ok(Err(words.text()?)),
        "done" => {
            let (insertions, deletions) = (words.number()?, words.number()?);
            let mut changed = Vec::new();
            for _ in 0..words.number::<usize>()? {
                changed.push(words.text()?);
            }
            let mut failures = Vec::new();
            while !words.0.is_empty() {
                failures.push(words.text()?);
            }
            Ok(Ok(RewindReport {
                changed,
                insertions,
                deletions,
                failures,
            }))
        }
        _ => Err(LogFault("a rewind is `done` or `refused`")),
    }
}

pub(super) fn write_seeded(line: Line, seeding: &Seeding) -> Line {
    match seeding {
        Seeding::Seeded => line.word("seen"),
        Seeding::Newer => line.word("newer"),
        Seeding::Refused(why) => line.word("refused").text(why),
    }
}

pub(super) fn read_seeded(words: &mut Words<'_>) -> Result<Seeding, LogFault> {
    match words.word()? {
        "seen" => Ok(Seeding::Seeded),
        "newer" => Ok(Seeding::Newer),
        "refused" => Ok(Seeding::Refused(words.text()?)),
        _ => Err(LogFault("a file is `seen`, `newer` or `refused`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Input;
    use crate::agent::log::{read, write};
    use crate::effect::{Answer, EffectId};
    use alloc::vec;

    #[test]
    fn answers_about_files_read_back_as_they_were_written() {
        let report = RewindReport {
            changed: vec!["/a b".into(), "/c\n".into()],
            insertions: 1,
            deletions: u64::MAX,
            failures: vec!["`/d` is a folder.".into()],
        };
        for answer in [
            Answer::Rewound(Err("it is \"gone\"".into())),
            Answer::Rewound(Ok(RewindReport::default())),
            Answer::Rewound(Ok(report)),
            Answer::Seeded(Seeding::Seeded),
            Answer::Seeded(Seeding::Newer),
            Answer::Seeded(Seeding::Refused("no `a`".into())),
        ] {
            let input = Input::Done(EffectId(7), answer);
            let line = write(&input).expect("no input of the stream");
            assert_eq!(read(&line), Ok(input), "{line}");
        }
    }

    #[test]
    fn what_is_no_answer_is_a_fault() {
        for (line, fault) in [
            ("done 1 rewound well", "a rewind is `done` or `refused`"),
            ("done 1 rewound done 1 2", "a word is missing"),
            ("done 1 rewound done 1 2 x", "a number is missing"),
            ("done 1 rewound done 1 2 2 \"/a\"", "a text is missing"),
            (
                "done 1 seeded well",
                "a file is `seen`, `newer` or `refused`",
            ),
            ("done 1 seeded refused", "a text is missing"),
        ] {
            assert_eq!(read(line), Err(LogFault(fault)), "{line}");
        }
    }
}
