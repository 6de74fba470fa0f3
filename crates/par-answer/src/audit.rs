//! Finds where a classifier rewards harm: where getting worse raises the score.

use par_circuit::threads;
use par_data::schema::Direction;
use par_data::{Code, UNKNOWN};
use par_model::{Mean, Model, RowError};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::request::Request;
use crate::solver::Solver;
use crate::words;

/// A rise of the score that nobody would notice.
const NOTICED: f64 = 0.01;

/// What an audit finds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Audit {
    /// The number of people.
    pub people: usize,
    /// How many are denied.
    pub denied: usize,
    /// For each feature of which the schema says which direction is better, in schema order.
    pub features: Vec<RewardedHarm>,
    /// Features that may change, of which the schema does not say which direction is better.
    pub not_known: Vec<String>,
    /// How many denied people get a way.
    pub with_way: usize,
    /// How many of these ways make something worse.
    pub with_harm: usize,
    /// How many denied people get a way that makes nothing worse.
    pub with_way_without_harm: usize,
}

/// How a classifier rewards changes of one feature for the worse.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RewardedHarm {
    /// The feature.
    pub feature: String,
    /// The direction that the schema calls better.
    pub better: &'static str,
    /// How many people could get worse.
    pub people: usize,
    /// How many of them would score noticeably higher.
    pub rewarded: usize,
    /// The mean of their gains.
    pub mean_gain: Option<f64>,
    /// How many denied people would be accepted by getting worse alone.
    pub accepted: usize,
    /// The change with the highest gain, in words.
    pub example: Option<String>,
    /// Whether the schema lets the feature change in that direction, so that ways could use it.
    pub may_be_used: bool,
    /// How many ways use it.
    pub ways: usize,
}

/// The best that getting worse in one feature does for one person.
struct Gain {
    score: f64,
    by: f64,
    words: String,
}

/// One person: what getting worse does for them, and their ways.
struct AuditedPerson {
    is_denied: bool,
    /// For each audited feature; `None` if they could not get worse.
    gains: Vec<Option<Gain>>,
    has_way: bool,
    /// The features (positions) that their way makes worse.
    harms: Vec<usize>,
    has_way_without_harm: bool,
}

/// Audits a model on some rows, each its cells in schema order.
///
/// # Errors
/// At the first row whose cells do not fit or that has no score, with its position.
pub fn audit(model: &Model, rows: &[Vec<&str>]) -> Result<Audit, (usize, RowError)> {
    let features = model.schema().features();
    let audited: Vec<(usize, Direction)> = (features.iter().enumerate())
        .filter_map(|(position, feature)| Some((position, feature.improves?)))
        .collect();
    let person = |solver: &mut Solver<'_>, row: usize| {
        AuditedPerson::new(solver, &rows[row], &audited).map_err(|error| (row, error))
    };
    let people: Vec<AuditedPerson> = threads::map_with(0..rows.len(), || Solver::new(model), person)
        .into_iter()
        .collect::<Result<_, _>>()?;
    let count = |is: &dyn Fn(&AuditedPerson) -> bool| people.iter().filter(|person| is(person)).count();
    let not_known = (features.iter().enumerate())
        .filter(|(position, feature)| {
            !model.constraints().is_immutable(*position) && feature.improves.is_none()
        })
        .map(|(_, feature)| feature.name.clone());
    Ok(Audit {
        people: people.len(),
        denied: count(&|person| person.is_denied),
        features: (0..audited.len()).map(|place| harm(model, audited[place], place, &people)).collect(),
        not_known: not_known.collect(),
        with_way: count(&|person| person.has_way),
        with_harm: count(&|person| !person.harms.is_empty()),
        with_way_without_harm: count(&|person| person.has_way_without_harm),
    })
}

fn harm(
    model: &Model,
    (position, better): (usize, Direction),
    place: usize,
    people: &[AuditedPerson],
) -> RewardedHarm {
    let feature = &model.schema().features()[position];
    let gains = || people.iter().filter_map(|person| Some((person, person.gains[place].as_ref()?)));
    let rewarded = || gains().filter(|(_, gain)| gain.by > NOTICED);
    let highest = rewarded().map(|(_, gain)| gain).max_by(|a, b| a.by.total_cmp(&b.by));
    let is_accepted = |person: &AuditedPerson, gain: &Gain| {
        person.is_denied && model.scale().reaches(gain.score, model.threshold())
    };
    RewardedHarm {
        feature: feature.name.clone(),
        better: better.name(),
        people: gains().count(),
        rewarded: rewarded().count(),
        mean_gain: Mean::new(rewarded().map(|(_, gain)| gain.by), people.len())
            .mean
            .map(|gain| model.scale().in_unit(gain)),
        accepted: rewarded().filter(|(person, gain)| is_accepted(person, gain)).count(),
        example: highest.map(|gain| gain.words.clone()),
        may_be_used: !feature.is_immutable() && feature.direction() != Some(better),
        ways: people.iter().filter(|person| person.harms.contains(&position)).count(),
    }
}

impl AuditedPerson {
    fn new(
        solver: &mut Solver<'_>,
        cells: &[&str],
        audited: &[(usize, Direction)],
    ) -> Result<Self, RowError> {
        let model = solver.model();
        let score = model.score(cells)?;
        let codes = model.discretizer().encode_row(cells)?.into_codes();
        let gains = audited
            .iter()
            .map(|&(feature, better)| gain(model, cells, score, feature, better, codes[feature]));
        let gains = gains.collect();
        let answer = solver.answer(cells, &Request::default())?;
        let is_denied = !matches!(answer, Answer::Accepted { .. });
        let harms: Vec<usize> = (answer.ways().first().into_iter())
            .flat_map(|way| way.changes.iter().chain(&way.consequences))
            .filter(|change| change.is_harm)
            .map(|change| change.feature)
            .collect();
        let has_way = !answer.ways().is_empty();
        let has_way_without_harm = has_way
            && (harms.is_empty()
                || !solver
                    .answer(cells, &Request { no_harm: true, ..Request::default() })?
                    .ways()
                    .is_empty());
        Ok(Self { is_denied, gains, has_way, harms, has_way_without_harm })
    }
}

/// The highest score that getting worse in a feature gives; `None` if nothing is worse than its value.
fn gain(
    model: &Model,
    cells: &[&str],
    score: f64,
    feature: usize,
    better: Direction,
    own: Code,
) -> Option<Gain> {
    let domain = &model.discretizer().domains()[feature];
    let ordinary = domain.ordinary() as Code;
    if own == UNKNOWN || own >= ordinary {
        return None;
    }
    let worse = match better {
        Direction::Increase => 0..own,
        Direction::Decrease => own + 1..ordinary,
    };
    let described = &model.schema().features()[feature];
    let gain = |code: Code| {
        let text = model.discretizer().typical_text(feature, code);
        let mut changed = cells.to_vec();
        changed[feature] = &text;
        let worse = model.score(&changed).ok()?;
        let by = model.scale().sureness(worse) - model.scale().sureness(score);
        Some(Gain { score: worse, by, words: words::cells(described, cells[feature], &text) })
    };
    worse.filter_map(gain).max_by(|a, b| a.by.total_cmp(&b.by))
}
