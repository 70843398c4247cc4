use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::beat::Beating;
use super::queue::{Queue, Taken};
use super::rival::Rivals;
use super::*;

/// A directory of this test alone, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("warpwatt-fleet-{}-{number}", std::process::id());
        Scratch(std::env::temp_dir().join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn sheet(seal: &str) -> Sheet {
    let text = format!(
        r#"{{"format": 1, "version": "1", "title": "t", "study": "/s.toml", "seal": "{seal}", "lease_s": 1, "units": [
            {{"name": "000000-execution-0", "kind": "execution", "number": 0, "label": "k", "needs": null, "points": 0, "warp_instructions": 1, "seconds": 1.0}},
            {{"name": "000001-timing-0", "kind": "timing", "number": 0, "label": "k, g", "needs": "000000-execution-0", "points": 2, "warp_instructions": 1, "seconds": 2.0}}
        ]}}"#
    );
    serde_json::from_str(&text).unwrap()
}

const UNIT: &str = "000000-execution-0";

fn queue(scratch: &Scratch) -> Queue {
    Queue::lay(&scratch.0, sheet("a")).unwrap().0
}

#[test]
fn one_of_many_takes_a_unit() {
    let scratch = Scratch::new();
    let queue = queue(&scratch);
    let won = std::thread::scope(|scope| {
        let tried: Vec<_> = (0..8)
            .map(|number| {
                let queue = &queue;
                scope.spawn(move || queue.take(UNIT, &format!("w+{number}")).unwrap())
            })
            .collect();
        let won = tried.into_iter().map(|tried| tried.join().unwrap());
        won.filter(|won| *won).count()
    });
    assert_eq!(won, 1);
    assert_eq!(queue.taken().unwrap().len(), 1);
}

#[test]
fn a_unit_goes_through_its_folders() {
    let scratch = Scratch::new();
    let queue = queue(&scratch);
    assert!(queue.take(UNIT, "a-1+0").unwrap());
    let taken = Taken {
        unit: UNIT.to_owned(),
        hand: "a-1+0".to_owned(),
    };
    assert_eq!(queue.taken().unwrap(), std::slice::from_ref(&taken));
    assert_eq!(taken.worker(), "a-1");
    assert!(queue.take_from(&taken, "b-2+0").unwrap());
    assert!(
        !queue.take_from(&taken, "c-3+0").unwrap(),
        "somebody was faster"
    );
    // The one that it was taken from ends after all: what it came to is the same.
    queue.finish(UNIT, "a-1+0", b"it").unwrap();
    queue.finish(UNIT, "b-2+0", b"it").unwrap();
    assert_eq!(fs::read(queue.path("done", UNIT)).unwrap(), b"it");
    assert!(queue.taken().unwrap().is_empty());
    let state = State::of(&queue).unwrap();
    assert_eq!((state.done, state.todo, state.taken), (1, 1, 0));
    assert_eq!(state.seconds_left, Some(2.0));
}

#[test]
fn what_failed_or_is_damaged_is_put_back() {
    let scratch = Scratch::new();
    let queue = queue(&scratch);
    queue.take(UNIT, "a-1+0").unwrap();
    queue.fail(UNIT, "a-1+0", "error: no").unwrap();
    assert_eq!(State::of(&queue).unwrap().failures[UNIT], "error: no");
    let laid = |seal: &str| Queue::lay(&scratch.0, sheet(seal)).map(|(_, laid)| laid);
    assert_eq!(laid("a").unwrap(), Laid::Again(1));
    assert_eq!(laid("a").unwrap(), Laid::Again(0));
    queue.take(UNIT, "a-1+0").unwrap();
    queue.finish(UNIT, "a-1+0", b"cut off").unwrap();
    assert_eq!(laid("a").unwrap(), Laid::Again(1));
    assert_eq!(laid("b").unwrap_err().code, "fleet::other_queue");
    assert_eq!(queue.listed("todo").unwrap().len(), 2);
}

#[test]
fn a_queue_that_was_not_laid_out_whole_is_laid_out() {
    let scratch = Scratch::new();
    let queue = queue(&scratch);
    fs::remove_file(queue.path("", "queue.json")).unwrap();
    assert_eq!(Queue::open(&scratch.0).unwrap_err().code, "fleet::no_queue");
    fs::remove_file(queue.path("todo", UNIT)).unwrap();
    let (queue, laid) = Queue::lay(&scratch.0, sheet("a")).unwrap();
    assert_eq!(laid, Laid::New);
    assert_eq!(queue.listed("todo").unwrap().len(), 2);
}

#[test]
fn workers_have_names_of_their_own_and_show_that_they_live() {
    let scratch = Scratch::new();
    let queue = queue(&scratch);
    let one = Beating::enter(&queue, 1).unwrap();
    let other = Beating::enter(&queue, 1).unwrap();
    assert_ne!(one.name, other.name);
    let mut rivals = Rivals::new(Duration::from_millis(400));
    assert!(!rivals.is_silent(&queue, &one.name));
    std::thread::sleep(Duration::from_millis(500));
    assert!(rivals.is_silent(&queue, &one.name));
    // A beat of another lease's length: it speaks again.
    let (living, enough) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| one.beat(enough));
        std::thread::sleep(Duration::from_millis(350));
        assert!(!rivals.is_silent(&queue, &one.name));
        drop(living);
    });
    one.leave().unwrap();
    other.leave().unwrap();
    assert!(queue.listed("workers").unwrap().is_empty());
}

#[test]
fn a_sheet_of_another_format_is_refused() {
    let scratch = Scratch::new();
    queue(&scratch);
    for wrong in ["{", r#"{"format": 2}"#] {
        fs::write(scratch.0.join("queue.json"), wrong).unwrap();
        assert_eq!(Queue::open(&scratch.0).unwrap_err().code, "fleet::format");
    }
}
