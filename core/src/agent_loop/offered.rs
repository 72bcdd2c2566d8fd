//! The tools that a loop offers: its own, and those that come and go.

use super::AgentLoop;
use crate::tool::ToolSpec;
use alloc::sync::Arc;
use alloc::vec::Vec;

impl AgentLoop {
    /// The tools that are offered.
    #[must_use]
    pub const fn tools(&self) -> &Arc<[ToolSpec]> {
        &self.config.tools
    }

    /// Offers these tools beside its own from now on, in the place of those that
    /// were offered this way before. One with the name of an own tool is not
    /// offered (RT-TOOL-016).
    pub fn offer_remote(&mut self, remote: Vec<ToolSpec>) {
        let own = self.config.tools.iter();
        let own = own.filter(|tool| !self.remote.contains(&tool.name));
        let mut tools: Vec<ToolSpec> = own.cloned().collect();
        self.remote.clear();
        for tool in remote {
            if !tools.iter().any(|known| known.name == tool.name) {
                self.remote.insert(Arc::clone(&tool.name));
                tools.push(tool);
            }
        }
        self.config.tools = tools.into();
    }

    /// The tool of this name, if it is offered.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&ToolSpec> {
        self.config.tools.iter().find(|tool| &*tool.name == name)
    }
}
