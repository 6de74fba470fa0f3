//! What answers are like without the settings that were chosen on the paper's tables.
//!
//! Some settings of a table were chosen for its aims (its price, its bins), and some defaults because they measured best on
//! these tables. Here each is undone by itself: back to the default, or to what the paper does. All answers are measured by
//! the model as reported, so that NLL is under one circuit.

use par_answer::Method;
use par_circuit::Stop;
use par_fit::with_config;
use par_model::{AnswerConfig, Config, Model};

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
    add_answers(fold, &fold.model, "as reported", sheet)?;
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
        add_answers(fold, &model, without, sheet)?;
    }
    Ok(())
}

fn add_answers(fold: &Fold<'_>, model: &Model, name: &str, sheet: &mut Sheet) -> Result<(), Error> {
    let answers = fold.answers_by(model)?;
    for method in [Method::Generate, Method::Refine] {
        let measured = measured(fold, &fold.model, &answers, own_replies(method, &answers));
        let key = format!("{PREFIX}{name}/{}", method.name());
        add(sheet, &key, &measured.iter().map(|(measured, _)| *measured).collect::<Vec<_>>());
        let times = measured.iter().filter_map(|(_, time)| *time).collect();
        sheet.distribution(&key, "time_us", times, measured.len());
    }
    Ok(())
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
}
