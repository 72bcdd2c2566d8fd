//! What a session with attachments takes (WIRE-023).

use crate::schema::declare::{record, words};
use crate::schema::outbound::import::AttachmentKind;

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
        required sources: [AttachmentSource; 2],
        /// What they may be.
        required media_types: [MediaType; 3],
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
        required mime_type: &'static str,
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

impl AttachmentLimits {
    /// The ceilings of protocol version 1.
    pub const V1: Self = Self {
        max_attachments_per_message: 8,
        max_concurrent_uploads: 8,
        max_uploads_per_session: 100_000,
        max_item_bytes: 20 * MIB,
        max_aggregate_bytes: 40 * MIB,
        max_storage_bytes: 512 * MIB,
        max_model_request_media_bytes: 40 * MIB,
        max_chunk_decoded_bytes: 262_144,
        max_chunk_encoded_bytes: 349_528,
        max_display_name_bytes: 255,
        max_mime_type_bytes: 64,
        max_image_dimension: 8192,
        max_image_pixels: 20_000_000,
        max_pdf_pages: 100,
        upload_timeout_ms: 120_000,
    };
}

impl ProviderLimits {
    /// The ceilings of protocol version 1.
    pub const V1: Self = Self {
        max_request_items: 100,
        max_encoded_media_bytes: 55_927_120,
        max_request_bytes: 64 * MIB,
        max_ndjson_record_bytes: 8 * MIB,
    };
}

const MIB: u64 = 1024 * 1024;

impl InputCapabilities {
    /// The native attachment profile, protocol version 1.
    pub const V1: Self = Self {
        attachments: AttachmentCapabilities {
            sources: [
                AttachmentSource {
                    source: SourceName::FilePath,
                    scope: SourceScope::InitialCli,
                },
                AttachmentSource {
                    source: SourceName::StreamJsonV1,
                    scope: SourceScope::PerTurn,
                },
            ],
            media_types: [
                MediaType::image("image/png"),
                MediaType::image("image/jpeg"),
                MediaType::PDF,
            ],
            limits: AttachmentLimits::V1,
            provider_limits: ProviderLimits::V1,
        },
    };
}

impl MediaType {
    const PDF: Self = Self {
        kind: AttachmentKind::Document,
        mime_type: "application/pdf",
        max_bytes: AttachmentLimits::V1.max_item_bytes,
        max_dimension: None,
        max_pixels: None,
        max_pages: Some(AttachmentLimits::V1.max_pdf_pages),
        transform_policy: TransformPolicy::Validate,
    };

    const fn image(mime_type: &'static str) -> Self {
        Self {
            kind: AttachmentKind::Image,
            mime_type,
            max_bytes: AttachmentLimits::V1.max_item_bytes,
            max_dimension: Some(AttachmentLimits::V1.max_image_dimension),
            max_pixels: Some(AttachmentLimits::V1.max_image_pixels),
            max_pages: None,
            transform_policy: TransformPolicy::Reencode,
        }
    }
}
