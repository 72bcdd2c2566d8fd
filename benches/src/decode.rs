//! Decoding with the core: frame, scan, and read the members of each record.

use agentx_core::frame::Framer;
use agentx_core::json::{Object, ScanLimits, Scanner, Str, Value};
use agentx_core::limits::Limits;
use std::hint::black_box;

/// Decodes chunks and reads each record as borrowed members; strings stay
/// escaped. Returns how many records there were.
///
/// # Panics
///
/// When a record is none.
pub fn borrowed<'c>(scanner: &mut Scanner, chunks: impl Iterator<Item = &'c [u8]>) -> usize {
    each_record(scanner, chunks, |record| {
        read(record, &mut |text| {
            black_box(text.raw());
        });
    })
}

/// Decodes chunks and reads what is needed to pass each record on: its own
/// members, with the text of all that is inside them.
///
/// # Panics
///
/// When a record is none.
pub fn routed<'c>(scanner: &mut Scanner, chunks: impl Iterator<Item = &'c [u8]>) -> usize {
    each_record(scanner, chunks, |record| {
        for (name, value) in record {
            match name.raw() {
                "type" | "subtype" | "session_id" | "uuid" | "request_id" => {
                    black_box(value.as_str().map(Str::raw));
                }
                _ => opaque(value),
            }
        }
    })
}

/// Like [`borrowed`], and takes the escapes out of every string that is read.
///
/// # Panics
///
/// When a record is none.
pub fn unescaped<'c>(scanner: &mut Scanner, chunks: impl Iterator<Item = &'c [u8]>) -> usize {
    each_record(scanner, chunks, |record| {
        read(record, &mut |text| drop(black_box(text.decode())));
    })
}

fn each_record<'c>(
    scanner: &mut Scanner,
    chunks: impl Iterator<Item = &'c [u8]>,
    mut take: impl FnMut(Object<'_>),
) -> usize {
    let mut framer = Framer::new(&Limits::DEFAULT);
    let mut records = 0;
    for mut chunk in chunks {
        while let Some(line) = framer.next(&mut chunk) {
            let line = line.expect("a line");
            let value = scanner
                .scan(line.bytes, &ScanLimits::DEFAULT)
                .expect("a record");
            take(value.as_object().expect("an object"));
            records += 1;
        }
    }
    records
}

/// Reads what the owned types of [`crate::base`] hold.
fn read<'a>(record: Object<'a>, text: &mut impl FnMut(Str<'a>)) {
    for (name, value) in record {
        match name.raw() {
            "message" | "event" | "response" | "request" => members(value, text),
            "usage" => usage(value),
            "tool_use_result" | "modelUsage" => opaque(value),
            _ => scalar(value, text),
        }
    }
}

fn members<'a>(value: Value<'a>, text: &mut impl FnMut(Str<'a>)) {
    let Some(object) = value.as_object() else {
        return scalar(value, text);
    };
    for (name, value) in object {
        match name.raw() {
            "message" | "delta" | "content_block" => members(value, text),
            "content" => content(value, text),
            "usage" => usage(value),
            "response" => opaque(value),
            _ => scalar(value, text),
        }
    }
}

fn content<'a>(value: Value<'a>, text: &mut impl FnMut(Str<'a>)) {
    scalar(value, text);
    for block in value.as_array().into_iter().flatten() {
        for (name, value) in block.as_object().into_iter().flatten() {
            match name.raw() {
                "input" => opaque(value),
                _ => scalar(value, text),
            }
        }
    }
}

fn usage(value: Value<'_>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        if let "input_tokens" | "output_tokens" = name.raw() {
            black_box(value.as_u64());
        }
    }
}

fn opaque(value: Value<'_>) {
    black_box(value.raw());
}

fn scalar<'a>(value: Value<'a>, text: &mut impl FnMut(Str<'a>)) {
    if let Some(string) = value.as_str() {
        text(string);
    } else {
        black_box((value.as_u64(), value.as_bool(), value.is_null()));
    }
}
