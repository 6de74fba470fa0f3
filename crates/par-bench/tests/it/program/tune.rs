use par_data::{Schema, Table, TableOptions};
use par_fit::ModelBuilder;
use par_model::Config;

use crate::sandbox::Sandbox;

const TUNE: [&str; 10] = [
    "tune",
    "applicants.csv",
    "--schema",
    "applicants.toml",
    "--config",
    "quick.toml",
    "--trials",
    "6",
    "--out",
    "tuned.toml",
];

#[test]
fn a_model_can_be_fitted_with_the_tuned_settings() {
    let sandbox = Sandbox::with_applicants();
    let summary = sandbox.json(&[&TUNE[..], &["--history", "trials.csv"]].concat());
    let objective = |of: &str| summary[of]["objective"].as_f64().expect("a number");
    assert!(objective("best") <= objective("start"), "{summary}");
    assert_eq!((&summary["trials"], &summary["folds"]), (&6.into(), &5.into()));
    assert_eq!(summary["start"]["trial"], 0);

    let settings = sandbox.read("tuned.toml");
    assert!(
        settings.starts_with("# Found by `par-bench tune` on applicants, method generate, seed 0: "),
        "{settings}"
    );
    let config = par_terminal::config_file::laid_over(&Config::default(), &sandbox.path("tuned.toml"));
    let config = config.expect("settings");
    let used = serde_json::to_value(&config).expect("settings");
    let written: serde_json::Value = toml::from_str(&settings).expect("TOML");
    for section in ["bins", "classifier", "circuits", "pool", "generator"] {
        assert_eq!(used[section], written[section], "{section}");
    }
    let schema = Schema::load(sandbox.path("applicants.toml")).expect("a schema");
    let table = || Table::open(sandbox.path("applicants.csv"), &TableOptions::default());
    ModelBuilder::new(schema, config).fit(table).expect("a model");
    assert_eq!(used["classifier"]["hidden"], serde_json::json!([6]));
    for change in summary["changes"].as_array().expect("a list") {
        let keys = change["setting"].as_str().expect("a name").split('.');
        let value = keys.fold(&written, |value, key| &value[key]);
        let numbers = value.as_array().map_or(vec![value], |values| values.iter().collect());
        let text = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join("-");
        let number = |text: &str| text.parse::<f64>().ok();
        let printed = change["to"].as_str().expect("a value");
        assert!(text == printed || number(&text) == number(printed), "{change}: {text}");
    }

    let history = sandbox.read("trials.csv");
    let lines: Vec<&str> = history.lines().collect();
    assert!(lines[0].starts_with("trial,fold,pruned,pool.size,"), "{}", lines[0]);
    assert!(lines[1].starts_with("0,0,false,200,10,16-16,8,4,200,60,64,0.002,5,0.5,"), "{}", lines[1]);
    let complete = (0..6).filter(|trial| {
        let of = format!("{trial},");
        lines.iter().filter(|line| line.starts_with(&of)).count() == 5
    });
    assert_eq!(complete.count() as u64, 6 - summary["pruned"].as_u64().expect("a count"));
}

#[test]
fn same_seed_same_settings_on_any_number_of_threads() {
    let sandbox = Sandbox::with_applicants();
    let settings = |threads: &str, seed: &str| {
        let arguments = [&TUNE[..], &["--seed", seed]].concat();
        sandbox.par(&arguments).env("RAYON_NUM_THREADS", threads).assert().success();
        sandbox.read("tuned.toml")
    };
    assert_eq!(settings("1", "3"), settings("2", "3"));
}

#[test]
fn a_summary_shows_the_gain_and_warns_that_it_is_optimistic() {
    let sandbox = Sandbox::with_applicants();
    let mut arguments = TUNE;
    arguments[7] = "1";
    let text = sandbox.run(&[&arguments[..], &["--preset", "paper", "--method", "refine"]].concat());
    let titles: Vec<&str> = text.lines().filter_map(|line| line.trim().split("  ").next()).collect();
    assert_eq!(
        titles,
        [
            "people",
            "trials",
            "start",
            "best",
            "seconds",
            "written to",
            "",
            "The settings were chosen on these people: expect a little less on others."
        ]
    );
    assert!(text.contains("the start: nothing was better\n"), "{text}");
    assert!(text.contains(" 1, 0 pruned\n"), "{text}");
    let settings = sandbox.read("tuned.toml");
    assert!(settings.contains("none of 1 trials was better than the start: "), "{settings}");
    assert!(
        settings.contains("\nteaching = 0.0\n") && settings.contains("\nsearch = \"paper\"\n"),
        "{settings}"
    );
}

#[test]
fn invalid_arguments_are_refused_before_the_work() {
    let sandbox = Sandbox::with_applicants();
    let refused = |more: &[&str]| sandbox.refused(&[&TUNE[..], more].concat());
    assert_eq!(
        refused(&["--folds", "flod"]),
        "error: applicants.csv: no column `flod`, did you mean `fold`?\n"
    );
    assert_eq!(
        refused(&["--factuals", "aged"]),
        "error: applicants.csv: no column `aged`, did you mean `age`?\n"
    );
    assert_eq!(
        refused(&["--history", "applicants.csv"]),
        "error: applicants.csv: is read from, and writing would replace it\nhint: write to another file\n"
    );
    assert_eq!(
        refused(&["--history", "nowhere/trials.csv"]),
        "error: nowhere/trials.csv: no such folder `nowhere`\n"
    );
    let with = |place: usize, text: &'static str| {
        let mut arguments = TUNE;
        arguments[place] = text;
        sandbox.refused(&arguments)
    };
    assert_eq!(with(9, "nowhere/tuned.toml"), "error: nowhere/tuned.toml: no such folder `nowhere`\n");
    assert_eq!(
        with(9, "quick.toml"),
        "error: quick.toml: is read from, and writing would replace it\nhint: write to another file\n"
    );
    assert!(
        with(7, "0").starts_with("error: invalid value '0' for '--trials <N>': 0 is not in 1..=100000\n")
    );
    assert!(with(5, "none.toml").starts_with("error: none.toml: cannot be read: "));
    sandbox.write("wrong.toml", "[generator.loss]\nalpha = 2\n");
    assert_eq!(
        with(5, "wrong.toml"),
        "error: wrong.toml: `generator.loss.alpha` is 2, expected a number from 0 to 1\n"
    );
    sandbox.write("unfolded.toml", sandbox.read("applicants.toml").replace("fold = \"fold\"", ""));
    assert_eq!(
        with(3, "unfolded.toml"),
        "error: unfolded.toml: names no column of folds\nhint: name it with `--folds COLUMN`\n"
    );
    assert!(refused(&["--method", "exact"]).contains("[possible values: generate, refine]"));
}

#[test]
fn one_file_cannot_be_both_settings_and_history() {
    let sandbox = Sandbox::with_applicants();
    let same = [&TUNE[..], &["--history", "tuned.toml"]].concat();
    assert_eq!(sandbox.refused(&same), "error: tuned.toml: `--out` and `--history` name the same file\n");
}

#[test]
fn the_help_lists_untuned_settings_and_warns_of_optimism() {
    let help = Sandbox::new().run(&["tune", "--help"]);
    for part in
        ["price and budget say what is\nwanted", "choose the settings", "--trials <N>", "[default: 30]"]
    {
        assert!(help.contains(part), "{part}: {help}");
    }
}
