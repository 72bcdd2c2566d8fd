//! A run as the command line, the environment and the home folder ask for it.

use crate::compose::Parts;
use crate::home::{self, Home};
use crate::hosted::Hosted;
use crate::interactive::{self, Facts};
use crate::options::{
    self, Debugging, Driver, Options, OutputFormat, Plan, SettingSource, Source, Terminals,
};
use crate::persistence::Persistence;
use crate::prompt;
use crate::refusal::Refusal;
use crate::settings::{self, Places, Ruled, Standing, Store};
use crate::structured;
use agentx_core::agent::{AgentSession, Profile};
use agentx_core::guard::Guard;
use agentx_core::schema::permission::PermissionMode;
use agentx_providers::registry::{Entry, Registry};
use agentx_pump::signals;
use agentx_pump::world::{Stdio, World};
use agentx_tools::ToolboxConfig;
use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

/// Runs a session; gives the exit status.
///
/// # Errors
///
/// Whatever keeps the run from beginning; nothing is on stdout then.
pub(crate) fn run(options: Options) -> Result<u8, Refusal> {
    start(&options.debugging())?;
    check_profile(&options)?;
    let plan = options.plan(Terminals {
        stdin: io::stdin().is_terminal(),
        stdout: io::stdout().is_terminal(),
    })?;
    let path = home_path()?;
    let home = Home::open(&path)?;
    let (bytes, facts) = home.registry()?;
    let registry = Registry::parse(&bytes, &facts)?;
    let entry = registry.select(plan.provider.as_deref())?;
    let script = entry.script_file();
    let interactive = matches!(plan.source, Source::Interactive { .. });
    let cwd = working_directory(plan.cwd.as_deref())?;
    let mut standing = standing(&home, &cwd, &registry, &plan)?;
    let output_schema = plan.json_schema.as_ref();
    let output_schema = output_schema.map(|flag| structured::read(flag, &keys(&registry)?));
    let output_schema = output_schema.transpose()?;
    let hosted = Hosted::read(&plan, entry, &keys(&registry)?, &cwd)?;
    let default_mode = standing.layers.default_mode().map(|mode| mode.value);
    // Before anything is said, and before the provider hears of it (WIRE-025).
    let persistence = Persistence::open(&plan.session, &path, &entry.binding(), &cwd)?;
    let parts = Parts {
        registry: &registry,
        entry,
        effort: hosted.effort,
        persistence,
        script: script.map(|name| home.script(name)).transpose()?,
        cwd,
        // The interface at a terminal is a host of our own kind.
        profile: if interactive {
            Profile::Standalone
        } else {
            hosted.profile
        },
        system: hosted.system,
        permission_mode: plan
            .permission_mode
            .or(default_mode)
            .unwrap_or(PermissionMode::Default),
        host_answers: hosted.asks && !matches!(plan.source, Source::OneShot { .. }),
        max_turns: plan.max_turns,
        max_budget: plan.max_budget,
        output_schema,
        replay_user_messages: plan.replay_user_messages,
        include_partial_messages: plan.include_partial_messages || interactive,
        tools: ToolboxConfig {
            commands: std::mem::take(&mut standing.commands),
            hooks: std::mem::take(&mut standing.hook_commands),
            ..ToolboxConfig::new(path, tool_environment())
        },
        standing,
    };
    let effort = parts.effort.as_deref().map(str::to_owned);
    let (session, world) = parts.compose()?;
    let stdio = match (plan.source, plan.output) {
        (Source::Interactive { argument }, _) => {
            let facts = Facts {
                effort,
                // What is stored for a folder counts where it is trusted.
                stores: world.persist.is_some() && plan.trust_workspace,
                ..told(&registry, entry)
            };
            return interactive::run(plan.driver, session, world, facts, argument);
        }
        (Source::OneShot { argument, stdin }, output) => {
            one_shot(prompt::gather(argument, stdin)?, output)
        }
        (Source::Records { argument }, _) => Stdio::Records {
            prompts: argument.into_iter().collect(),
            stdin: true,
        },
    };
    Ok(drive(plan.driver, session, world, stdio))
}

/// What an interactive session tells of the providers.
fn told(registry: &Registry, entry: &Entry) -> Facts {
    let catalog = registry.catalog().into_iter();
    Facts {
        provider: entry.id.to_string(),
        model: entry.model.to_string(),
        providers: catalog.map(|public| public.id.to_string()).collect(),
        colour: crate::wants_colour(),
        ..Facts::default()
    }
}

/// The keys that nothing may show.
fn keys(registry: &Registry) -> Result<Guard, Refusal> {
    Guard::new(registry.key_spellings()).map_err(Refusal::new)
}

/// What settings and the command line say about permissions and tools.
fn standing(home: &Home, cwd: &str, registry: &Registry, plan: &Plan) -> Result<Standing, Refusal> {
    let cwd = Path::new(cwd);
    let keys = keys(registry)?;
    let reference = plan.reference.as_ref();
    let places = Places {
        home,
        cwd,
        policy: Path::new(settings::POLICY),
        flag: plan.settings.as_ref(),
        trusted: plan.trust_workspace,
        sources: reference.map_or(&SettingSource::ALL, |asked| &asked.sources),
        hosted: reference.is_some(),
        keys: &keys,
    };
    let mut loaded = places.load()?;
    let commands = loaded.check()?;
    let (mut hooks, hook_commands) = loaded.hooks(&commands)?;
    let mut ruled = Ruled::default();
    if let Some(asked) = reference {
        hooks.records = asked.hook_events;
        ruled = loaded.add_rules(&asked.allow, &asked.deny)?;
    }
    let notes = loaded.notes.iter().map(|note| keys.redact(note));
    notes.for_each(crate::complain);
    let store = Store::new(home, cwd, keys.clone()).map_err(Refusal::new)?;
    Ok(Standing {
        layers: loaded.layers,
        directories: settings::directories(&plan.add_dirs)?,
        tools: plan.tools.clone(),
        withheld: ruled.withheld,
        rules: ruled.rules,
        commands,
        hooks,
        hook_commands,
        persist: Some(Box::new(move |updates| store.persist(updates))),
    })
}

/// What every session begins with: logs and signals.
pub(crate) fn start(asked: &Debugging) -> Result<(), Refusal> {
    let filter = env::var_os("AGENTX_LOG");
    let filter = filter.as_deref().map(OsStr::to_string_lossy);
    crate::logging::start(filter.as_deref(), asked)?;
    signals::install().map_err(|error| Refusal::new(format_args!("signals: {error}")))
}

/// Runs a session to its end.
pub(crate) fn drive(driver: Driver, session: AgentSession, world: World, stdio: Stdio) -> u8 {
    tracing::info!(
        session = session.session_id(),
        ?driver,
        ?stdio,
        "session starts"
    );
    let ended = match driver {
        Driver::Tokio => agentx_tokio::run(session, world, stdio),
        Driver::AsyncStd => agentx_async_std::run(session, world, stdio),
        Driver::Mio => agentx_mio::run(session, world, stdio),
    };
    let status = ended.unwrap_or_else(|error| {
        crate::complain(format_args!("error: the session cannot run: {error}"));
        crate::FAILED
    });
    tracing::info!(status, "session ended");
    status
}

/// Where the home folder of this process is.
pub(crate) fn home_path() -> Result<PathBuf, Refusal> {
    home::locate(env::var_os("AGENTX_HOME"), env::home_dir())
}

/// The environment that tool children start from. `HOME` is put in where there
/// is none; the toolbox does the same for `PATH`.
pub(crate) fn tool_environment() -> BTreeMap<OsString, OsString> {
    let mut environment: BTreeMap<_, _> = env::vars_os().collect();
    if let Some(home) = env::home_dir() {
        environment
            .entry("HOME".into())
            .or_insert_with(|| home.into());
    }
    environment
}

/// `AGENTX_PROFILE` chooses where the command line does not, and has to be a
/// profile then.
fn check_profile(options: &Options) -> Result<(), Refusal> {
    let Some(word) = env::var_os("AGENTX_PROFILE").filter(|_| !options.names_profile()) else {
        return Ok(());
    };
    match word.to_string_lossy().trim() {
        "" => Ok(()),
        word => match options::profile(word) {
            Ok(_) => Ok(()),
            Err(fault) => Err(Refusal::new(format_args!("AGENTX_PROFILE: {fault}"))),
        },
    }
}

/// The folder to work in, absolute and without links.
fn working_directory(told: Option<&Path>) -> Result<String, Refusal> {
    let found = match told {
        Some(path) => path
            .canonicalize()
            .map_err(|error| Refusal::new(format_args!("--cwd {}: {error}", path.display())))?,
        None => env::current_dir()
            .map_err(|error| Refusal::new(format_args!("the current folder: {error}")))?,
    };
    let shown = found.display();
    if !found.is_dir() {
        return Err(Refusal::new(format_args!("--cwd {shown}: not a folder")));
    }
    let text = found.to_str().ok_or_else(|| {
        Refusal::new(format_args!(
            "the working folder's path is no UTF-8: {shown}"
        ))
    })?;
    Ok(text.to_owned())
}

/// How one prompt is answered.
fn one_shot(prompt: String, output: OutputFormat) -> Stdio {
    let prompts = vec![prompt];
    match output {
        OutputFormat::Text => Stdio::Text {
            prompts,
            terminal: io::stdout().is_terminal(),
        },
        OutputFormat::Json => Stdio::Document { prompts },
        OutputFormat::StreamJson => Stdio::Records {
            prompts,
            stdin: false,
        },
    }
}
