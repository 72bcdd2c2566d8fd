//! `CurrentTime`.

use crate::input::TimeInput;
use crate::stop::Stop;
use crate::text::shown;
use crate::toolbox::Call;
use agentx_core::guard::Guard;
use jiff::Timestamp;
use jiff::tz::TimeZone;

pub(crate) fn run(call: &Call<'_>) -> Result<String, Stop> {
    let input = TimeInput::parse(&call.request.call.input, call.guard())?;
    let zone = match input.timezone.as_deref() {
        None | Some("UTC") => TimeZone::UTC,
        Some(name) => TimeZone::get(name).map_err(|_| unknown(name, call.guard()))?,
    };
    let now = Timestamp::try_from((call.config.clock)())
        .map_err(|fault| Stop::io("The system's clock cannot be told", fault))?;
    let local = now.to_zoned_datetime(zone);
    let name = input.timezone.as_deref().unwrap_or("UTC");
    Ok(format!(
        "{} ({name})",
        local.strftime("%Y-%m-%dT%H:%M:%S%:z, %A")
    ))
}

fn unknown(name: &str, guard: &Guard) -> Stop {
    let name = shown(name, guard);
    let hint = if jiff::tz::db().is_definitively_empty() {
        "this system has no time zone database, so only `UTC` is known"
    } else {
        "use a name of the IANA time zone database, such as `Europe/Berlin`"
    };
    Stop::fault(format!("Unknown time zone `{name}` in `timezone`; {hint}."))
}
