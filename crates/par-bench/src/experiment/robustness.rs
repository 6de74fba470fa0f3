//! Whether answers hold when the classifier is retrained: with another seed, on another sample of the same rows, or in
//! another shape.
//!
//! Bins, threshold and answers stay the same. Each new classifier scores the answers (`score`); `validity` is the share
//! that it accepts, `kept` the share among answers that the deployed classifier accepts. `agreement` with the deployed
//! one on the fold's rows shows how different it is. Beside usual answers are those that should last, of [`lasting`].
//!
//! Native methods of others ask the deployed classifier as ours do; their names have the [`PREFIX`]. LiCE is slow and needs
//! a solver: it is asked about the first people only, and beside it are the answers of PAR to the same people, with the
//! changes of both. Recorded answers may be those to another classifier.
//!
//! # Paper
//! Appendix, "Robustness to Classifier Change": the mean score of answers of LiCE and PAR under another classifier.
//! Departure: the paper names no classifiers, so there are twelve; the share still accepted is measured too, and so are
//! the other baselines of table 1.

use par_answer::Method as Own;
use par_answer::evaluate::MethodAnswers;
use par_circuit::Code;
use par_fit::classifier::auc;
use par_model::Mean;

use super::lasting;
use super::peers::LICE_PEOPLE;
use super::retrained::retrained;
use crate::case::{Factual, Fold};
use crate::error::Error;
use crate::figures::{Metric, Sheet};
use crate::measures::{AnswerMeasures, Measurer};
use crate::method::Method;
use crate::peers::{Known, Lice, LiceAnswer, Likelihood, Native};

/// What the names of native methods begin with.
pub const PREFIX: &str = "robustness/";
/// LiCE on the first denied people of a fold.
pub const LICE: &str = "robustness/LiCE (median)";
/// PAR (+LS) by the paper's preset, on the people whom LiCE was asked about.
pub const PAR_BESIDE_LICE: &str = "robustness/PAR (+LS), LiCE's people";
/// The baselines of the paper's table 1 that are implemented here, but LiCE.
pub const NATIVE: [Native; 5] =
    [Native::FaceKnn, Native::FaceEpsilon, Native::Proplace, Native::Vae, Native::DiceRandom];

/// Measures every method's answers under every new classifier.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    let training = fold.labelled(&fold.training)?;
    let test = fold.labelled(&fold.test)?;
    let mut methods = methods(fold, sheet)?;
    methods.extend(lasting::measure(fold, &training, sheet)?);
    let threshold = fold.model.threshold();
    let is_accepted = |row: &[Code]| fold.model.probability(row) >= threshold;
    let deployed: Vec<bool> = test.rows.rows().map(is_accepted).collect();
    for (name, classifier) in &retrained(fold, &training)? {
        let at = |metric| Metric::at(metric, &[("classifier", name)]);
        let scores: Vec<f64> = test.rows.rows().map(|row| classifier.score(row)).collect();
        let agree = scores.iter().zip(&deployed).map(|(score, own)| (*score >= threshold) == *own);
        sheet.mean("classifier", at("agreement"), Mean::share(agree, scores.len()));
        let mean = auc(&scores, &test.accepted);
        sheet.mean("classifier", at("auc"), Mean { mean, over: scores.len(), of: scores.len() });
        for (method, answers) in &methods {
            let scores = || answers.iter().flatten().map(|row| classifier.score(row));
            sheet.mean(method, at("score"), Mean::new(scores(), answers.len()));
            let valid = scores().map(|score| score >= threshold);
            sheet.mean(method, at("validity"), Mean::share(valid, answers.len()));
            let once = answers.iter().flatten().filter(|row| is_accepted(row));
            let kept = once.map(|row| classifier.score(row) >= threshold);
            sheet.mean(method, at("kept"), Mean::share(kept, answers.len()));
        }
    }
    Ok(())
}

/// The codes of a method's answers to some people; `None` without an answer.
pub(super) type AnswerCodes = Vec<Option<Vec<Code>>>;

fn methods(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<Vec<(String, AnswerCodes)>, Error> {
    let rows = |answers: &[Option<MethodAnswers>], own: Own| -> AnswerCodes {
        let row = |answers: &MethodAnswers| answers.way(own as usize).map(|way| way.row.clone());
        answers.iter().flatten().map(row).collect()
    };
    let answers = fold.answers()?;
    let mut methods: Vec<(String, AnswerCodes)> =
        Own::ALL.into_iter().map(|own| (own.name().to_string(), rows(answers, own))).collect();
    // It shares the bins of the fold's model, so its codes mean the same.
    methods.push(("paper/refine".to_string(), rows(fold.paper_answers()?, Own::Refine)));
    let denied: Vec<usize> = (0..answers.len()).filter(|&person| answers[person].is_some()).collect();
    let known = Known::new(fold, fold.case.config.seed)?;
    for native in NATIVE {
        let answers = asked(fold, &mut *native.prepare(&known), &denied);
        methods.push((format!("{PREFIX}{}", native.name()), codes(fold, &answers)));
    }
    let program = fold.case.highs.as_ref();
    if let Some(lice) = program.and_then(|program| Lice::new(&known, Likelihood::Median, program)) {
        let people = &denied[..denied.len().min(LICE_PEOPLE)];
        let mut answers = Vec::new();
        for &person in people {
            answers.push(match lice.answer(&fold.people[person])? {
                LiceAnswer::Found(cells) => Some(cells),
                LiceAnswer::Infeasible | LiceAnswer::OutOfTime => None,
            });
        }
        methods.extend(beside_par(fold, people, answers, sheet)?);
    }
    for peer in &fold.case.peers {
        let answers = asked(fold, &mut peer.of_fold(fold.name), &denied);
        methods.push((peer.name().to_string(), codes(fold, &answers)));
    }
    Ok(methods)
}

/// The answers of a method to some people, as cells.
fn asked(fold: &Fold<'_>, method: &mut dyn Method, people: &[usize]) -> Vec<Option<Vec<String>>> {
    people.iter().map(|&person| method.answer(&fold.people[person])).collect()
}

/// Answers as codes. One with an unseen category cannot be read, and counts as none.
fn codes(fold: &Fold<'_>, answers: &[Option<Vec<String>>]) -> AnswerCodes {
    let read = |cells: &Vec<String>| {
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        Some(fold.model.discretizer().encode_row(&cells).ok()?.into_codes())
    };
    answers.iter().map(|cells| read(cells.as_ref()?)).collect()
}

/// The answers of LiCE to some people and those of PAR (+LS) to the same; adds the changes of both.
fn beside_par(
    fold: &Fold<'_>,
    people: &[usize],
    of_lice: Vec<Option<Vec<String>>>,
    sheet: &mut Sheet,
) -> Result<[(String, AnswerCodes); 2], Error> {
    let paper = fold.paper_answers()?;
    let refined = |person: &usize| {
        let way = paper[*person].as_ref()?.way(Own::Refine as usize)?;
        Some(way.cells.clone())
    };
    let both = [(LICE, of_lice), (PAR_BESIDE_LICE, people.iter().map(refined).collect::<Vec<_>>())];
    let mut measurer = Measurer::new(&fold.model, &fold.code_units);
    let mut measured = |person: &Factual, cells: &[String]| {
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        measurer.measure(&person.cells(), &cells).ok()
    };
    for (name, answers) in &both {
        let answered = people.iter().zip(answers);
        let measures: Vec<AnswerMeasures> =
            answered.filter_map(|(&person, cells)| measured(&fold.people[person], cells.as_ref()?)).collect();
        let mean =
            |measure: fn(&AnswerMeasures) -> f64| Mean::new(measures.iter().map(measure), people.len());
        sheet.mean(name, "sparsity", mean(|measured| measured.sparsity));
        sheet.mean(name, "similarity", mean(|measured| measured.similarity));
    }
    Ok(both.map(|(name, answers)| (name.to_string(), codes(fold, &answers))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_case;

    /// NICE stands in for LiCE, which needs a solver.
    #[test]
    fn par_is_measured_on_the_people_whom_lice_was_asked_about() {
        let case = test_case::case(test_case::SCHEMA);
        let fold = test_case::fold(&case);
        let known = Known::new(&fold, 0).expect("training rows");
        let people = &fold.denied()[..3];
        let mut sheet = Sheet::new("t", "0");
        let nearest = asked(&fold, &mut *Native::Nice.prepare(&known), people);
        let both = beside_par(&fold, people, nearest, &mut sheet).expect("answers");
        let [(lice, of_lice), (par, of_par)] = &both;
        assert_eq!([lice.as_str(), par], [LICE, PAR_BESIDE_LICE]);
        let paper = fold.paper_answers().expect("answers");
        for ((&person, lice), par) in people.iter().zip(of_lice).zip(of_par) {
            let way = paper[person].as_ref().and_then(|answers| answers.way(Own::Refine as usize));
            assert_eq!(*par, way.map(|way| way.row.clone()));
            let nearest = Native::Nice.prepare(&known).answer(&fold.people[person]);
            assert_eq!(*lice, codes(&fold, &[nearest])[0]);
        }
        let figures = sheet.into_figures();
        let names: Vec<(&str, &str, usize)> = figures
            .iter()
            .map(|figure| (figure.method.as_str(), figure.metric.name.as_str(), figure.of))
            .collect();
        assert_eq!(
            names,
            [
                (LICE, "sparsity", 3),
                (LICE, "similarity", 3),
                (PAR_BESIDE_LICE, "sparsity", 3),
                (PAR_BESIDE_LICE, "similarity", 3)
            ]
        );
        assert!(figures.iter().all(|figure| figure.value.is_some_and(|value| value > 0.0)));
    }
}
