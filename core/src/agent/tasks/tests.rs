use super::*;

const EVERY: Duration = Duration::from_secs(5);

fn at(seconds: u64) -> Instant {
    Instant::ZERO.after(Duration::from_secs(seconds))
}

fn task(n: u64) -> Task {
    Task {
        id: format!("task_{n}").into(),
        call: format!("toolu_{n}").into(),
        tool: "Bash".into(),
        description: "build".into(),
    }
}

fn running(n: u64) -> Tasks {
    let mut tasks = Tasks::default();
    tasks.insert(EffectId(n), task(n), 3);
    let begun = tasks.began(EffectId(n), "/tmp/f".into(), Beat::new(at(0), EVERY));
    assert_eq!(begun, Ok((task(n), 3)));
    tasks
}

// covers: WIRE-004
#[test]
fn a_task_begins_once_and_ends_once() {
    let mut tasks = running(1);
    let again = tasks.began(EffectId(1), "/tmp/g".into(), Beat::new(at(1), EVERY));
    assert_eq!(again, Err(Misuse::WrongState));
    let nobody = tasks.began(EffectId(2), "/tmp/g".into(), Beat::new(at(1), EVERY));
    assert_eq!(nobody, Err(Misuse::WrongState));
    let over = tasks.end(EffectId(1), End::Done(ToolOutcome::text("ok")), at(7));
    let Some(Told::Over(over)) = over else {
        panic!("{over:?}")
    };
    assert_eq!(
        (over.status(), over.ran, &*over.output_file),
        (TaskStatus::Completed, Duration::from_secs(7), "/tmp/f")
    );
    assert_eq!(tasks.end(EffectId(1), End::Stopped, at(8)), None);
    assert_eq!((tasks.running(), tasks.untold()), (0, 1));
    assert_eq!(tasks.take_untold(), [Arc::from("task_1")]);
    assert_eq!(tasks.untold(), 0);
}

// covers: WIRE-004
#[test]
fn what_never_began_is_the_result_of_its_call() {
    let mut tasks = Tasks::default();
    tasks.insert(EffectId(1), task(1), 3);
    assert_eq!(tasks.find("task_1"), None, "it does not run yet");
    let outcome = ToolOutcome::error("no");
    let told = tasks.end(EffectId(1), End::Done(outcome.clone()), at(1));
    assert_eq!(told, Some(Told::Refused { place: 3, outcome }));
    tasks.insert(EffectId(2), task(2), 0);
    assert_eq!(tasks.end(EffectId(2), End::Stopped, at(1)), None);
    assert_eq!((tasks.untold(), tasks.next()), (0, None));
}

#[test]
fn a_beat_keeps_even_steps_and_leaves_out_those_it_missed() {
    let mut beat = Beat::new(at(2), EVERY);
    assert_eq!(beat.due(at(6), EVERY), None);
    assert_eq!(beat.due(at(7), EVERY), Some(Duration::from_secs(5)));
    assert_eq!(beat.due(at(7), EVERY), None, "told once");
    assert_eq!(beat.next(), at(12));
    assert_eq!(beat.due(at(33), EVERY), Some(Duration::from_secs(31)));
    assert_eq!(beat.next(), at(37));
}

#[test]
fn the_soonest_task_sets_the_time() {
    let mut tasks = running(1);
    tasks.insert(EffectId(4), task(4), 0);
    assert_eq!(tasks.next(), Some(at(5)));
    let begun = tasks.began(EffectId(4), "".into(), Beat::new(at(1), EVERY));
    assert!(begun.is_ok());
    assert_eq!(tasks.due(at(5), EVERY), [(task(1), EVERY)]);
    assert_eq!(tasks.next(), Some(at(6)));
    assert_eq!(tasks.find("task_4"), Some(EffectId(4)));
    assert_eq!(tasks.ids(), [EffectId(1), EffectId(4)]);
}

#[test]
fn texts_are_cut_where_they_are_told() {
    assert_eq!(line("a\nb", 9), "a\\nb");
    assert_eq!(line("äöü", 2), "äö…");
    assert_eq!(tail("äöü", 3), "äöü");
    assert_eq!(tail("äöü", 1), "[… 2 characters cut]\nü");
    let parts = ["a\n", "b", "c"].map(|text| ToolContent::Text(text.into()));
    assert_eq!(joined(&parts), "a\nb\nc");
    assert_eq!(joined(&[]), "");
}
