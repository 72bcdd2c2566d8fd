use crate::world::World;
use std::time::{Duration, SystemTime};

fn at() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_782_000_000)
}

#[test]
fn the_time_is_told_in_utc_or_in_the_zone_asked_for() {
    let mut world = World::new();
    world.config.clock = at;
    let utc = "2026-06-21T00:00:00+00:00, Sunday (UTC)";
    assert_eq!(world.ok("CurrentTime", "{}"), utc);
    assert_eq!(world.ok("CurrentTime", r#"{"timezone":"UTC"}"#), utc);
    assert_eq!(
        world.ok("CurrentTime", r#"{"timezone":"America/New_York"}"#),
        "2026-06-20T20:00:00-04:00, Saturday (America/New_York)"
    );
}

#[test]
fn an_unknown_zone_is_named() {
    let world = World::new();
    for zone in [
        "Europe/Atlantis",
        "",
        "../../etc/passwd",
        "/etc/localtime",
        "+01:00",
    ] {
        let input = format!("{{\"timezone\":\"{zone}\"}}");
        let expected = format!("Unknown time zone `{zone}` in `timezone`");
        world.refused("CurrentTime", &input, &expected);
    }
}

#[test]
fn a_clock_beyond_the_calendar_is_an_error() {
    fn far() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 60)
    }
    let mut world = World::new();
    world.config.clock = far;
    world.refused("CurrentTime", "{}", "clock");
}
