use super::*;
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;

/// What was posted, as a channel that ends with the thread that posts.
fn posting() -> (Post, Receiver<News>) {
    let (sender, news) = channel();
    (Arc::new(move |item| drop(sender.send(item))), news)
}

/// What one call of an output does.
#[derive(Clone, Copy)]
enum Act {
    /// Takes at most so many bytes.
    Take(usize),
    /// Fails.
    Fail(ErrorKind),
    /// Says that it took more than there was.
    Lie,
}

/// An output that acts by a script, and takes everything after it.
#[derive(Clone, Default)]
struct Scripted {
    acts: Arc<Mutex<VecDeque<Act>>>,
    written: Arc<Mutex<Vec<u8>>>,
    flush_fails: bool,
}

impl Scripted {
    fn new(acts: impl IntoIterator<Item = Act>) -> Self {
        Self {
            acts: Arc::new(Mutex::new(acts.into_iter().collect())),
            ..Self::default()
        }
    }

    fn text(&self) -> String {
        String::from_utf8(self.written.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Scripted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let act = self.acts.lock().unwrap().pop_front();
        let count = match act {
            None => bytes.len(),
            Some(Act::Take(most)) => most.min(bytes.len()),
            Some(Act::Fail(kind)) => return Err(kind.into()),
            Some(Act::Lie) => return Ok(usize::MAX),
        };
        self.written.lock().unwrap().extend(&bytes[..count]);
        Ok(count)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let joined: Vec<u8> = slices
            .iter()
            .flat_map(|slice| slice.iter().copied())
            .collect();
        self.write(&joined)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.flush_fails {
            return Err(ErrorKind::StorageFull.into());
        }
        Ok(())
    }
}

/// Sends records to an output; what became of them, and what was posted.
fn write_to(output: &Scripted, records: &[String]) -> (Flushed, Vec<News>) {
    let (post, news) = posting();
    let mut writer = Writer::start(output.clone(), post).unwrap();
    for record in records {
        writer.send(record.clone().into_bytes());
    }
    let flushed = writer.finish(None);
    (flushed, news.iter().collect())
}

fn records() -> Vec<String> {
    (0..300).map(|n| format!("record {n}\n")).collect()
}

#[test]
fn records_are_written_whole_and_in_order_however_little_is_taken() {
    for most in [1, 2, 7, 100, 4096] {
        let output = Scripted::new(vec![Act::Take(most); 5_000]);
        let (flushed, news) = write_to(&output, &records());
        let whole = records().concat();
        assert_eq!((flushed, output.text()), (Flushed::Whole, whole.clone()));
        let counts = news.iter().map(|item| match item {
            News::Wrote(count) => *count,
            other => panic!("{other:?}"),
        });
        assert_eq!(counts.sum::<usize>(), whole.len());
    }
}

// covers: DEC-11
#[test]
fn a_write_that_fails_is_told_once_and_is_the_end() {
    for fault in [
        Act::Fail(ErrorKind::BrokenPipe),
        Act::Fail(ErrorKind::StorageFull),
        Act::Take(0),
        Act::Lie,
    ] {
        // Less than the first record: whether others wait by then is a matter of luck.
        let output = Scripted::new([Act::Take(8), fault]);
        let (flushed, news) = write_to(&output, &records());
        assert_eq!(flushed, Flushed::Failed);
        assert_eq!(news, [News::Wrote(8), News::WriteFailed]);
        assert_eq!(output.text(), "record 0");
    }
}

#[test]
fn an_output_that_asks_to_come_back_is_tried_again() {
    let output = Scripted::new([
        Act::Fail(ErrorKind::Interrupted),
        Act::Take(3),
        Act::Fail(ErrorKind::WouldBlock),
        Act::Fail(ErrorKind::Interrupted),
    ]);
    let (flushed, news) = write_to(&output, &["record\n".to_owned()]);
    assert_eq!(
        (flushed, output.text()),
        (Flushed::Whole, "record\n".into())
    );
    assert_eq!(news, [News::Wrote(3), News::Wrote(4)]);
}

#[test]
fn a_patient_stream_waits_where_a_descriptor_does_not() {
    let output = Scripted::new([
        Act::Take(3),
        Act::Fail(ErrorKind::WouldBlock),
        Act::Take(2),
        Act::Fail(ErrorKind::WouldBlock),
    ]);
    let mut patient = Patient(output.clone());
    patient.write_all(b"a record\n").unwrap();
    patient.flush().unwrap();
    assert_eq!(output.text(), "a record\n");

    let input = Pieces {
        left: VecDeque::from([
            Err(ErrorKind::WouldBlock.into()),
            Ok(b"in ".to_vec()),
            Err(ErrorKind::WouldBlock.into()),
            Ok(b"pieces".to_vec()),
        ]),
        given: 0,
        taken: Arc::default(),
        early: Arc::default(),
    };
    let mut text = String::with_capacity(64);
    Patient(input).read_to_string(&mut text).unwrap();
    assert_eq!(text, "in pieces");
}

// covers: DEC-11
#[test]
fn what_an_output_keeps_and_cannot_write_is_a_failure() {
    let output = Scripted {
        flush_fails: true,
        ..Scripted::default()
    };
    let (flushed, _) = write_to(&output, &records());
    assert_eq!(flushed, Flushed::Failed);
}

/// An output that nobody reads until it is let go on.
struct Stuck {
    output: Scripted,
    began: Sender<()>,
    go_on: Receiver<()>,
    flushed: Sender<()>,
}

/// A stuck output; whose first write tells, which then waits; and whose flush tells.
fn stuck() -> (Stuck, Scripted, Receiver<()>, Sender<()>, Receiver<()>) {
    let output = Scripted::default();
    let (began, begins) = channel();
    let (let_go, go_on) = channel();
    let (flushed, flushes) = channel();
    let stuck = Stuck {
        output: output.clone(),
        began,
        go_on,
        flushed,
    };
    (stuck, output, begins, let_go, flushes)
}

impl Write for Stuck {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.began.send(());
        // Once the test let go there is no more waiting.
        let _ = self.go_on.recv();
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.flushed.send(());
        Ok(())
    }
}

#[test]
fn finishing_gives_up_on_an_output_that_nobody_reads() {
    let (stuck, output, begins, let_go, _) = stuck();
    let (post, _news) = posting();
    let mut writer = Writer::start(stuck, post).unwrap();
    writer.send(b"record\n".to_vec());
    begins.recv().unwrap();
    assert_eq!(writer.finish(Some(Instant::now())), Flushed::Late);
    drop(let_go);
    assert_eq!(writer.finish(None), Flushed::Whole);
    assert_eq!(output.text(), "record\n");
}

#[test]
fn a_stuck_stderr_loses_lines_and_says_how_many() {
    let (stuck, output, begins, let_go, flushes) = stuck();
    let mut log = Log::start(stuck).unwrap();
    log.line("first");
    begins.recv().unwrap();
    // The thread waits in its write; from here on nobody takes a line.
    for n in 0..STDERR_LINES + 10 {
        log.line(&n.to_string());
    }
    drop(let_go);
    log.finish();
    flushes.recv().unwrap();
    let text = output.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), STDERR_LINES + 2);
    assert_eq!(lines[..2], ["first", "0"]);
    assert_eq!(
        lines[STDERR_LINES..],
        [
            &*(STDERR_LINES - 1).to_string(),
            "agentx: 10 lines were dropped here"
        ]
    );
}

#[test]
fn lines_that_were_lost_are_told_where_they_are_missing() {
    let (stuck, output, begins, let_go, flushes) = stuck();
    let mut log = Log::start(stuck).unwrap();
    log.line("first");
    begins.recv().unwrap();
    for n in 0..STDERR_LINES + 3 {
        log.line(&n.to_string());
    }
    // Two more lines are taken, so that there is room for two.
    for _ in 0..2 {
        let_go.send(()).unwrap();
        begins.recv().unwrap();
    }
    log.line("again");
    drop(let_go);
    log.finish();
    flushes.recv().unwrap();
    let text = output.text();
    let end = "1023\nagentx: 3 lines were dropped here\nagain\n";
    assert!(text.ends_with(end), "{}", &text[text.len() - 80..]);
}

/// An input of pieces that notices when it is read before its last piece was taken.
struct Pieces {
    left: VecDeque<io::Result<Vec<u8>>>,
    given: usize,
    taken: Arc<AtomicUsize>,
    early: Arc<AtomicBool>,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given > self.taken.load(Ordering::SeqCst) {
            self.early.store(true, Ordering::SeqCst);
        }
        let Some(piece) = self.left.pop_front() else {
            return Ok(0);
        };
        let piece = piece?;
        self.given += 1;
        buffer[..piece.len()].copy_from_slice(&piece);
        Ok(piece.len())
    }
}

/// Everything an input says; no piece may be read before the last was taken.
fn read_all(left: impl IntoIterator<Item = io::Result<Vec<u8>>>) -> Vec<News> {
    let (taken, early) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
    let input = Pieces {
        left: left.into_iter().collect(),
        given: 0,
        taken: Arc::clone(&taken),
        early: Arc::clone(&early),
    };
    let (post, news) = posting();
    let gate = read(input, post).unwrap();
    let mut all = Vec::new();
    for item in &news {
        let is_piece = matches!(item, News::Input(_));
        all.push(item);
        if is_piece {
            // A reader that does not wait has time to be caught.
            thread::yield_now();
            taken.fetch_add(1, Ordering::SeqCst);
            gate.open();
        }
    }
    assert!(!early.load(Ordering::SeqCst), "read before it was asked to");
    all
}

#[test]
fn pieces_come_one_at_a_time_and_the_end_once() {
    let pieces: Vec<Vec<u8>> = (0..500_u32).map(|n| n.to_string().into_bytes()).collect();
    let mut expected: Vec<News> = pieces.iter().cloned().map(News::Input).collect();
    expected.push(News::InputEnd);
    assert_eq!(read_all(pieces.into_iter().map(Ok)), expected);
    assert_eq!(read_all([]), [News::InputEnd]);
}

// covers: DEC-28
#[test]
fn a_piece_is_smaller_than_a_step() {
    let (post, news) = posting();
    let gate = read(io::repeat(b'x').take(1_000_000), post).unwrap();
    let mut total = 0;
    for item in &news {
        if let News::Input(piece) = item {
            assert!(piece.len() <= 256 * 1024);
            total += piece.len();
            gate.open();
        }
    }
    assert_eq!(total, 1_000_000);
}

#[test]
fn an_input_that_fails_says_why_and_one_that_asks_to_come_back_has_not() {
    let piece = |text: &str| Ok(text.as_bytes().to_vec());
    let all = read_all([
        piece("a"),
        Err(ErrorKind::Interrupted.into()),
        Err(ErrorKind::WouldBlock.into()),
        piece("b"),
        Err(ErrorKind::ConnectionReset.into()),
        piece("never"),
    ]);
    let input = |text: &str| News::Input(text.as_bytes().to_vec());
    let failed = News::InputFailed("connection reset".to_owned());
    assert_eq!(all, [input("a"), input("b"), failed]);
    // EISDIR; the system's own words.
    let all = read_all([Err(io::Error::from_raw_os_error(21))]);
    let failed = News::InputFailed("Is a directory (os error 21)".to_owned());
    assert_eq!(all, [failed]);
}

/// A stream that panics whatever is asked of it.
struct Faulty;

impl Read for Faulty {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        panic!("a fault of the reader");
    }
}

impl Write for Faulty {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        panic!("a fault of the writer");
    }

    fn flush(&mut self) -> io::Result<()> {
        panic!("a fault of the writer");
    }
}

// covers: WIRE-015
#[test]
fn streams_that_panic_have_ended_or_failed() {
    let (post, news) = posting();
    read(Faulty, post).unwrap();
    let failed = News::InputFailed("the reader failed inside".to_owned());
    assert_eq!(news.iter().collect::<Vec<_>>(), [failed]);

    let (post, news) = posting();
    let mut writer = Writer::start(Faulty, post).unwrap();
    writer.send(b"record\n".to_vec());
    assert_eq!(writer.finish(None), Flushed::Failed);
    assert_eq!(news.iter().collect::<Vec<_>>(), [News::WriteFailed]);

    let mut log = Log::start(Faulty).unwrap();
    log.line("a line that is lost");
    log.finish();
}
