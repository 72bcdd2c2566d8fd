//! The tools of a server, page by page (RT-MCPS-013).

use super::McpSettings;
use crate::json::{Object, RawJson, Value};
use crate::structured::OutputSchema;
use crate::text::cut;
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A tool as its server declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpTool {
    /// Its name at the server.
    pub name: Arc<str>,
    /// What it does, for the model.
    pub description: Arc<str>,
    /// JSON Schema of its input, an object schema.
    pub input_schema: RawJson,
    /// What the structured content of its results has to fit (RT-MCPS-015).
    pub output_schema: Option<OutputSchema>,
    /// Whether the server says that it changes nothing. That permits nothing
    /// (RT-MCPS-010); calls of it may run side by side.
    pub reads_only: bool,
}

/// A list of tools that is being fetched.
#[derive(Debug, Default)]
pub(super) struct Listing {
    tools: Vec<McpTool>,
    names: BTreeSet<Arc<str>>,
    cursors: BTreeSet<String>,
    bytes: usize,
    /// Tools that were left out, and why the first of them was.
    left_out: Option<(usize, String)>,
}

impl Listing {
    /// Takes a page. Gives the cursor of the next one, if there is one.
    ///
    /// # Errors
    ///
    /// Why the list cannot be had.
    pub(super) fn page(
        &mut self,
        result: Object<'_>,
        settings: &McpSettings,
    ) -> Result<Option<String>, String> {
        let limits = &settings.limits;
        self.bytes = self.bytes.saturating_add(result.value().raw().len());
        if self.bytes > limits.mcp_list_bytes {
            let most = limits.mcp_list_bytes;
            return Err(format!("its list of tools is over {most} bytes"));
        }
        let tools = result.get("tools").and_then(Value::as_array);
        let tools = tools.ok_or("its list of tools is no list")?;
        for tool in tools {
            match read(tool, settings) {
                Ok(tool) if self.names.insert(Arc::clone(&tool.name)) => self.tools.push(tool),
                Ok(tool) => self.leave_out(format!("{:?} is listed twice", tool.name)),
                Err(fault) => self.leave_out(fault),
            }
            if self.tools.len() > limits.mcp_tools {
                return Err(format!("it has more than {} tools", limits.mcp_tools));
            }
        }
        let cursor = match result.get("nextCursor") {
            None => return Ok(None),
            Some(cursor) if cursor.is_null() => return Ok(None),
            Some(cursor) => cursor.as_str().and_then(|cursor| cursor.decode().ok()),
        };
        let cursor = cursor.ok_or("the cursor of its list of tools is no text")?;
        if cursor.len() > limits.mcp_cursor_bytes {
            return Err(format!(
                "the cursor of its list of tools is over {} bytes",
                limits.mcp_cursor_bytes
            ));
        }
        if !self.cursors.insert(cursor.to_string()) {
            return Err("its list of tools never ends: a cursor came twice".to_string());
        }
        if self.cursors.len() >= limits.mcp_pages {
            return Err(format!(
                "its list of tools has more than {} pages",
                limits.mcp_pages
            ));
        }
        Ok(Some(cursor.into_owned()))
    }

    fn leave_out(&mut self, fault: String) {
        let (count, _) = self.left_out.get_or_insert((0, fault));
        *count = count.saturating_add(1);
    }

    /// The whole list, and what is told of the tools that were left out.
    pub(super) fn finish(self) -> (Arc<[McpTool]>, Option<String>) {
        let told = self.left_out.map(|(count, fault)| match count {
            1 => format!("a tool was left out: {fault}"),
            _ => format!("{count} tools were left out; the first: {fault}"),
        });
        (self.tools.into(), told)
    }
}

fn read(tool: Value<'_>, settings: &McpSettings) -> Result<McpTool, String> {
    let limits = &settings.limits;
    let tool = tool.as_object().ok_or("one is no object")?;
    let name = string(tool, "name").filter(|name| !name.is_empty());
    let name = name.ok_or("one has no name")?;
    if name.len() > limits.mcp_tool_name_bytes {
        return Err(format!(
            "the name of one is over {} bytes",
            limits.mcp_tool_name_bytes
        ));
    }
    let schema = tool.get("inputSchema");
    let schema = schema.ok_or_else(|| format!("{name:?} has no input schema"))?;
    let parse = |schema: Value<'_>, which: &str| {
        OutputSchema::parse(schema.raw().as_bytes(), limits)
            .map_err(|fault| format!("the {which} schema of {name:?}: {fault}"))
    };
    let schema = parse(schema, "input")?;
    let output_schema = tool.get("outputSchema");
    let output_schema = output_schema.map(|schema| parse(schema, "output"));
    let description = string(tool, "description").unwrap_or_default();
    let description = settings.guard.redact(&description);
    let annotations = tool.get("annotations").and_then(Value::as_object);
    let reads_only = annotations
        .and_then(|annotations| annotations.get("readOnlyHint"))
        .and_then(Value::as_bool);
    Ok(McpTool {
        description: cut(&description, limits.mcp_description_chars).into(),
        // With `type` even where the schema leaves that open, as providers ask.
        input_schema: schema.tool().input_schema,
        output_schema: output_schema.transpose()?,
        reads_only: reads_only == Some(true),
        name: name.into(),
    })
}

fn string<'a>(object: Object<'a>, name: &str) -> Option<Cow<'a, str>> {
    object.get(name)?.as_str()?.decode().ok()
}
