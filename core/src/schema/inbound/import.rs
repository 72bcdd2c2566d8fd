//! Attachment import records (WIRE-018, DEC-08).

use super::{Import, Malformed};
use crate::json::{Object, Value};
use crate::schema::grammar::{IMPORT_UUID_VERSIONS, is_import_id, is_uuid};
use alloc::borrow::Cow;
use alloc::string::String;

const BEGIN: [&str; 10] = [
    "type",
    "version",
    "operation",
    "prompt_uuid",
    "upload_id",
    "attachment_id",
    "name",
    "size_bytes",
    "mime_type",
    "sha256",
];
const CHUNK: [&str; 6] = [
    "type",
    "version",
    "operation",
    "upload_id",
    "sequence",
    "data",
];
const ENDING: [&str; 4] = ["type", "version", "operation", "upload_id"];

pub(super) fn parse(record: Object<'_>) -> Result<Import, Malformed> {
    let fields = Fields(record);
    if record.get("version").and_then(Value::as_u64) != Some(1) {
        return Err(fields.fault("version", "attachment_import: version must be 1"));
    }
    let operation = fields.text("operation", "attachment_import: missing operation")?;
    match &*operation {
        "begin" => begin(fields),
        "chunk" => {
            fields.only(&CHUNK)?;
            Ok(Import::Chunk {
                upload_id: fields.upload_id()?,
                sequence: fields.number("sequence", "attachment_import: invalid sequence")?,
                data: fields.text("data", "attachment_import: invalid data")?,
            })
        }
        "commit" => {
            fields.only(&ENDING)?;
            let upload_id = fields.upload_id()?;
            Ok(Import::Commit { upload_id })
        }
        "abort" => {
            fields.only(&ENDING)?;
            let upload_id = fields.upload_id()?;
            Ok(Import::Abort { upload_id })
        }
        _ => Err(fields.fault("operation", "attachment_import: unknown operation")),
    }
}

fn begin(fields: Fields<'_>) -> Result<Import, Malformed> {
    fields.only(&BEGIN)?;
    Ok(Import::Begin {
        prompt_uuid: fields.spelled(
            "prompt_uuid",
            |uuid| is_uuid(uuid, IMPORT_UUID_VERSIONS),
            "attachment_import: invalid prompt_uuid",
        )?,
        upload_id: fields.upload_id()?,
        attachment_id: fields.spelled(
            "attachment_id",
            |id| is_import_id(id, "att_"),
            "attachment_import: invalid attachment_id",
        )?,
        name: fields.text("name", "attachment_import: invalid name")?,
        size_bytes: fields.number("size_bytes", "attachment_import: invalid size_bytes")?,
        mime_type: fields.text("mime_type", "attachment_import: invalid mime_type")?,
        sha256: fields.text("sha256", "attachment_import: invalid sha256")?,
    })
}

/// The members of one import record.
#[derive(Clone, Copy)]
struct Fields<'a>(Object<'a>);

impl Fields<'_> {
    /// A fault at the value of `name`, or at the record where that is missing.
    fn fault(self, name: &str, reason: &'static str) -> Malformed {
        let value = self.0.get(name).unwrap_or_else(|| self.0.value());
        Malformed {
            at: value.start(),
            reason,
        }
    }

    /// Refuses every member that is not listed.
    fn only(self, names: &[&str]) -> Result<(), Malformed> {
        for (name, value) in self.0 {
            if !names.contains(&&*name.decode_lossy()) {
                return Err(Malformed {
                    at: value.start(),
                    reason: "attachment_import: unknown member",
                });
            }
        }
        Ok(())
    }

    fn text(self, name: &str, reason: &'static str) -> Result<String, Malformed> {
        self.spelled(name, |_| true, reason)
    }

    fn spelled(
        self,
        name: &str,
        fits: impl Fn(&str) -> bool,
        reason: &'static str,
    ) -> Result<String, Malformed> {
        self.0
            .get(name)
            .and_then(Value::as_str)
            .and_then(|text| text.decode().ok())
            .filter(|text| fits(text))
            .map(Cow::into_owned)
            .ok_or_else(|| self.fault(name, reason))
    }

    fn number(self, name: &str, reason: &'static str) -> Result<u64, Malformed> {
        let number = self.0.get(name).and_then(Value::as_u64);
        number.ok_or_else(|| self.fault(name, reason))
    }

    fn upload_id(self) -> Result<String, Malformed> {
        self.spelled(
            "upload_id",
            |id| is_import_id(id, "upl_"),
            "attachment_import: invalid upload_id",
        )
    }
}
