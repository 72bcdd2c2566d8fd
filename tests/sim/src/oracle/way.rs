//! Records of the agent on their way to the host: read once, for the oracles of both.

use super::tree::{Node, Tree};
use std::collections::VecDeque;

/// A line and where everything in it stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    bytes: Vec<u8>,
    tree: Tree,
}

impl Line {
    /// The line without its newline.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What it says, if that is JSON without a name twice.
    pub(crate) fn node(&self) -> Option<Node<'_>> {
        self.tree.of(&self.bytes)
    }
}

/// Lines that were let go and have not arrived, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Way {
    lines: VecDeque<Line>,
    /// Lines that nobody needs any more, for the memory they have.
    spare: Vec<Line>,
}

impl Way {
    /// Reads a line that stands without its newline.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Line {
        let mut line = self.spare.pop().unwrap_or_else(|| Line {
            bytes: Vec::new(),
            tree: Tree::with_room(),
        });
        line.bytes.clear();
        line.bytes.extend_from_slice(bytes);
        line.tree.read(&line.bytes);
        line
    }

    /// A line was let go.
    pub(crate) fn leaves(&mut self, line: Line) {
        self.lines.push_back(line);
    }

    /// A line has arrived. It is read anew unless it is the one that is due.
    pub(crate) fn arrives(&mut self, bytes: &[u8]) -> Line {
        match self.lines.pop_front() {
            Some(line) if line.bytes == bytes => line,
            _ => self.read(bytes),
        }
    }

    /// Nobody needs this line any more.
    pub(crate) fn done(&mut self, line: Line) {
        self.spare.push(line);
    }

    /// What is on its way is lost.
    pub(crate) fn clear(&mut self) {
        self.spare.extend(self.lines.drain(..));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_is_what_left_or_is_read_anew() {
        let mut way = Way::default();
        for bytes in [&br#"{"a":1}"#[..], br#"{"a":"#] {
            let line = way.read(bytes);
            way.leaves(line);
        }
        let says = |line: &Line| Some(line.node()?.get("a")?.raw().to_vec());
        let first = way.arrives(br#"{"a":1}"#);
        assert_eq!(says(&first).as_deref(), Some(&b"1"[..]));
        way.done(first);
        let other = way.arrives(br#"{"a":2}"#);
        assert_eq!(says(&other).as_deref(), Some(&b"2"[..]));
        let broken = way.arrives(br#"{"a":1"#);
        assert_eq!((broken.bytes(), says(&broken)), (&br#"{"a":1"#[..], None));
    }
}
