//! Credential literals that must never leave the process.
