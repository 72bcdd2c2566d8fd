//! What a session with attachments takes (WIRE-023).

use crate::limits::{Limits, UploadLimits};
use crate::schema::declare::{record, words};
use crate::schema::outbound::import::AttachmentKind;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

record! {
    /// What may be attached to a prompt. Its absence means text only (DEC-23).
    pub struct InputCapabilities {
        /// The attachment profile.
        required attachments: AttachmentCapabilities,
    }
}

record! {
    /// The attachment profile.
    pub struct AttachmentCapabilities {
        "protocol_version" = 1,
        /// Where attachments come from.
        required sources: Vec<AttachmentSource>,
        /// What they may be.
        required media_types: Vec<MediaType>,
        /// Ceilings of the session.
        required limits: AttachmentLimits,
        /// Ceilings of one model request.
        required provider_limits: ProviderLimits,
    }
}

words! {
    /// A road for attachments.
    pub enum SourceName {
        /// A file named on the command line.
        FilePath = "file_path",
        /// Import records.
        StreamJsonV1 = "stream_json_v1",
    }
}

words! {
    /// When a road is open.
    pub enum SourceScope {
        /// For the prompt of the command line.
        InitialCli = "initial_cli",
        /// For every turn.
        PerTurn = "per_turn",
    }
}

record! {
    /// A road for attachments, and when it is open.
    pub struct AttachmentSource {
        /// The road.
        required source: SourceName,
        /// When it is open.
        required scope: SourceScope,
    }
}

words! {
    /// What happens to the bytes on their way into the store.
    pub enum TransformPolicy {
        /// Pictures: decoded and encoded anew.
        Reencode = "decode_reencode_strip_metadata_reject_oversize_no_resize",
        /// Documents: checked and kept.
        Validate = "validate_structure_no_execute_no_ocr_no_conversion",
    }
}

record! {
    /// A kind of media that is taken.
    pub struct MediaType {
        /// What it is.
        required kind: AttachmentKind,
        /// Its format.
        required mime_type: Cow<'static, str>,
        /// Largest file, in bytes.
        required max_bytes: u64,
        /// Largest width and height of a picture, in pixels.
        optional max_dimension: Option<u64>,
        /// Most pixels of a picture.
        optional max_pixels: Option<u64>,
        /// Most pages of a document.
        optional max_pages: Option<u64>,
        /// What happens to the bytes.
        required transform_policy: TransformPolicy,
    }
}

record! {
    /// Ceilings of a session.
    pub struct AttachmentLimits {
        /// Attachments of one prompt.
        required max_attachments_per_message: u64,
        /// Uploads at one time.
        required max_concurrent_uploads: u64,
        /// Uploads and manifests of one session, each.
        required max_uploads_per_session: u64,
        /// One attachment, in bytes.
        required max_item_bytes: u64,
        /// All attachments of one prompt, in bytes.
        required max_aggregate_bytes: u64,
        /// The session's store, in bytes.
        required max_storage_bytes: u64,
        /// Media of one model request, in bytes.
        required max_model_request_media_bytes: u64,
        /// One chunk, in bytes.
        required max_chunk_decoded_bytes: u64,
        /// One chunk in base64, in characters.
        required max_chunk_encoded_bytes: u64,
        /// A display name, in bytes.
        required max_display_name_bytes: u64,
        /// A media type, in bytes.
        required max_mime_type_bytes: u64,
        /// Width and height of a picture, in pixels.
        required max_image_dimension: u64,
        /// A picture, in pixels.
        required max_image_pixels: u64,
        /// A document, in pages.
        required max_pdf_pages: u64,
        /// From begin to commit, in milliseconds.
        required upload_timeout_ms: u64,
    }
}

record! {
    /// Ceilings of one model request.
    pub struct ProviderLimits {
        /// Attachments.
        required max_request_items: u64,
        /// Media in base64, in bytes.
        required max_encoded_media_bytes: u64,
        /// The whole request, in bytes.
        required max_request_bytes: u64,
        /// One import record, in bytes.
        required max_ndjson_record_bytes: u64,
    }
}

impl InputCapabilities {
    /// The native attachment profile, protocol version 1, under these ceilings.
    #[must_use]
    pub fn native(limits: &Limits) -> Self {
        let upload = &limits.upload;
        Self {
            attachments: AttachmentCapabilities {
                sources: vec![
                    AttachmentSource {
                        source: SourceName::FilePath,
                        scope: SourceScope::InitialCli,
                    },
                    AttachmentSource {
                        source: SourceName::StreamJsonV1,
                        scope: SourceScope::PerTurn,
                    },
                ],
                media_types: vec![
                    MediaType::image("image/png", upload),
                    MediaType::image("image/jpeg", upload),
                    MediaType::pdf(upload),
                ],
                limits: AttachmentLimits::of(upload),
                provider_limits: ProviderLimits {
                    max_request_items: count(upload.request_items),
                    max_encoded_media_bytes: upload.encoded_media_bytes,
                    max_request_bytes: upload.request_bytes,
                    max_ndjson_record_bytes: count(limits.import_record_bytes),
                },
            },
        }
    }
}

impl AttachmentLimits {
    fn of(upload: &UploadLimits) -> Self {
        Self {
            max_attachments_per_message: count(upload.per_message),
            max_concurrent_uploads: count(upload.concurrent),
            max_uploads_per_session: count(upload.per_session),
            max_item_bytes: upload.item_bytes,
            max_aggregate_bytes: upload.aggregate_bytes,
            max_storage_bytes: upload.storage_bytes,
            max_model_request_media_bytes: upload.model_request_bytes,
            max_chunk_decoded_bytes: count(upload.chunk_bytes),
            max_chunk_encoded_bytes: count(upload.chunk_chars),
            max_display_name_bytes: count(upload.name_bytes),
            max_mime_type_bytes: count(upload.mime_bytes),
            max_image_dimension: upload.image_side.into(),
            max_image_pixels: upload.image_pixels,
            max_pdf_pages: upload.pdf_pages.into(),
            upload_timeout_ms: u64::try_from(upload.timeout.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

impl MediaType {
    const fn image(mime_type: &'static str, upload: &UploadLimits) -> Self {
        Self {
            kind: AttachmentKind::Image,
            mime_type: Cow::Borrowed(mime_type),
            max_bytes: upload.item_bytes,
            max_dimension: Some(upload.image_side as u64),
            max_pixels: Some(upload.image_pixels),
            max_pages: None,
            transform_policy: TransformPolicy::Reencode,
        }
    }

    const fn pdf(upload: &UploadLimits) -> Self {
        Self {
            kind: AttachmentKind::Document,
            mime_type: Cow::Borrowed("application/pdf"),
            max_bytes: upload.item_bytes,
            max_dimension: None,
            max_pixels: None,
            max_pages: Some(upload.pdf_pages as u64),
            transform_policy: TransformPolicy::Validate,
        }
    }
}

fn count(limit: usize) -> u64 {
    u64::try_from(limit).unwrap_or(u64::MAX)
}
