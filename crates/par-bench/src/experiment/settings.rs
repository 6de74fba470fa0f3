//! What answers are like without the settings that were chosen on the paper's tables.
//!
//! Some settings of a table were chosen for its aims (its price, its bins), and some defaults because they measured best on
//! these tables. Here each is undone by itself: back to the default, or to what the paper does. All answers are measured by
//! the model as reported, so that NLL is under one circuit; `own_validity` is by the classifier that was asked.
//!
//! With other bins the classifier is another too, and denies other people. So people are those whom both deny, and the
//! answers as reported are measured on the same people again.

use par_answer::Method;
use par_answer::evaluate::MethodAnswers;
use par_circuit::Stop;
use par_fit::with_config;
use par_model::{AnswerConfig, Config, Mean, Model};

use super::answers::measured;
use crate::case::Fold;
use crate::error::Error;
use crate::figures::Sheet;
use crate::measures::add;
use crate::method::own_replies;

/// What the names of these methods begin with.
pub(crate) const PREFIX: &str = "setting: ";

/// A chosen setting, and how it is undone.
struct ChosenSetting {
    /// What holds without it.
    without: &'static str,
    undo: fn(&mut Config),
    /// Whether bins or circuits are learned again; otherwise a generator is enough.
    learns_again: bool,
}

const CHOSEN: [ChosenSetting; 7] = [
    ChosenSetting {
        without: "price of the default",
        undo: |config| config.answers.price = AnswerConfig::default().price,
        learns_again: false,
    },
    ChosenSetting {
        without: "bins of the default",
        undo: |config| config.bins = Config::default().bins,
        learns_again: true,
    },
    ChosenSetting {
        without: "circuits by LearnSPN",
        undo: |config| config.circuits = Config::paper().circuits,
        learns_again: true,
    },
    ChosenSetting {
        without: "generator sees immutable features only",
        undo: |config| config.generator.conditioning = Config::paper().generator.conditioning,
        learns_again: false,
    },
    ChosenSetting {
        without: "generator is not taught",
        undo: |config| config.generator.loss.teaching = 0.0,
        learns_again: false,
    },
    ChosenSetting {
        without: "one proposal",
        undo: |config| config.answers.proposals = 1,
        learns_again: false,
    },
    ChosenSetting {
        without: "the paper's local search",
        undo: |config| {
            let AnswerConfig { search, delta_max, .. } = Config::paper().answers;
            (config.answers.search, config.answers.delta_max) = (search, delta_max);
        },
        learns_again: false,
    },
];

/// Measures generate and refine as reported, and without each setting that makes a difference to the configuration.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    let reported = fold.answers()?;
    add_answers(fold, &fold.model, reported, "as reported", sheet);
    let own = &fold.case.config;
    for ChosenSetting { without, undo, learns_again } in CHOSEN {
        let mut config = own.clone();
        undo(&mut config);
        if config == *own {
            continue;
        }
        let model = match learns_again {
            true => fold.case.fit(fold.name, &config, &fold.training)?,
            false => with_config(&fold.model, config, &mut |_| {}, Stop::never())
                .map_err(|source| fold.case.fit_error(fold.name, source))?,
        };
        let answers = denied_by_both(fold.answers_by(&model)?, reported);
        add_answers(fold, &model, &answers, without, sheet);
        let same_people = denied_by_both(reported.to_vec(), &answers);
        if same_people.iter().flatten().count() < reported.iter().flatten().count() {
            add_answers(
                fold,
                &fold.model,
                &same_people,
                &format!("as reported, people of: {without}"),
                sheet,
            );
        }
    }
    Ok(())
}

/// The answers to people to whom there are others, too.
fn denied_by_both(
    answers: Vec<Option<MethodAnswers>>,
    others: &[Option<MethodAnswers>],
) -> Vec<Option<MethodAnswers>> {
    answers.into_iter().zip(others).map(|(own, other)| own.filter(|_| other.is_some())).collect()
}

fn add_answers(
    fold: &Fold<'_>,
    model: &Model,
    answers: &[Option<MethodAnswers>],
    name: &str,
    sheet: &mut Sheet,
) {
    for method in [Method::Generate, Method::Refine] {
        let measured = measured(fold, &fold.model, answers, own_replies(method, answers));
        let key = format!("{PREFIX}{name}/{}", method.name());
        add(sheet, &key, &measured.iter().map(|(measured, _)| *measured).collect::<Vec<_>>());
        let times = measured.iter().filter_map(|(_, time)| *time).collect();
        sheet.distribution(&key, "time_us", times, measured.len());
        let is_valid = |answers: &MethodAnswers| {
            answers.way(method as usize).is_some_and(|way| {
                let cells: Vec<&str> = way.cells.iter().map(String::as_str).collect();
                model.is_accepted(&cells, model.threshold())
            })
        };
        let valid = answers.iter().flatten().map(is_valid);
        sheet.mean(&key, "own_validity", Mean::share(valid, measured.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_case;

    #[test]
    fn every_setting_that_differs_is_undone_by_itself() {
        let case = test_case::case(test_case::SCHEMA);
        let mut sheet = Sheet::new("t", "0");
        measure(&test_case::fold(&case), &mut sheet).expect("figures");
        let figures = sheet.into_figures();
        let mut names: Vec<&str> = figures.iter().map(|figure| figure.method.as_str()).collect();
        names.dedup();
        // Bins and price are the default's here.
        let undone = CHOSEN[2..].iter().map(|chosen| chosen.without);
        let expected: Vec<String> = std::iter::once("as reported")
            .chain(undone)
            .flat_map(|name| ["generate", "refine"].map(|method| format!("setting: {name}/{method}")))
            .collect();
        assert_eq!(names, expected);
        // With so few people not every one makes a difference.
        let rows = |name: &str| -> Vec<Option<f64>> {
            let own = figures.iter().filter(|figure| figure.method == format!("setting: {name}"));
            own.filter(|figure| !figure.metric.name.ends_with("time_us")).map(|figure| figure.value).collect()
        };
        let reported = rows("as reported/generate");
        assert!(CHOSEN[2..].iter().any(|chosen| rows(&format!("{}/generate", chosen.without)) != reported));
    }

    /// Everybody whom the new classifier denies was asked, and only the reported one said what is valid.
    #[test]
    fn with_other_bins_people_are_those_whom_both_classifiers_deny() {
        let case = test_case::case(test_case::SCHEMA);
        let mut config = case.config.clone();
        config.bins.bins = 2;
        let case = case.configured_as("t", config);
        let fold = Fold::new(&case, &case.folds()[0]).expect("a fold");
        let mut sheet = Sheet::new("t", "0");
        measure(&fold, &mut sheet).expect("figures");
        let figures = sheet.into_figures();
        let figure = |name: &str, measure: &str| {
            let method = format!("{PREFIX}{name}/refine");
            let is_it = |figure: &&crate::Figure| figure.method == method && figure.metric == measure.into();
            figures.iter().find(is_it).expect("a figure")
        };
        let (name, again) = ("bins of the default", "as reported, people of: bins of the default");
        let model = fold.case.fit(fold.name, &undone(&case.config), &fold.training).expect("a model");
        let other: Vec<bool> =
            fold.answers_by(&model).expect("answers").iter().map(Option::is_some).collect();
        let both = fold.denied().into_iter().filter(|&person| other[person]).count();
        assert!(both < fold.denied().len() && both < other.iter().filter(|denied| **denied).count());
        assert_eq!([name, again].map(|name| figure(name, "validity").of), [both; 2]);
        assert_eq!(figure("as reported", "validity").of, fold.denied().len());
        // An answer is always accepted by the classifier that was asked.
        let answered = figure(name, "nll").over as f64 / both as f64;
        assert_eq!(figure(name, "own_validity").value, Some(answered));
        assert!(figure(name, "validity").value < Some(answered));
        assert_eq!(figure(again, "own_validity").value, figure(again, "validity").value);
    }

    fn undone(config: &Config) -> Config {
        let mut config = config.clone();
        (CHOSEN[1].undo)(&mut config);
        config
    }
}
