use super::*;

type Seen = Vec<(String, String)>;

fn feed(decoder: &mut Decoder, bytes: &[u8], seen: &mut Seen) -> Result<(), Fault> {
    decoder
        .feed(bytes, |event| {
            seen.push((event.event.into(), event.data.into()));
            ControlFlow::Continue(())
        })
        .map(|_| ())
}

fn decode(bytes: &[u8]) -> Seen {
    let mut seen = Seen::new();
    feed(&mut Decoder::new(), bytes, &mut seen).unwrap();
    seen
}

fn data(bytes: &[u8]) -> Vec<String> {
    decode(bytes).into_iter().map(|(_, data)| data).collect()
}

#[test]
fn lines_end_at_cr_lf_and_crlf() {
    assert_eq!(
        data(b"data: a\n\ndata: b\r\rdata: c\r\n\r\ndata: d\r\n\n"),
        ["a", "b", "c", "d"]
    );
}

#[test]
fn separators_of_unicode_are_text() {
    let text = "x\u{85}y\u{2028}z\u{2029}\u{b}\u{c}w";
    assert_eq!(data(format!("data: {text}\n\n").as_bytes()), [text]);
}

#[test]
fn comments_and_unknown_fields_are_ignored() {
    assert_eq!(
        data(b":\n\n: ping 12\n\nretry: 1000\nid: 5\n\nnoise\nfield: x\n\ndata: a\n:in the middle\ndata: b\n\n"),
        ["a\nb"]
    );
}

#[test]
fn one_space_after_the_colon_goes() {
    assert_eq!(
        data(b"data:a\n\ndata:  b\n\ndata\n\ndata: \n\n"),
        ["a", " b", "", ""]
    );
}

#[test]
fn the_event_name_belongs_to_one_event() {
    let seen = decode(b"event: one\nevent: two\ndata: a\n\ndata: b\n\nevent: lost\n\ndata: c\n\n");
    let names: Vec<_> = seen.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["two", "", ""]);
}

#[test]
fn id_and_retry_are_kept() {
    let mut decoder = Decoder::new();
    feed(
        &mut decoder,
        b"id: 7\nretry: 250\n\nid: a\0b\nretry: 1x\nretry:\n\n",
        &mut Seen::new(),
    )
    .unwrap();
    assert_eq!((decoder.last_id(), decoder.retry()), ("7", Some(250)));
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_start_only() {
    assert_eq!(data(b"\xEF\xBB\xBFdata: a\n\n"), ["a"]);
    assert_eq!(data(b"\xEF\xBB\xBF\ndata: a\n\n"), ["a"]);
    assert_eq!(data(b"\n\xEF\xBB\xBFdata: a\n\ndata: b\n\n"), ["b"]);
}

#[test]
fn an_event_without_its_blank_line_is_dropped() {
    assert_eq!(data(b"data: a\n\ndata: b\n"), ["a"]);
    assert_eq!(data(b"data: a\n\ndata: b"), ["a"]);
}

#[test]
fn bytes_that_are_no_utf8_are_replaced() {
    assert_eq!(data(b"data: a\xFFb\n\n"), ["a\u{FFFD}b"]);
}

#[test]
fn every_split_gives_the_same_events() {
    let stream =
        "\u{FEFF}event: é\r\ndata: 那个 🚀\r\ndata: ok\r\n\r\n:\r\rdata: b\n\n\r\ndata: 🦀\n\n"
            .as_bytes();
    let whole = decode(stream);
    assert_eq!(whole.len(), 3);
    for first in 0..=stream.len() {
        for second in first..=stream.len() {
            let mut decoder = Decoder::new();
            let mut seen = Seen::new();
            for piece in [&stream[..first], &stream[first..second], &stream[second..]] {
                feed(&mut decoder, piece, &mut seen).unwrap();
            }
            assert_eq!(seen, whole, "split at {first} and {second}");
        }
    }
}

#[test]
fn what_stands_behind_a_break_is_dropped() {
    let mut count = 0;
    let flow = Decoder::new().feed(b"data: a\n\ndata: b\n\n", |_| {
        count += 1;
        ControlFlow::Break(())
    });
    assert_eq!((flow, count), (Ok(ControlFlow::Break(())), 1));
}

#[test]
fn a_line_over_its_limit_is_a_fault_however_it_is_cut() {
    let long = vec![b'x'; SSE_LINE_BYTES + 1];
    let mut decoder = Decoder::new();
    let mut seen = Seen::new();
    assert_eq!(
        feed(&mut decoder, &long, &mut seen),
        Err(Fault::LineTooLong)
    );
    assert_eq!(
        feed(&mut decoder, b"\n\ndata: a\n\n", &mut seen),
        Err(Fault::LineTooLong)
    );

    let mut decoder = Decoder::new();
    feed(&mut decoder, &long[..SSE_LINE_BYTES], &mut seen).unwrap();
    assert_eq!(feed(&mut decoder, b"x", &mut seen), Err(Fault::LineTooLong));
    assert!(seen.is_empty());
}

#[test]
fn an_event_over_its_limit_is_a_fault() {
    let mut line = b"data: ".to_vec();
    line.resize(SSE_EVENT_BYTES / 2, b'x');
    line.push(b'\n');
    let mut decoder = Decoder::new();
    let mut seen = Seen::new();
    feed(&mut decoder, &line, &mut seen).unwrap();
    feed(&mut decoder, &line, &mut seen).unwrap();
    assert_eq!(
        feed(&mut decoder, &line, &mut seen),
        Err(Fault::EventTooLong)
    );
}
