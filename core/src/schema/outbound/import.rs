//! Answers to attachment imports (WIRE-019). These records carry no ids of their own.

use crate::schema::declare::{record, words};
use alloc::string::String;
use alloc::sync::Arc;

record! {
    /// A committed attachment, complete and bounded (WIRE-017, WIRE-022).
    pub struct AttachmentManifest {
        "type" = "attachment_ref",
        /// Id of the attachment.
        required attachment_id: Arc<str>,
        /// What it is.
        required kind: AttachmentKind,
        /// Display name.
        required name: String,
        /// What is stored.
        required mime_type: String,
        /// Stored size, in bytes.
        required size_bytes: u64,
        /// Digest of the stored bytes.
        required sha256: String,
        /// Name in the store.
        required storage_id: String,
    }
}

words! {
    /// What an attachment is.
    pub enum AttachmentKind {
        /// A picture.
        Image = "image",
        /// A document.
        Document = "document",
    }
}

words! {
    /// What became of an upload.
    pub enum UploadStatus {
        /// It began.
        Accepted = "accepted",
        /// It is stored.
        Committed = "committed",
        /// It was given up.
        Aborted = "aborted",
        /// It took too long.
        Expired = "expired",
        /// It failed.
        Failed = "failed",
    }
}

words! {
    /// Why an accepted upload did not end in a commit (DEC-09).
    pub enum UploadReason {
        /// A piece is no canonical base64.
        InvalidBase64 = "invalid_base64",
        /// A piece is empty or too large.
        ChunkTooLarge = "chunk_too_large",
        /// A piece is not the next one.
        InvalidSequence = "invalid_sequence",
        /// The size is not the announced one.
        SizeMismatch = "size_mismatch",
        /// The digest is not the announced one.
        DigestMismatch = "digest_mismatch",
        /// This kind of media is not taken.
        UnsupportedMedia = "unsupported_media",
        /// The bytes are not what they claim.
        MimeMismatch = "mime_mismatch",
        /// The bytes are broken.
        MalformedMedia = "malformed_media",
        /// A ceiling is reached.
        ResourceLimit = "resource_limit",
        /// The attachment id is taken.
        Duplicate = "duplicate",
        /// The store failed.
        StorageFailure = "storage_failure",
        /// The host gave up.
        CallerAbort = "caller_abort",
        /// The input ended.
        Eof = "eof",
        /// The session was cancelled.
        Cancelled = "cancelled",
        /// The input was malformed.
        ProcessFailure = "process_failure",
        /// It took too long.
        Timeout = "timeout",
    }
}

impl UploadReason {
    /// The status that goes with the reason (DEC-09).
    #[must_use]
    pub const fn status(self) -> UploadStatus {
        match self {
            Self::CallerAbort | Self::Eof | Self::Cancelled | Self::ProcessFailure => {
                UploadStatus::Aborted
            }
            Self::Timeout => UploadStatus::Expired,
            Self::InvalidBase64
            | Self::ChunkTooLarge
            | Self::InvalidSequence
            | Self::SizeMismatch
            | Self::DigestMismatch
            | Self::UnsupportedMedia
            | Self::MimeMismatch
            | Self::MalformedMedia
            | Self::ResourceLimit
            | Self::Duplicate
            | Self::StorageFailure => UploadStatus::Failed,
        }
    }
}

/// The ids that tie a result to its upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadIds {
    /// The upload.
    pub upload_id: Arc<str>,
    /// The attachment it makes.
    pub attachment_id: Arc<str>,
    /// The prompt that will use it.
    pub prompt_uuid: Arc<str>,
}

record! {
    /// What became of an accepted upload. A committed one has an attachment, a
    /// failed one a reason, and only an accepted one is not terminal.
    pub checked struct AttachmentImportResult {
        "type" = "attachment_import_result",
        "version" = 1,
        required upload_id: Arc<str>,
        required attachment_id: Arc<str>,
        required status: UploadStatus,
        required terminal: bool,
        required prompt_uuid: Arc<str>,
        optional attachment: Option<AttachmentManifest>,
        optional reason: Option<UploadReason>,
    }
}

impl AttachmentImportResult {
    fn is_sound(&self) -> bool {
        let (accepted, committed) = match self.status {
            UploadStatus::Accepted => (true, false),
            UploadStatus::Committed => (false, true),
            UploadStatus::Aborted | UploadStatus::Expired | UploadStatus::Failed => (false, false),
        };
        self.terminal != accepted
            && self.attachment.is_some() == committed
            && self.reason.is_some() != (accepted || committed)
    }

    /// The upload began.
    #[must_use]
    pub fn accepted(ids: UploadIds) -> Self {
        Self::with(ids, UploadStatus::Accepted, None, None)
    }

    /// The attachment is stored.
    #[must_use]
    pub fn committed(ids: UploadIds, attachment: AttachmentManifest) -> Self {
        Self::with(ids, UploadStatus::Committed, Some(attachment), None)
    }

    /// The upload ended without a commit.
    #[must_use]
    pub fn ended(ids: UploadIds, reason: UploadReason) -> Self {
        Self::with(ids, reason.status(), None, Some(reason))
    }

    fn with(
        ids: UploadIds,
        status: UploadStatus,
        attachment: Option<AttachmentManifest>,
        reason: Option<UploadReason>,
    ) -> Self {
        Self {
            upload_id: ids.upload_id,
            attachment_id: ids.attachment_id,
            status,
            terminal: status != UploadStatus::Accepted,
            prompt_uuid: ids.prompt_uuid,
            attachment,
            reason,
        }
    }
}

words! {
    /// Why an operation joins no accepted upload (DEC-09).
    pub enum RejectReason {
        /// No such upload.
        UnknownUpload = "unknown_upload",
        /// It has ended.
        UploadAlreadyTerminal = "upload_already_terminal",
        /// The upload id is taken.
        DuplicateUpload = "duplicate_upload",
        /// The prompt was submitted already.
        PromptAlreadyAccepted = "prompt_already_accepted",
        /// This session takes no attachments (DEC-23).
        AttachmentsUnavailable = "attachments_unavailable",
    }
}

record! {
    /// An operation that joins no accepted upload.
    pub struct AttachmentImportRejected {
        "type" = "attachment_import_rejected",
        "version" = 1,
        /// The upload it named.
        required upload_id: Arc<str>,
        "status" = "rejected",
        "terminal" = false,
        /// Why.
        required reason: RejectReason,
    }
}
