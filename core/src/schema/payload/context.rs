//! Answers to `get_context_usage`, `mcp_status` and `mcp_set_servers`.

use crate::json::RawJson;
use crate::model::Usage;
use crate::schema::Fraction;
use crate::schema::declare::record;
use crate::schema::outbound::McpStatus;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::array;

/// Rows of the grid that shows how full the context is.
pub const GRID_ROWS: usize = 10;
/// Squares of each row.
pub const GRID_COLUMNS: usize = 10;

const FREE_SPACE: &str = "Free space";
const FREE_COLOR: &str = "promptBorder";

record! {
    /// What part of the context holds what.
    pub struct ContextCategory {
        /// Name for people.
        required name: Arc<str>,
        /// Its tokens.
        required tokens: u64,
        /// Name of the colour it is shown in.
        required color: Arc<str>,
        /// Whether it is loaded only when needed, and so not counted.
        optional is_deferred as "isDeferred": Option<bool>,
    }
}

impl ContextCategory {
    fn is_counted(&self) -> bool {
        self.is_deferred != Some(true)
    }
}

record! {
    /// One square of the grid.
    pub struct GridSquare {
        /// Colour of its category.
        required color: Arc<str>,
        /// Whether it stands for tokens in use.
        required is_filled as "isFilled": bool,
        /// Its category.
        required category_name as "categoryName": Arc<str>,
        /// Tokens of that category.
        required tokens: u64,
        /// Share of that category in the whole, in percent.
        required percentage: u64,
        /// How much of this square is in use.
        required square_fullness as "squareFullness": Fraction,
    }
}

record! {
    /// How full the context is. Totals, percentage and grid follow from the
    /// categories.
    pub sealed struct ContextUsagePayload {
        required categories: Vec<ContextCategory>,
        required total_tokens as "totalTokens": u64,
        required max_tokens as "maxTokens": u64,
        required raw_max_tokens as "rawMaxTokens": u64,
        required percentage: u64,
        required grid_rows as "gridRows": [[GridSquare; GRID_COLUMNS]; GRID_ROWS],
        required model: Arc<str>,
        required memory_files as "memoryFiles": Vec<RawJson>,
        required mcp_tools as "mcpTools": Vec<McpToolUsage>,
        required agents: Vec<RawJson>,
        required is_auto_compact_enabled as "isAutoCompactEnabled": bool,
        nullable api_usage as "apiUsage": Option<Usage>,
    }
}

impl ContextUsagePayload {
    /// The usage of a context of `max_tokens`, filled by `categories` in their
    /// order; what is left over is added as free space.
    #[must_use]
    pub fn new(
        model: Arc<str>,
        max_tokens: u64,
        mut categories: Vec<ContextCategory>,
        is_auto_compact_enabled: bool,
        api_usage: Option<Usage>,
    ) -> Self {
        let total_tokens = categories
            .iter()
            .filter(|category| category.is_counted())
            .fold(0_u64, |sum, category| sum.saturating_add(category.tokens));
        categories.push(ContextCategory {
            name: FREE_SPACE.into(),
            tokens: max_tokens.saturating_sub(total_tokens),
            color: FREE_COLOR.into(),
            is_deferred: None,
        });
        Self {
            grid_rows: grid(&categories, total_tokens, max_tokens),
            categories,
            total_tokens,
            max_tokens,
            raw_max_tokens: max_tokens,
            percentage: percent(total_tokens, max_tokens),
            model,
            memory_files: Vec::new(),
            mcp_tools: Vec::new(),
            agents: Vec::new(),
            is_auto_compact_enabled,
            api_usage,
        }
    }

    /// The same, with these tools of MCP servers.
    #[must_use]
    pub fn with_mcp_tools(mut self, tools: Vec<McpToolUsage>) -> Self {
        self.mcp_tools = tools;
        self
    }
}

/// `part` of `whole` in percent, rounded to the nearest; zero of nothing.
fn percent(part: u64, whole: u64) -> u64 {
    if whole == 0 {
        return 0;
    }
    let (part, whole) = (u128::from(part), u128::from(whole));
    u64::try_from((part * 100 + whole / 2) / whole).unwrap_or(u64::MAX)
}

/// Every square belongs to the category that holds its first token.
fn grid(
    categories: &[ContextCategory],
    total_tokens: u64,
    max_tokens: u64,
) -> [[GridSquare; GRID_COLUMNS]; GRID_ROWS] {
    let squares = (GRID_ROWS * GRID_COLUMNS) as u128;
    let border = |square: usize| {
        let tokens = u128::from(max_tokens) * square as u128 / squares;
        u64::try_from(tokens).unwrap_or(u64::MAX)
    };
    array::from_fn(|row| {
        array::from_fn(|column| {
            let square = row * GRID_COLUMNS + column;
            let (first, end) = (border(square), border(square + 1));
            let used = total_tokens.min(end).saturating_sub(first);
            let category = holder(categories, first);
            let tokens = category.map_or(0, |category| category.tokens);
            GridSquare {
                color: category.map_or_else(|| FREE_COLOR.into(), |c| c.color.clone()),
                is_filled: used > 0,
                category_name: category.map_or_else(|| FREE_SPACE.into(), |c| c.name.clone()),
                tokens,
                percentage: percent(tokens, max_tokens),
                square_fullness: Fraction::of(used, end.saturating_sub(first)),
            }
        })
    })
}

/// The category that holds token number `token`, counted from 0.
fn holder(categories: &[ContextCategory], token: u64) -> Option<&ContextCategory> {
    let mut end = 0_u64;
    categories
        .iter()
        .filter(|c| c.is_counted())
        .find(|category| {
            end = end.saturating_add(category.tokens);
            end > token
        })
}

record! {
    /// How an MCP server stands.
    pub struct McpServerStatus {
        /// Its name.
        required name: Arc<str>,
        /// How it stands.
        required status: McpStatus,
        /// What went wrong.
        optional error: Option<String>,
    }
}

record! {
    /// How the MCP servers stand.
    pub struct McpStatusPayload {
        /// The servers, in configured order.
        required servers as "mcpServers": Vec<McpServerStatus>,
    }
}

record! {
    /// What became of a new set of MCP servers.
    pub struct McpServersPayload {
        /// Names of those that are new, in the order of the request.
        required added: Vec<Arc<str>>,
        /// Names of those that are gone, in configured order.
        required removed: Vec<Arc<str>>,
        /// Why the others cannot be used, by name.
        required errors: BTreeMap<Arc<str>, String>,
    }
}

record! {
    /// A tool of an MCP server, in `mcpTools`.
    pub struct McpToolUsage {
        /// What the model calls it by.
        required name: Arc<str>,
        /// Its server.
        required server_name as "serverName": Arc<str>,
        /// Tokens of its declaration.
        required tokens: u64,
    }
}
