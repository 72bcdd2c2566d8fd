//! Attachment import records (WIRE-018, DEC-08).

use super::{Import, Malformed};
use crate::json::{Object, Value};
use crate::schema::declare::{Fault, Member, Shape, Spelling, fault};
use alloc::borrow::Cow;
use alloc::string::String;

/// An import record, as schemas tell it.
pub(super) const SHAPE: Shape = Shape::OneOf(&[
    Shape::Object(&BEGIN),
    Shape::Object(&CHUNK),
    Shape::Object(&COMMIT),
    Shape::Object(&ABORT),
]);

const TYPE: Member = Member::constant("type", "\"attachment_import\"");
const VERSION: Member = Member::constant("version", "1");
const UPLOAD_ID: Member = Member::required("upload_id", Shape::Spelled(Spelling::UploadId));

const BEGIN: [Member; 10] = [
    TYPE,
    VERSION,
    Member::constant("operation", "\"begin\""),
    Member::required("prompt_uuid", Shape::Spelled(Spelling::ImportUuid)),
    UPLOAD_ID,
    Member::required("attachment_id", Shape::Spelled(Spelling::AttachmentId)),
    Member::required("name", Shape::String),
    Member::required("size_bytes", Shape::Integer),
    Member::required("mime_type", Shape::String),
    Member::required("sha256", Shape::String),
];
const CHUNK: [Member; 6] = [
    TYPE,
    VERSION,
    Member::constant("operation", "\"chunk\""),
    UPLOAD_ID,
    Member::required("sequence", Shape::Integer),
    Member::required("data", Shape::String),
];
const COMMIT: [Member; 4] = ending("\"commit\"");
const ABORT: [Member; 4] = ending("\"abort\"");

const fn ending(operation: &'static str) -> [Member; 4] {
    [
        TYPE,
        VERSION,
        Member::constant("operation", operation),
        UPLOAD_ID,
    ]
}

pub(super) fn parse(record: Object<'_>) -> Result<Import, Malformed> {
    let fields = Fields(record);
    if record.get("version").and_then(Value::as_u64) != Some(1) {
        return Err(fields.fault("version"));
    }
    let operation = fields.text("operation")?;
    match &*operation {
        "begin" => begin(fields),
        "chunk" => {
            fields.check(&CHUNK)?;
            Ok(Import::Chunk {
                upload_id: fields.text("upload_id")?,
                sequence: fields.number("sequence")?,
                data: fields.text("data")?,
            })
        }
        "commit" => {
            fields.check(&COMMIT)?;
            let upload_id = fields.text("upload_id")?;
            Ok(Import::Commit { upload_id })
        }
        "abort" => {
            fields.check(&ABORT)?;
            let upload_id = fields.text("upload_id")?;
            Ok(Import::Abort { upload_id })
        }
        _ => Err(Malformed {
            reason: "attachment_import: unknown operation",
            ..fields.fault("operation")
        }),
    }
}

fn begin(fields: Fields<'_>) -> Result<Import, Malformed> {
    fields.check(&BEGIN)?;
    Ok(Import::Begin {
        prompt_uuid: fields.text("prompt_uuid")?,
        upload_id: fields.text("upload_id")?,
        attachment_id: fields.text("attachment_id")?,
        name: fields.text("name")?,
        size_bytes: fields.number("size_bytes")?,
        mime_type: fields.text("mime_type")?,
        sha256: fields.text("sha256")?,
    })
}

/// The members of one import record.
#[derive(Clone, Copy)]
struct Fields<'a>(Object<'a>);

impl Fields<'_> {
    /// A fault at the value of `name`, or at the record where that is missing.
    fn fault(self, name: &str) -> Malformed {
        let value = self.0.get(name).unwrap_or_else(|| self.0.value());
        Malformed {
            at: value.start(),
            reason: reason(name),
        }
    }

    /// Refuses everything that is not as the form has it.
    fn check(self, form: &[Member]) -> Result<(), Malformed> {
        match fault(self.0, form) {
            None => Ok(()),
            Some(Fault::Unknown(_, value)) => Err(Malformed {
                at: value.start(),
                reason: "attachment_import: unknown member",
            }),
            Some(Fault::Missing(name) | Fault::Wrong(name, _)) => Err(self.fault(name)),
        }
    }

    fn text(self, name: &str) -> Result<String, Malformed> {
        let text = self.0.get(name).and_then(Value::as_str);
        text.and_then(|text| text.decode().ok())
            .map(Cow::into_owned)
            .ok_or_else(|| self.fault(name))
    }

    fn number(self, name: &str) -> Result<u64, Malformed> {
        let number = self.0.get(name).and_then(Value::as_u64);
        number.ok_or_else(|| self.fault(name))
    }
}

/// What is told of a member that is missing or wrong: a fixed text.
fn reason(member: &str) -> &'static str {
    match member {
        "version" => "attachment_import: version must be 1",
        "operation" => "attachment_import: missing operation",
        "prompt_uuid" => "attachment_import: invalid prompt_uuid",
        "upload_id" => "attachment_import: invalid upload_id",
        "attachment_id" => "attachment_import: invalid attachment_id",
        "name" => "attachment_import: invalid name",
        "size_bytes" => "attachment_import: invalid size_bytes",
        "mime_type" => "attachment_import: invalid mime_type",
        "sha256" => "attachment_import: invalid sha256",
        "sequence" => "attachment_import: invalid sequence",
        "data" => "attachment_import: invalid data",
        _ => "attachment_import: invalid member",
    }
}
