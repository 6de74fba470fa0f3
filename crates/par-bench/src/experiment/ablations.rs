//! The effect of every term of the loss: generators trained without it.
//!
//! Bins, classifier, circuits and seed stay the same; only the generator is trained again. `…/generate` is its most
//! probable row, accepted or not, so that all its rows are measured. `…/refine` is the row after local search: valid,
//! or no answer.
//!
//! # Paper
//! Q2: table 2 and the appendix's tables. The variants of the paper's preset are all those in the tables.

use par_answer::{Method, Request, Solver};
use par_circuit::Stop;
use par_fit::with_config;
use par_model::{Config, Model};

use crate::case::Fold;
use crate::error::Error;
use crate::figures::Sheet;
use crate::measures::{AnswerMeasures, Measurer, add};

/// A part of training that a variant leaves out: a term of the loss, or an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TrainingPart {
    Proximity,
    Accepted,
    Denied,
    Sparsity,
    Validity,
    Entropy,
    /// Plausibility and proximity together.
    Block,
    Teaching,
    /// Examples with random locks.
    Locks,
    /// The neighbours that the encoder sees.
    Neighbours,
}

/// The settings that a variant starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariantPreset {
    Paper,
    Ours,
}

/// A variant of training the generator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variant {
    pub(super) preset: VariantPreset,
    pub(super) without: &'static [TrainingPart],
}

/// The variants of the paper's tables, in the order of their first appearance.
const PAPER: [&[TrainingPart]; 15] = [
    &[],
    &[TrainingPart::Proximity],
    &[TrainingPart::Accepted, TrainingPart::Denied],
    &[TrainingPart::Proximity, TrainingPart::Denied],
    &[TrainingPart::Proximity, TrainingPart::Accepted],
    &[TrainingPart::Sparsity],
    &[TrainingPart::Validity],
    &[TrainingPart::Entropy],
    &[TrainingPart::Denied],
    &[TrainingPart::Block],
    &[TrainingPart::Entropy, TrainingPart::Block],
    &[TrainingPart::Accepted, TrainingPart::Denied, TrainingPart::Validity],
    &[TrainingPart::Accepted, TrainingPart::Validity],
    &[TrainingPart::Denied, TrainingPart::Validity],
    &[TrainingPart::Accepted],
];

/// Our objective, complete and without each of its terms.
const OURS: [&[TrainingPart]; 9] = [
    &[],
    &[TrainingPart::Teaching],
    &[TrainingPart::Validity],
    &[TrainingPart::Accepted],
    &[TrainingPart::Denied],
    &[TrainingPart::Proximity],
    &[TrainingPart::Sparsity],
    &[TrainingPart::Entropy],
    &[TrainingPart::Locks],
];

impl TrainingPart {
    fn name(self) -> &'static str {
        match self {
            Self::Proximity => "proximity",
            Self::Accepted => "p+",
            Self::Denied => "p-",
            Self::Sparsity => "sparsity",
            Self::Validity => "validity",
            Self::Entropy => "entropy",
            Self::Block => "ppt",
            Self::Teaching => "teaching",
            Self::Locks => "locks",
            Self::Neighbours => "neighbours",
        }
    }

    /// Removes it from a configuration; the other weights stay the same.
    fn leave_out(self, config: &mut Config) {
        let loss = &mut config.generator.loss;
        match self {
            // α splits λ_ppt between proximity and plausibility: plausibility keeps its part of the weight.
            Self::Proximity => {
                loss.plausibility_proximity *= 1.0 - loss.alpha;
                loss.alpha = 0.0;
            }
            Self::Accepted => loss.accepted = 0.0,
            Self::Denied => loss.denied = 0.0,
            Self::Sparsity => loss.sparsity = 0.0,
            Self::Validity => loss.validity = 0.0,
            Self::Entropy => loss.entropy = 0.0,
            Self::Block => loss.plausibility_proximity = 0.0,
            Self::Teaching => loss.teaching = 0.0,
            Self::Locks => config.generator.locked = 0.0,
            Self::Neighbours => config.pool.neighbours = 0,
        }
    }
}

impl VariantPreset {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Ours => "ours",
        }
    }

    pub(super) fn model<'f>(self, fold: &'f Fold<'_>) -> Result<&'f Model, Error> {
        match self {
            Self::Paper => fold.paper(),
            Self::Ours => Ok(&fold.model),
        }
    }
}

impl Variant {
    /// `paper full`, `paper -p+ -p-`.
    pub(super) fn name(self) -> String {
        let without: Vec<String> = self.without.iter().map(|part| format!("-{}", part.name())).collect();
        match without.is_empty() {
            true => format!("{} full", self.preset.name()),
            false => format!("{} {}", self.preset.name(), without.join(" ")),
        }
    }

    pub(super) fn config(self, full: &Config) -> Config {
        let mut config = full.clone();
        self.without.iter().for_each(|part| part.leave_out(&mut config));
        config
    }
}

/// All variants that are compared by their loss.
fn variants() -> impl Iterator<Item = Variant> {
    let paper = PAPER.into_iter().map(|without| Variant { preset: VariantPreset::Paper, without });
    paper.chain(OURS.into_iter().map(|without| Variant { preset: VariantPreset::Ours, without }))
}

/// Measures every variant on the denied people of a fold.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    measure_variants(fold, &variants().collect::<Vec<_>>(), sheet)
}

/// Trains variants one after the other, and measures their answers to the denied people of a fold.
pub(super) fn measure_variants(
    fold: &Fold<'_>,
    variants: &[Variant],
    sheet: &mut Sheet,
) -> Result<(), Error> {
    let people = denied(fold)?;
    for variant in variants {
        let full = variant.preset.model(fold)?;
        let [proposed, refined] = match variant.without {
            // The complete objective: the fold has this generator already.
            [] => measured(fold, full, &people)?,
            _ => {
                let trained = with_config(full, variant.config(full.config()), &mut |_| {}, Stop::never());
                measured(fold, &trained.map_err(|source| fold.case.fit_error(fold.name, source))?, &people)?
            }
        };
        add(sheet, &format!("{}/generate", variant.name()), &proposed);
        add(sheet, &format!("{}/refine", variant.name()), &refined);
    }
    Ok(())
}

/// The positions of the denied people of a fold.
pub(super) fn denied(fold: &Fold<'_>) -> Result<Vec<usize>, Error> {
    let answers = fold.answers()?;
    Ok((0..answers.len()).filter(|&place| answers[place].is_some()).collect())
}

/// The measures of a model's most probable rows, and of the rows after local search, under the same model.
pub(super) fn measured(
    fold: &Fold<'_>,
    model: &Model,
    people: &[usize],
) -> Result<[Vec<Option<AnswerMeasures>>; 2], Error> {
    let (mut solver, mut measurer) = (Solver::new(model), Measurer::new(model, &fold.code_units));
    let refine = Request { method: Method::Refine, ..Request::default() };
    let mut answers = [Vec::with_capacity(people.len()), Vec::with_capacity(people.len())];
    for &place in people {
        let cells = fold.people[place].cells();
        let proposed = solver.propose(&cells).map_err(|source| fold.row_error(place, source))?;
        let refined = solver.answer(&cells, &refine).map_err(|source| fold.row_error(place, source))?;
        let mut measured = |answer: &[String]| {
            let answer: Vec<&str> = answer.iter().map(String::as_str).collect();
            measurer.measure(&cells, &answer).map_err(|source| fold.row_error(place, source))
        };
        answers[0].push(Some(measured(&proposed)?));
        answers[1].push(refined.ways().first().map(|way| measured(&way.cells)).transpose()?);
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::paper::{PublishedAblation, benchmarks};
    use crate::test_case;

    #[test]
    fn variants_have_unique_names_and_include_all_published_ones() {
        let names: Vec<String> = variants().map(Variant::name).collect();
        let own: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(own.len(), names.len());
        assert_eq!([names[0].as_str(), &names[2], &names[15]], ["paper full", "paper -p+ -p-", "ours full"]);
        let papers: BTreeSet<String> = own
            .iter()
            .filter(|name| name.starts_with("paper"))
            .map(|name| format!("{name}/generate"))
            .collect();
        for benchmark in benchmarks().iter().filter(|benchmark| !benchmark.ablations.is_empty()) {
            let published: BTreeSet<String> =
                benchmark.ablations.iter().map(PublishedAblation::method).collect();
            assert_eq!(published, papers, "{}", benchmark.name);
        }
    }

    /// The total weight of every term.
    fn weights(config: &Config) -> [(TrainingPart, f64); 7] {
        let loss = &config.generator.loss;
        let plausibility = loss.plausibility_proximity * (1.0 - loss.alpha);
        [
            (TrainingPart::Proximity, loss.plausibility_proximity * loss.alpha),
            (TrainingPart::Accepted, plausibility * loss.accepted),
            (TrainingPart::Denied, plausibility * loss.denied),
            (TrainingPart::Sparsity, loss.sparsity),
            (TrainingPart::Validity, loss.validity),
            (TrainingPart::Entropy, loss.entropy),
            (TrainingPart::Teaching, loss.teaching),
        ]
    }

    #[test]
    fn a_left_out_term_has_weight_zero_and_the_others_keep_theirs() {
        let uneven = |mut full: Config| {
            full.generator.loss.alpha = 0.3;
            full.generator.loss.plausibility_proximity = 1.7;
            full
        };
        for variant in variants() {
            for full in [Config::paper(), Config::default(), uneven(Config::default())] {
                let config = variant.config(&full);
                for ((part, weight), (_, before)) in weights(&config).into_iter().zip(weights(&full)) {
                    let in_block = matches!(
                        part,
                        TrainingPart::Proximity | TrainingPart::Accepted | TrainingPart::Denied
                    );
                    let is_out = variant.without.contains(&part)
                        || in_block && variant.without.contains(&TrainingPart::Block);
                    assert_eq!(weight, if is_out { 0.0 } else { before }, "{}: {part:?}", variant.name());
                }
                let locked =
                    if variant.without.contains(&TrainingPart::Locks) { 0.0 } else { full.generator.locked };
                assert_eq!(config.generator.locked, locked);
                let mut rest = config;
                rest.generator.loss = full.generator.loss.clone();
                rest.generator.locked = full.generator.locked;
                assert_eq!(rest, full, "{} changes something else", variant.name());
            }
        }
    }

    #[test]
    fn denied_proposals_are_measured_too_and_refined_ones_are_valid() {
        let case = test_case::case(test_case::SCHEMA);
        let fold = test_case::fold(&case);
        let measured = |variants: &[Variant]| {
            let mut sheet = Sheet::new("t", "0");
            measure_variants(&fold, variants, &mut sheet).expect("figures");
            sheet.into_figures()
        };
        let figures = measured(&variants().collect::<Vec<_>>());
        assert_eq!(figures[..48], measured(&variants().take(2).collect::<Vec<_>>()));
        assert_eq!(figures.len(), 24 * 2 * 12);
        let people = denied(&fold).expect("readable rows").len();
        assert!(people > 0);
        let value = |method: &str, metric: &str| {
            let own = |figure: &&crate::Figure| figure.method == method && figure.metric.name == metric;
            let figure = figures.iter().find(own).expect("a figure");
            (figure.value, figure.over, figure.of)
        };
        let mut accepted = Vec::new();
        for variant in variants() {
            let (name, generate) = (variant.name(), format!("{}/generate", variant.name()));
            let (nll, over, of) = value(&generate, "nll");
            assert!(nll.is_some() && over == people && of == people, "{name}");
            assert_eq!(value(&generate, "actionability").0, Some(1.0));
            accepted.extend(value(&generate, "validity").0);
            let refine = format!("{name}/refine");
            let (validity, _, of) = value(&refine, "validity");
            let answered = value(&refine, "nll").1;
            assert_eq!((validity, of), (Some(answered as f64 / people as f64), people), "{name}");
        }
        assert!(accepted.iter().any(|share| *share < 1.0), "some proposal is denied");
    }

    #[test]
    fn without_denied_people_means_are_over_none() {
        let case = test_case::case(test_case::SCHEMA);
        let mut fold = test_case::fold(&case);
        fold.people.clear();
        let mut sheet = Sheet::new("t", "0");
        let variant = Variant { preset: VariantPreset::Ours, without: &[] };
        measure_variants(&fold, &[variant], &mut sheet).expect("figures");
        assert!(sheet.into_figures().iter().all(|figure| figure.value.is_none() && figure.of == 0));
    }
}
