use std::io::Cursor;

use par_data::{Schema, Table, TableOptions};
use par_model::generator::Conditioning;

use super::*;

const SCHEMA: &str = r#"
[columns]
id = "id"

[label]
column = "decision"
classes = ["no", "yes"]
favourable = "yes"

[[feature]]
name = "work"
kind = "ordinal"
values = ["a", "b", "c", "d"]

[[feature]]
name = "debt"
kind = "discrete"

[[feature]]
name = "city"
kind = "nominal"
values = ["Ulm", "Jena"]
"#;

/// 180 people in three folds; work and debt are correlated with the decision. Even ids are factuals.
fn case(config: Config) -> Case {
    case_of(config, |id| id.is_multiple_of(2))
}

fn case_of(config: Config, is_factual: impl Fn(usize) -> bool) -> Case {
    let row = |id: usize| {
        let (work, debt) = (id * 7 % 4, id * 11 % 5);
        let decision = if work > debt { "yes" } else { "no" };
        let (work, city) = (["a", "b", "c", "d"][work], ["Ulm", "Jena"][id * 13 % 3 % 2]);
        format!("{id},{work},{debt},{city},{decision},{},{}\n", id % 3, u8::from(is_factual(id)))
    };
    let text =
        "id,work,debt,city,decision,fold,factual\n".to_string() + &(0..180).map(row).collect::<String>();
    let table = Table::from_reader("t.csv", Cursor::new(text), &TableOptions::default()).expect("a header");
    let schema = Schema::parse(SCHEMA, "s.toml").expect("a schema");
    Case::new("t", schema, config, table, "fold", Some("factual")).expect("a case")
}

/// Settings with a quick fit.
fn quick() -> Config {
    let mut config = Config::default();
    config.classifier.hidden = vec![6];
    config.classifier.learning_rate = 0.02;
    config.circuits.hclt.states = 2;
    config.circuits.hclt.groups = 1;
    config.pool.size = 60;
    config.answers.proposals = 2;
    config.generator.hidden = [8, 8];
    config.generator.encoder = 4;
    config.generator.embedding = 2;
    config.generator.examples = 60;
    config.generator.steps = 30;
    config.generator.batch = 16;
    config
}

fn tune(case: &Case, trials: usize) -> Tuned {
    let tune = Tune { case, trials, method: Method::Generate, seed: 5 };
    tune.run(&|_| {}).expect("trials")
}

/// The history without its last column, the seconds.
fn history(tuned: &Tuned) -> Vec<String> {
    let mut bytes = Vec::new();
    tuned.write_history(&mut bytes).expect("memory");
    let text = String::from_utf8(bytes).expect("text");
    text.lines().map(|line| line.rsplit_once(',').expect("columns").0.to_string()).collect()
}

#[test]
fn the_history_depends_on_the_seed_and_not_on_the_threads() {
    let case = case(quick());
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| tune(&case, 9))
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(history(&one), history(&two));
    assert_eq!(one.best().config, two.best().config);
}

#[test]
fn the_best_is_never_worse_than_the_start() {
    let case = case(quick());
    let tuned = tune(&case, 9);
    assert_eq!(tuned.start().config, case.config);
    assert_eq!(tuned.folds, ["0", "1", "2"]);
    assert!(tuned.best().objective() <= tuned.start().objective());
    assert_eq!(tuned.best().runs.len(), 3);
    let alone = tune(&case, 0);
    assert_eq!((alone.trials.len(), alone.best().number), (1, 0));
    assert_eq!(alone.start().objective(), tuned.start().objective());
    assert!(alone.changes().is_empty());
}

#[test]
fn a_start_that_is_never_trained_is_beaten() {
    let mut config = quick();
    config.generator.learning_rate = 1e-9;
    config.generator.steps = 1;
    // Denied proposals of other generators are completed.
    config.generator.conditioning = Conditioning::Paper;
    config.answers.proposals = 1;
    let case = case(config);
    let fold = TuneFold::new(&case, "0").expect("a fold");
    let [poor, good] = [1e-9, 0.02].map(|rate| {
        let mut config = case.config.clone();
        config.generator.learning_rate = rate;
        config.generator.steps = 200;
        fold.measure(&config, Method::Generate).expect("a generator")
    });
    assert!(good.objective + 1.0 < poor.objective, "{good:?} {poor:?}");
    assert!(good.validity.mean > poor.validity.mean, "{good:?} {poor:?}");
    assert_eq!((good.people, good.validity.of), (poor.people, poor.validity.of));
}

#[test]
fn measuring_the_start_again_gives_the_same_result() {
    let case = case(quick());
    let fold = TuneFold::new(&case, "1").expect("a fold");
    for method in [Method::Generate, Method::Refine] {
        let known = fold.run(&fold.answers, method, 0.0);
        let again = fold.measure(&case.config, method).expect("a generator");
        assert_eq!(known, FoldRun { seconds: 0.0, ..again });
    }
}

#[test]
fn tuning_without_recourse_is_an_error() {
    let mut config = quick();
    config.classifier.threshold = par_model::classifier::Threshold::Fixed(1e-300);
    let case = case(config);
    let error = Tune { case: &case, trials: 3, method: Method::Generate, seed: 0 }.run(&|_| {});
    assert_eq!(
        error.expect_err("no one is denied").to_string(),
        "t: no factual is denied and has a recourse, so there is nothing to tune by"
    );
}

#[test]
fn a_fold_without_recourse_is_left_out() {
    let case = case_of(quick(), |id| id.is_multiple_of(2) && id % 3 != 1);
    let tuned = tune(&case, 2);
    assert_eq!(tuned.folds, ["0", "2"]);
    assert!(tuned.trials.iter().all(|trial| trial.runs.len() == 2));
}

#[test]
fn a_configuration_survives_toml() {
    let case = case(quick());
    for trial in tune(&case, 5).trials {
        let text = toml::to_string(&trial.config).expect("TOML");
        assert_eq!(toml::from_str::<Config>(&text).expect("a configuration"), trial.config);
    }
}

#[test]
fn the_history_has_a_line_per_trial_and_fold() {
    let case = case(quick());
    let tuned = tune(&case, 8);
    let lines = history(&tuned);
    assert_eq!(lines.len(), 1 + tuned.trials.iter().map(|trial| trial.runs.len()).sum::<usize>());
    assert!(
        lines[0].starts_with("trial,fold,pruned,pool.size,pool.neighbours,generator.hidden,"),
        "{}",
        lines[0]
    );
    assert!(
        lines[0].ends_with(",objective,people,denied,validity,nll,sparsity,similarity,gap"),
        "{}",
        lines[0]
    );
    assert!(lines[1].starts_with("0,0,false,60,10,8-8,4,2,60,30,16,0.002,5,0.5,"), "{}", lines[1]);
}
