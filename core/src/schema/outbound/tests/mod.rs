mod control;
mod events;
mod rules;
mod session;
mod work;

use super::{Outbound, RecordIds};
use crate::json::{RawJson, ScanLimits, Scanner, Writer};
use crate::schema::declare::fits;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::discriminant;

const IDS: RecordIds<'_> = RecordIds {
    uuid: "u",
    session_id: "s",
};

/// A record and its exact bytes under [`IDS`].
type Sample = (Outbound, &'static str);

fn text(record: &Outbound) -> String {
    let mut writer = Writer::new();
    record.write(IDS, &mut writer);
    String::from_utf8(writer.finish()).unwrap()
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

fn s(text: &str) -> Arc<str> {
    text.into()
}

fn samples() -> Vec<Sample> {
    let mut all = session::samples();
    all.extend(events::samples());
    all.extend(work::samples());
    all.extend(control::samples());
    all
}

// covers: DEC-16, DEC-43, DEC-47, WIRE-016, WIRE-019, WIRE-022, WIRE-023, WIRE-PERM-011, WIRE-PERM-020, WIRE-PERM-021
#[test]
fn every_record_has_exactly_these_bytes() {
    for (record, expected) in samples() {
        assert_eq!(text(&record), expected);
    }
}

// covers: DEC-47
#[test]
fn every_record_reads_back() {
    for (record, line) in samples() {
        let mut scanner = Scanner::new();
        let value = scanner.scan(line.as_bytes(), &ScanLimits::DEFAULT).unwrap();
        let read = Outbound::read(value.as_object().unwrap());
        assert_eq!(read.as_ref(), Some(&record), "{line}");
    }
}

/// A newer agent may say more, and in another order.
// covers: WIRE-PERM-013
#[test]
fn what_is_not_known_of_a_record_is_dropped() {
    for (record, line) in samples() {
        let mut scanner = Scanner::new();
        let value = scanner.scan(line.as_bytes(), &ScanLimits::DEFAULT).unwrap();
        let mut members: Vec<_> = value.as_object().unwrap().iter().collect();
        members.reverse();
        let mut writer = Writer::new();
        writer.begin_object();
        writer.member_str("newer", "member");
        for (name, value) in members {
            writer.member_value(name.raw(), value);
            writer.member_null(&alloc::format!("behind {}", name.raw()));
        }
        writer.end_object();
        let line = writer.finish();
        let value = scanner.scan(&line, &ScanLimits::DEFAULT).unwrap();
        let read = Outbound::read(value.as_object().unwrap());
        assert_eq!(read, Some(record));
    }
}

/// Any member that has to be there makes the record another one when it is gone.
#[test]
fn a_record_is_read_whole_or_not_at_all() {
    for (record, line) in samples() {
        let mut scanner = Scanner::new();
        let value = scanner.scan(line.as_bytes(), &ScanLimits::DEFAULT).unwrap();
        let members: Vec<_> = value.as_object().unwrap().iter().collect();
        for left_out in 0..members.len() {
            let mut writer = Writer::new();
            writer.begin_object();
            for (at, (name, value)) in members.iter().enumerate() {
                if at != left_out {
                    writer.member_value(name.raw(), *value);
                }
            }
            writer.end_object();
            let shorter = writer.finish();
            let mut scanner = Scanner::new();
            let value = scanner.scan(&shorter, &ScanLimits::DEFAULT).unwrap();
            // What is read all the same lacks what may be lacking, or was not asked
            // for its ids.
            if let Some(read) = Outbound::read(value.as_object().unwrap()) {
                let name = members[left_out].0.raw();
                let ids = ["uuid", "session_id"].contains(&name);
                assert_eq!(ids, read == record, "{name} of {line}");
            }
        }
    }
}

// covers: DEC-43
#[test]
fn no_record_is_left_out() {
    let mut seen: Vec<_> = Vec::new();
    for (record, _) in samples() {
        let kind = discriminant(&record);
        if !seen.contains(&kind) {
            seen.push(kind);
        }
    }
    assert_eq!(seen.len(), Outbound::RECORDS.len());
}

// covers: DEC-03, DEC-47, WIRE-014
#[test]
fn every_record_scans_and_fits_its_declared_shape() {
    for (record, _) in samples() {
        let line = text(&record);
        let mut scanner = Scanner::new();
        let value = scanner.scan(line.as_bytes(), &ScanLimits::DEFAULT).unwrap();
        let fitting = Outbound::RECORDS
            .iter()
            .filter(|(_, shape, session)| {
                *session == record.is_session_record() && fits::record(shape, value, *session)
            })
            .count();
        assert_eq!(fitting, 1, "{line}");
    }
}

#[test]
fn session_records_end_with_their_ids_and_others_have_none() {
    for (record, _) in samples() {
        let line = text(&record);
        let uuid = record.own_uuid().unwrap_or("u");
        let end = alloc::format!(r#","uuid":"{uuid}","session_id":"s"}}"#);
        assert_eq!(line.ends_with(&end), record.is_session_record(), "{line}");
        assert_eq!(line.contains("session_id"), record.is_session_record());
    }
}
