//! Permission vocabulary and the host's answer to a permission question.

mod answer;
#[cfg(test)]
mod tests;
mod update;

pub use answer::{Allow, AnswerFault, Classification, Deny, PermissionAnswer};
pub use update::{
    Behavior, Destination, DirectoriesAction, DirectoriesUpdate, ModeUpdate, PermissionMode,
    PermissionRule, PermissionUpdate, RulesAction, RulesUpdate, UnknownMode,
};
