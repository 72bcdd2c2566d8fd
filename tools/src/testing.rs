//! What unit tests of several modules need.

use crate::cancel::CancelToken;
use crate::checkpoint::Checkpoints;
use crate::network::Network;
use crate::seen::Seen;
use crate::toolbox::{Call, ToolboxConfig};
use agentx_core::checkpoint::Bookkeeping;
use agentx_core::json::RawJson;
use agentx_core::tool::{Access, ToolCall, ToolRequest};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A request of a session that works in one folder.
pub(crate) fn request(directory: &Path, access: Access) -> ToolRequest {
    ToolRequest {
        call: ToolCall {
            id: "toolu_1".into(),
            name: "Read".into(),
            input: RawJson::empty_object(),
        },
        access,
        directories: vec![directory.to_str().unwrap().to_owned()].into(),
        environment: Arc::default(),
        bookkeeping: Bookkeeping::default(),
    }
}

/// A call in a folder, and what cancels it.
pub(crate) struct Owned {
    request: ToolRequest,
    config: ToolboxConfig,
    network: Network,
    checkpoints: Checkpoints,
    seen: Seen,
    pub(crate) cancel: CancelToken,
}

impl Owned {
    pub(crate) fn new(directory: &Path) -> Self {
        let config = ToolboxConfig::new("/nonexistent/home", BTreeMap::new());
        Self {
            request: request(directory, Access::Granted),
            checkpoints: Checkpoints::new(directory, &config.limits.checkpoints),
            network: Network::default(),
            seen: Seen::default(),
            config,
            cancel: CancelToken::new(),
        }
    }

    pub(crate) const fn call(&self) -> Call<'_> {
        Call {
            task: None,
            request: &self.request,
            config: &self.config,
            network: &self.network,
            cancel: &self.cancel,
            checkpoints: &self.checkpoints,
            seen: &self.seen,
        }
    }
}
