//! The judge on German Credit: real people, and rows that nobody is like.

use par_circuit::learn::Learner;
use par_data::{Batch, german_credit};
use par_fit::ModelBuilder;
use par_judge::{FEWEST_ROWS, Judge, JudgeError, Judgement};
use par_model::{Config, Model};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

fn model(learner: Learner) -> Model {
    let mut config = Config::default();
    config.circuits.learner = learner;
    config.circuits.hclt.states = 2;
    config.classifier.hidden = vec![6];
    config.pool.size = 100;
    config.generator.hidden = [8, 8];
    config.generator.examples = 50;
    config.generator.steps = 5;
    ModelBuilder::new(german_credit::schema(), config).fit(|| Ok(german_credit::table())).expect("a model")
}

/// The first rows of the table.
fn people() -> Batch {
    german_credit::table().batches(700).next().expect("a batch").expect("rows")
}

fn cells<'b>(model: &Model, batch: &'b Batch) -> Vec<Vec<&'b str>> {
    let table = german_credit::table();
    let columns = model.schema().columns(table.origin(), table.columns()).expect("all columns");
    (0..batch.rows()).map(|row| columns.cells(batch, row)).collect()
}

/// The same cells in every column, each column in another order: people with nothing in common.
fn scrambled<'c>(rows: &[Vec<&'c str>]) -> Vec<Vec<&'c str>> {
    let mut rows = rows.to_vec();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for feature in 0..rows[0].len() {
        let mut column: Vec<&str> = rows.iter().map(|row| row[feature]).collect();
        column.shuffle(&mut rng);
        rows.iter_mut().zip(column).for_each(|(row, cell)| row[feature] = cell);
    }
    rows
}

fn some<'c>(rows: &[Vec<&'c str>]) -> Vec<Option<Vec<&'c str>>> {
    rows.iter().cloned().map(Some).collect()
}

/// All that is the lower the better.
fn measures(judgement: &Judgement) -> [f64; 4] {
    let mean = |mean: par_model::Mean| mean.mean.expect("answers");
    [
        mean(judgement.distance),
        mean(judgement.outliers),
        judgement.auc.expect("enough answers"),
        mean(judgement.nll),
    ]
}

#[test]
fn people_are_judged_like_the_reference_and_scrambled_rows_worse() {
    let model = model(Learner::Hclt);
    let batch = people();
    let rows = cells(&model, &batch);
    let (held_out, others) = rows.split_at(400);
    let judge = Judge::new(&model, held_out, 0).expect("a judge");
    assert_eq!((judge.rows(), judge.learner()), (400, Learner::LearnSpn));
    let reference = judge.reference().expect("a reference");
    let [people, nobody] = [others, &scrambled(others)].map(|rows| judge.judge(&some(rows)));
    let [reference, people, nobody] = [&reference, &people, &nobody].map(measures);
    for (measure, near) in [0.5, 0.005, 0.08, 0.5].into_iter().enumerate() {
        let [reference, people, nobody] = [reference[measure], people[measure], nobody[measure]];
        assert!(
            (people - reference).abs() < near,
            "measure {measure}: {people}, the reference is {reference}"
        );
        assert!(nobody > people + near, "measure {measure}: {nobody} of nobody, {people} of people");
    }
    assert!((reference[2] - 0.5).abs() < 0.08, "{}", reference[2]);
    assert_eq!(
        judge.judge(&some(others)),
        Judge::new(&model, held_out, 0).expect("a judge").judge(&some(others))
    );
}

#[test]
fn answers_that_are_missing_or_cannot_be_read_count_in_no_measure() {
    let model = model(Learner::LearnSpn);
    let batch = people();
    let rows = cells(&model, &batch);
    let judge = Judge::new(&model, &rows[..60], 0).expect("a judge");
    assert_eq!(judge.learner(), Learner::Hclt);
    let mut answers = some(&rows[60..63]);
    answers[1] = None;
    answers[2].as_mut().expect("an answer")[0] = "no such category";
    let judgement = judge.judge(&answers);
    for mean in [judgement.distance, judgement.outliers, judgement.matched, judgement.nll] {
        assert_eq!((mean.over, mean.of), (1, 3));
    }
    assert_eq!(judgement.auc, None);
    let nothing = judge.judge(&[None]);
    assert_eq!((nothing.distance.mean, nothing.nll.mean, nothing.auc), (None, None, None));

    let error = Judge::new(&model, &rows[..FEWEST_ROWS - 1], 0).err();
    assert_eq!(
        error.map(|error| error.to_string()),
        Some("49 held-out accepted rows cannot judge answers, expected at least 50".to_string())
    );
    let mut damaged = rows[..60].to_vec();
    damaged[17][0] = "no such category";
    assert!(matches!(Judge::new(&model, &damaged, 0), Err(JudgeError::Row { place: 17, .. })));
}
