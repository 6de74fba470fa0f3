//! Learning that is cancelled.

use std::sync::atomic::{AtomicUsize, Ordering};

use par_circuit::learn::{Learner, learn, learn_with_progress};
use par_circuit::{LearnError, Stop, Stopped};

use crate::learning::{LEARNERS, classes, config};

/// The result of learning that is stopped at the poll after the first `questions`, the number of polls, and
/// the number of trials reported.
fn stopped_after(
    questions: usize,
    learner: Learner,
    rows: usize,
) -> (Result<Vec<u8>, LearnError>, usize, usize) {
    let asked = AtomicUsize::new(0);
    let is_over = || asked.fetch_add(1, Ordering::Relaxed) >= questions;
    let mut trials = 0;
    let rows = classes(rows, 5);
    let learned =
        learn_with_progress(&rows, None, &config(learner), &mut |_| trials += 1, Stop::when(&is_over));
    (learned.map(|learned| learned.circuit.to_bytes()), asked.into_inner(), trials)
}

#[test]
fn learning_stops_soon_after_whichever_question_says_so() {
    // 400 rows are learned from in five folds at once, 2,500 in one.
    for rows in [400, 2500] {
        for learner in LEARNERS {
            let (_, all, _) = stopped_after(usize::MAX, learner, rows);
            for questions in [0, 1, 2, 10, 100, all / 10, all / 3, all / 2, all - 1] {
                let (learned, asked, _) = stopped_after(questions, learner, rows);
                assert_eq!(learned, Err(LearnError::Stopped(Stopped)), "{learner}, {questions} of {all}");
                // Each part of the rows that has started, or is about to, may poll once more.
                assert!(asked <= questions + 5 * 16, "{learner}: {asked} for {questions} of {all}");
            }
        }
    }
}

#[test]
fn being_asked_changes_nothing() {
    for learner in LEARNERS {
        let (watched, asked, trials) = stopped_after(usize::MAX, learner, 400);
        let learned = learn(&classes(400, 5), None, &config(learner)).expect("a circuit");
        assert_eq!(watched, Ok(learned.circuit.to_bytes()), "{learner}");
        assert_eq!(trials, learned.trials.len());
        assert!(asked > 20 * trials, "{learner} asked {asked} times in {trials} trials");
    }
}

#[test]
fn a_trial_that_is_cut_short_is_not_told() {
    let (_, all, trials) = stopped_after(usize::MAX, Learner::Auto, 400);
    let (_, _, told) = stopped_after(all / 2, Learner::Auto, 400);
    assert!(told > 0 && told < trials, "{told} of {trials}");
    assert_eq!(stopped_after(0, Learner::Auto, 400).2, 0);
}
