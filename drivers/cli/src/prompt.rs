//! The prompt of a one-shot run: the argument, what comes on stdin, or both.

use crate::refusal::Refusal;
use agentx_pump::stdio::Patient;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// Bytes of a prompt on stdin.
const PROMPT_BYTES: usize = 8 << 20;

/// How long a run that has a prompt already waits for the first byte on stdin,
/// which may belong to a program that will never write.
const FIRST_BYTE: Duration = Duration::from_secs(3);

/// The prompt: the argument, a newline, and the text on stdin where that is no
/// terminal.
///
/// # Errors
///
/// A text on stdin that cannot be read, is no UTF-8 or is too long; no prompt
/// at all (DEC-20).
pub(crate) fn gather(argument: Option<String>, from_stdin: bool) -> Result<String, Refusal> {
    let piped = if from_stdin {
        read_stdin(argument.is_some())?
    } else {
        String::new()
    };
    let prompt = join(argument.unwrap_or_default(), &piped);
    if prompt.trim().is_empty() {
        return Err(Refusal::new(
            "the prompt is empty: give one as an argument or on stdin",
        ));
    }
    Ok(prompt)
}

fn join(mut argument: String, piped: &str) -> String {
    // A line end closes the last line of a text; it is no part of a prompt.
    let piped = piped.trim_end_matches(['\r', '\n']);
    if !argument.is_empty() && !piped.is_empty() {
        argument.push('\n');
    }
    argument + piped
}

fn read_stdin(has_prompt: bool) -> Result<String, Refusal> {
    let unreadable = |error: io::Error| Refusal::new(format_args!("stdin: {error}"));
    let stdin = io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(unreadable)?;
    if has_prompt && is_silent(&stdin) {
        crate::complain("warning: stdin is open but silent; going on without it");
        return Ok(String::new());
    }
    read_bounded(Patient(File::from(stdin)))
}

fn is_silent(stdin: &OwnedFd) -> bool {
    let end = Instant::now() + FIRST_BYTE;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let mut waited = [PollFd::new(stdin, PollFlags::IN)];
        match poll(&mut waited, Timespec::try_from(left).ok().as_ref()) {
            // A child that this process was born with has ended.
            Err(Errno::INTR) => {}
            // Another error is left for the read to tell.
            polled => return polled == Ok(0),
        }
    }
}

fn read_bounded(source: impl Read) -> Result<String, Refusal> {
    let mut bytes = Vec::new();
    source
        .take(PROMPT_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Refusal::new(format_args!("stdin: {error}")))?;
    if bytes.len() > PROMPT_BYTES {
        return Err(Refusal::new(format_args!(
            "stdin: the prompt is over {PROMPT_BYTES} bytes"
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        Refusal::new(format_args!("stdin: the prompt is no UTF-8 at byte {at}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argument_and_stdin_are_joined_by_one_newline() {
        for (argument, piped, prompt) in [
            ("say", "this\n", "say\nthis"),
            ("say", "", "say"),
            ("say", "\n", "say"),
            ("", "this\r\n\r\n", "this"),
            ("", "  two\n lines\n", "  two\n lines"),
        ] {
            assert_eq!(join(argument.to_owned(), piped), prompt);
        }
    }

    #[test]
    fn a_prompt_on_stdin_is_bounded_and_text() {
        let longest = vec![b'a'; PROMPT_BYTES];
        assert_eq!(read_bounded(&*longest).unwrap().len(), PROMPT_BYTES);
        let longer = vec![b'a'; PROMPT_BYTES + 1];
        let fault = read_bounded(&*longer).unwrap_err();
        assert_eq!(fault.to_string(), "stdin: the prompt is over 8388608 bytes");
        let fault = read_bounded(&b"ab\xff"[..]).unwrap_err();
        assert_eq!(fault.to_string(), "stdin: the prompt is no UTF-8 at byte 3");
    }
}
