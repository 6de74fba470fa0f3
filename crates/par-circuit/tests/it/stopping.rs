//! Learning that is cancelled.

use std::sync::atomic::{AtomicUsize, Ordering};

use par_circuit::learn::{Learner, learn, learn_with_progress};
use par_circuit::{LearnError, Stop, Stopped};

use crate::learning::{LEARNERS, classes, config};

/// The result of learning that is stopped at the poll after the first `allowed` ones, the number of polls, and
/// the number of trials reported.
fn stopped_after(
    allowed: usize,
    learner: Learner,
    rows: usize,
) -> (Result<Vec<u8>, LearnError>, usize, usize) {
    let polls = AtomicUsize::new(0);
    let is_over = || polls.fetch_add(1, Ordering::Relaxed) >= allowed;
    let mut trials = 0;
    let rows = classes(rows, 5);
    let learned =
        learn_with_progress(&rows, None, &config(learner), &mut |_| trials += 1, Stop::when(&is_over));
    (learned.map(|learned| learned.circuit.to_bytes()), polls.into_inner(), trials)
}

#[test]
fn learning_stops_soon_after_any_poll() {
    // 400 rows are learned from in five folds at once, 2,500 in one.
    for rows in [400, 2500] {
        for learner in LEARNERS {
            let (_, all, _) = stopped_after(usize::MAX, learner, rows);
            for allowed in [0, 1, 2, 10, 100, all / 10, all / 3, all / 2, all - 1] {
                let (learned, polls, _) = stopped_after(allowed, learner, rows);
                assert_eq!(learned, Err(LearnError::Stopped(Stopped)), "{learner}, {allowed} polls of {all}");
                // Each part of the rows that has started, or is about to, may poll once more.
                assert!(
                    polls <= allowed + 5 * 16,
                    "{learner}: {polls} polls, stopped after {allowed} of {all}"
                );
            }
        }
    }
}

#[test]
fn polling_does_not_change_the_circuit() {
    for learner in LEARNERS {
        let (watched, polls, trials) = stopped_after(usize::MAX, learner, 400);
        let learned = learn(&classes(400, 5), None, &config(learner)).expect("a circuit");
        assert_eq!(watched, Ok(learned.circuit.to_bytes()), "{learner}");
        assert_eq!(trials, learned.trials.len());
        assert!(polls > 20 * trials, "{learner} polled {polls} times in {trials} trials");
    }
}

#[test]
fn a_stopped_trial_is_not_reported() {
    let (_, all, trials) = stopped_after(usize::MAX, Learner::Auto, 400);
    let (_, _, reported) = stopped_after(all / 2, Learner::Auto, 400);
    assert!(reported > 0 && reported < trials, "{reported} of {trials}");
    assert_eq!(stopped_after(0, Learner::Auto, 400).2, 0);
}
