//! Compares answers with the rows that listing finds.

use par_answer::{
    Accepting, Answer, Change as WayChange, Found, Method, NotFound, Obstacle, Order, Reason, Request,
    Solver, Solves, Way,
};
use par_data::Reach;
use par_model::ScoreScale;
use par_model::classifier::Version;

use crate::meaning::Asking;
use crate::rows::{Case, Row};
use crate::world::{Change, Relation, Value};

/// Worths, scores and log-likelihoods that count as equal.
const WORTH: f64 = 5e-4;

macro_rules! ensure {
    ($holds:expr, $($words:tt)*) => {
        let holds: bool = $holds;
        if !holds {
            return Err(format!($($words)*));
        }
    };
}

/// How many answers of each kind were checked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checked {
    pub(crate) accepted: usize,
    pub(crate) found: usize,
    pub(crate) not_found: usize,
    pub(crate) proved: usize,
    pub(crate) obstacles: usize,
    pub(crate) ways: usize,
    /// Ways that versions must accept.
    pub(crate) lasting: usize,
    /// Ways of which a change may fall short.
    pub(crate) missed: usize,
    pub(crate) skipped: usize,
    /// People for whom `refine` finds no way: those with a proof that there is none, and those without.
    pub(crate) without_way: [usize; 2],
}

/// The scores and the likelihood that a request asks for.
struct Aims {
    threshold: f64,
    offered_from: f64,
    sure: f64,
    /// The log-likelihoods of the pool's rows, given what the person cannot change, ascending.
    pool: Vec<f64>,
    /// That of a plausible row.
    floor: f64,
    /// That of a row that may be offered at all.
    least: f64,
    order: Order,
    effort_weight: f64,
    price: f64,
    /// The most changes of the usual search.
    budget: usize,
    /// How far scores may be rounded.
    rounding: f64,
    /// Whether the search finds a way if there is one. What follows from a change that falls short, and which policies
    /// that breaks, it learns only afterwards.
    is_complete: bool,
}

impl Aims {
    fn new(case: &Case<'_>, asking: &Asking) -> Self {
        let request = &asking.request;
        let (model, answers) = (&case.made.model, &case.made.model.config().answers);
        let wanted = request.threshold.unwrap_or(model.threshold());
        let reads_values = model.classifier().reads_values();
        let threshold = case.sureness(wanted);
        let (margin, rounding, highest) = match model.scale() {
            ScoreScale::Probability => (request.margin.unwrap_or(answers.margin), 1e-5, 1.0),
            ScoreScale::Number { spread, .. } => {
                let margin = request.margin.map_or(answers.margin, |margin| margin / spread);
                (margin, 1e-5 * (wanted.abs() / spread).max(1.0), f64::INFINITY)
            }
        };
        let harder = |by: f64| (threshold + by).min(f64::midpoint(threshold, highest));
        let offered_from = if reads_values { harder(rounding) } else { threshold };
        let pool = case.pool(asking);
        // The row of the pool that is no likelier than all but so many.
        let floor = |share: f64| match (share * pool.len() as f64).ceil() as usize {
            0 => f64::NEG_INFINITY,
            place => pool[place - 1],
        };
        // Without a part of the schema every accepted row counts.
        let share = match asking.lifted.is_empty() {
            true => request.min_percentile.unwrap_or(answers.min_percentile),
            false => 0.0,
        };
        let order = request.order.unwrap_or(Order::Balanced);
        Self {
            threshold,
            offered_from,
            sure: harder(margin).max(offered_from),
            floor: floor(share.max(0.1)),
            least: floor(share),
            pool,
            order,
            effort_weight: if order == Order::Balanced { answers.effort_weight } else { 0.0 },
            price: answers.price,
            budget: request.budget.unwrap_or(answers.budget),
            rounding: match request.robust {
                Some(_) => 1e-4,
                None if reads_values => 1e-5,
                None => 1e-12,
            },
            is_complete: {
                let world = case.meaning.world;
                let follows = |relation: &Relation| matches!(relation, Relation::Follows { .. });
                !request.slack || world.policies.is_empty() && !world.relations.iter().any(follows)
            },
        }
    }

    /// `likelihood` is that of the values: of their codes, and how rare they are within them.
    fn worth(&self, solves: Solves, likelihood: f64, effort: f64) -> f64 {
        match solves {
            Solves::LeastEffort => 1e-4 * likelihood - effort,
            Solves::Likeliest => likelihood - self.effort_weight * effort,
        }
    }

    /// Whether a row is good enough for a problem: surely, or possibly if rounding helps.
    fn is_feasible(&self, row: &Row, solves: Solves, score: f64, surely: bool) -> bool {
        let slack = |size: f64| if surely { size } else { -size };
        let floor = if solves == Solves::Likeliest { self.least } else { self.floor };
        row.score >= score + slack(self.rounding) && row.conditional >= floor + slack(1e-4)
    }
}

/// Checks the answers of all methods to one person.
pub(crate) fn check(case: &Case<'_>, asking: &Asking, checked: &mut Checked) -> Result<(), String> {
    check_candidates(case, asking)?;
    let model = &case.made.model;
    let cells: Vec<&str> = case.cells.iter().map(String::as_str).collect();
    let mut solver = Solver::new(model);
    let aims = Aims::new(case, asking);
    let own_score = case.sureness(model.score(&cells).map_err(|error| error.to_string())?);
    let is_accepted = own_score >= aims.threshold && case.meaning.keeps_policies(&case.own, asking);
    let mut listed = Vec::new();
    for reach in reaches(case, asking) {
        match case.rows(asking, *reach) {
            Some(rows) => listed.push(rows?),
            None => {
                checked.skipped += 1;
                return Ok(());
            }
        }
    }
    for method in Method::ALL {
        let request = Request { method, ..asking.request.clone() };
        let answer = solver.answer(&cells, &request).map_err(|error| error.to_string())?;
        let asking = Asking { request, ..asking.clone() };
        let check = match &answer {
            Answer::Accepted { probability, .. } => {
                checked.accepted += 1;
                let is_same = case.sureness(*probability) == own_score;
                ensure!(is_accepted && is_same, "{method:?}: accepted with {own_score}");
                Ok(())
            }
            _ if is_accepted => Err("denied, but accepted as they are".to_string()),
            _ if case.codes.iter().all(|code| *code == par_data::UNKNOWN) => Ok(()),
            Answer::Found(found) => check_found(case, &asking, &aims, &listed, found, checked),
            Answer::NotFound(none) => check_not_found(case, &asking, &aims, &listed, none, checked),
        };
        check.map_err(|error| format!("{method:?}: {error}\n{answer:#?}"))?;
    }
    Ok(())
}

/// What candidates are searched, until something is found.
fn reaches(case: &Case<'_>, asking: &Asking) -> &'static [Reach] {
    match case.reads_values(asking) {
        true => &[Reach::Values, Reach::AllValues],
        false => &[Reach::Codes],
    }
}

/// Every candidate is legal by itself, and every code with a legal value has a candidate.
fn check_candidates(case: &Case<'_>, asking: &Asking) -> Result<(), String> {
    let meaning = case.meaning;
    for reach in [Reach::Codes, Reach::Values, Reach::AllValues] {
        for (feature, list) in case.lists(asking, reach).iter().enumerate() {
            let own = &list[0];
            for to in &list[1..] {
                ensure!(to != own, "f{feature}: its own value {own:?} is a candidate twice");
                ensure!(
                    meaning.is_legal(feature, own, to, asking),
                    "f{feature}: {own:?} may not become {to:?}, which is a candidate"
                );
            }
            let is_held = meaning.world.relations.iter().any(|relation| match relation {
                // An unknown cell may hold it.
                Relation::Follows { sources, .. } => sources.contains(&feature),
                // Another feature may be unable to move with it.
                Relation::Together(features) => features.contains(&feature),
                Relation::Rule { when, .. } => when.0 == feature,
                _ => false,
            });
            if is_held {
                continue;
            }
            let numbers = meaning.numbers(feature).into_iter().map(Value::Number);
            let categories = (0..meaning.world.features[feature].values.len()).map(Value::Category);
            for value in numbers.chain(categories) {
                let code = meaning.ordinary_code(feature, &value);
                let is_missed = code.is_some()
                    && code != meaning.ordinary_code(feature, own)
                    && meaning.is_legal(feature, own, &value, asking)
                    && !list[1..].iter().any(|to| meaning.ordinary_code(feature, to) == code);
                ensure!(
                    !is_missed,
                    "f{feature}: {own:?} may become {value:?}, and its code has no candidate"
                );
            }
        }
    }
    Ok(())
}

fn check_found(
    case: &Case<'_>,
    asking: &Asking,
    aims: &Aims,
    listed: &[Vec<Row>],
    found: &Found,
    checked: &mut Checked,
) -> Result<(), String> {
    checked.found += 1;
    let request = &asking.request;
    ensure!(!found.ways.is_empty() && found.ways.len() <= request.count, "{} ways", found.ways.len());
    for (place, way) in found.ways.iter().enumerate() {
        checked.ways += 1;
        checked.lasting += usize::from(request.robust.is_some());
        checked.missed += usize::from(request.slack);
        let conditional = way.conditional_log_likelihood;
        ensure!(conditional >= aims.least - 1e-4, "way {place} is rarer than {}", aims.least);
        check_way(case, asking, aims, way).map_err(|error| format!("way {place}: {error}"))?;
        for (before, other) in found.ways[..place].iter().enumerate() {
            ensure!(!dominates(case, other, way), "way {before} dominates way {place}");
            ensure!(!dominates(case, way, other), "way {place} dominates way {before}");
            let is_kept = |change: &WayChange| way.changes.iter().any(|own| own.feature == change.feature);
            let lasts = |way: &Way| way.accepting.is_some_and(Accepting::all);
            let is_first_to_last = lasts(way) && !found.ways[..place].iter().any(lasts);
            ensure!(
                is_first_to_last || !other.changes.iter().all(is_kept),
                "way {place} makes all changes of way {before}"
            );
        }
    }
    let budget = request.budget.unwrap_or(usize::MAX);
    let is_offered = |row: &Row, surely| {
        row.changed.len() <= budget && aims.is_feasible(row, Solves::Likeliest, aims.offered_from, surely)
    };
    let is_first =
        (aims.is_complete || listed.len() == 1) && listed[0].iter().any(|row| is_offered(row, true));
    let is_second = !listed[0].iter().any(|row| is_offered(row, false));
    let place = match (is_first, is_second) {
        (true, _) => 0,
        (_, true) => listed.len() - 1,
        _ => return Ok(()),
    };
    let rows = &listed[place];
    ensure!(rows.iter().any(|row| is_offered(row, false)), "a way was found, and there is none");
    let rows = (rows.as_slice(), reaches(case, asking)[place]);
    check_best(case, asking, aims, rows, found).map(|proved| checked.proved += proved)
}

fn check_best(
    case: &Case<'_>,
    asking: &Asking,
    aims: &Aims,
    (rows, reach): (&[Row], Reach),
    found: &Found,
) -> Result<usize, String> {
    let request = &asking.request;
    let rarity = |changes: &[(usize, String)]| {
        let features = &case.meaning.world.features;
        let changes: Vec<(usize, Value)> =
            changes.iter().map(|(feature, cell)| (*feature, features[*feature].value(cell))).collect();
        case.rarity(asking, reach, &changes).unwrap_or(0.0)
    };
    let cells_of = |way: &Way| -> Vec<(usize, String)> {
        way.changes.iter().map(|change| (change.feature, change.value.clone())).collect()
    };
    let exists = |budget: usize, solves: Solves, score: f64, surely: bool| {
        rows.iter().any(|row| row.changed.len() <= budget && aims.is_feasible(row, solves, score, surely))
    };
    // What the first way solves, and how sure it has to be: the first problem with a row.
    let mut problems = vec![(Solves::Likeliest, aims.sure), (Solves::Likeliest, aims.offered_from)];
    if aims.order == Order::Balanced {
        problems.insert(0, (Solves::LeastEffort, aims.sure));
    }
    // Beyond the model's budget only if there is none within it.
    let within = problems.iter().map(|&problem| (aims.budget, problem));
    let beyond = problems.iter().map(|&problem| (request.budget.unwrap_or(usize::MAX), problem));
    let problems: Vec<_> = within.clone().chain(beyond).collect();
    let first = problems.iter().position(|&(budget, (solves, score))| exists(budget, solves, score, true));
    let earlier = &problems[..first.unwrap_or(problems.len())];
    let may_exist = |&(budget, (solves, score)): &_| exists(budget, solves, score, false);
    if aims.is_complete && earlier.iter().any(may_exist) {
        return Ok(0);
    }
    let is_deeper = first.is_none_or(|first| first >= within.len());
    // Without a proof of the problems before it, only the last one is searched for with a proof.
    let last = (Solves::Likeliest, aims.offered_from);
    let way = &found.ways[0];
    let (solves, score) = match request.method {
        _ if !aims.is_complete => (way.solves, if way.has_margin { aims.sure } else { aims.offered_from }),
        Method::Exact => first.map_or(last, |first| problems[first].1),
        Method::Generate | Method::Refine => last,
    };
    if request.method == Method::Exact && aims.is_complete {
        let reads_values = case.reads_values(asking);
        ensure!(way.solves == solves, "the first way solves {:?}, expected {solves:?}", way.solves);
        let own = case.sureness(way.probability);
        ensure!(own >= score - 1e-9, "the first way has {own}, expected {score}");
        ensure!(is_deeper || reads_values || way.gap == Some(0.0), "a gap of {:?}", way.gap);
        if !is_deeper && way.gap == Some(0.0) {
            let price = if solves == Solves::Likeliest { aims.price } else { 0.0 };
            let net = |conditional: f64, effort: f64, changes: usize| {
                aims.worth(solves, conditional, effort) - price * changes as f64
            };
            let own =
                net(way.conditional_log_likelihood + rarity(&cells_of(way)), way.effort, way.changes.len());
            // Hardly less effort is not worth a further change: the least effort is that of as many.
            let most = match solves {
                Solves::LeastEffort => way.changes.len(),
                Solves::Likeliest => aims.budget,
            };
            let feasible = rows
                .iter()
                .filter(|row| row.changed.len() <= most && aims.is_feasible(row, solves, score, true));
            let best = feasible.max_by(|a, b| {
                let net = |row: &Row| net(row.likelihood(), row.effort, row.changed.len());
                net(a).total_cmp(&net(b))
            });
            let Some(best) = best else {
                // The way itself may be within rounding of what is plausible or sure.
                let is_possible =
                    |row: &Row| row.changed.len() <= most && aims.is_feasible(row, solves, score, false);
                ensure!(rows.iter().any(is_possible), "no row is feasible");
                return Ok(0);
            };
            let most = net(best.likelihood(), best.effort, best.changed.len());
            ensure!(own >= most - WORTH, "the first way is worth {own}, and this row {most}: {best:?}");
        }
    }
    if found.fewest_proved {
        let fewest = found.frontier[0].changes.len();
        let fewer = rows
            .iter()
            .find(|row| row.changed.len() < fewest && aims.is_feasible(row, Solves::Likeliest, score, true));
        ensure!(fewer.is_none(), "fewer than {fewest} changes are enough: {fewer:?}");
    }
    // Later ways are searched for with the first margin that the first way has.
    let mut proved = 0;
    for (place, way) in found.ways.iter().enumerate().filter(|(_, way)| way.gap == Some(0.0)) {
        proved += 1;
        let own = aims.worth(way.solves, way.conditional_log_likelihood + rarity(&cells_of(way)), way.effort);
        let leaves_out = |row: &Row, other: &Way| {
            other.changes.iter().any(|change| !row.changed.contains(&change.feature))
        };
        let better = rows.iter().find(|row| {
            row.changed.len() <= way.changes.len()
                && aims.is_feasible(row, way.solves, score, true)
                && found.ways[..place].iter().all(|other| leaves_out(row, other))
                && aims.worth(way.solves, row.likelihood(), row.effort) > own + WORTH
        });
        ensure!(better.is_none(), "way {place} is worth {own}, and this row more: {better:?}");
    }
    for point in found.frontier.iter().filter(|point| point.gap == Some(0.0)) {
        let own = aims.worth(solves, point.conditional_log_likelihood + rarity(&point.changes), point.effort);
        let better = rows.iter().find(|row| {
            row.changed.len() <= point.changes.len()
                && aims.is_feasible(row, solves, score, true)
                && aims.worth(solves, row.likelihood(), row.effort) > own + WORTH
        });
        ensure!(better.is_none(), "a point is worth {own}, and this row more: {better:?}");
    }
    Ok(proved)
}

fn check_way(case: &Case<'_>, asking: &Asking, aims: &Aims, way: &Way) -> Result<(), String> {
    let (meaning, model, request) = (case.meaning, &case.made.model, &asking.request);
    let features = &meaning.world.features;
    let cells: Vec<&str> = way.cells.iter().map(String::as_str).collect();
    let encoded = model.discretizer().encode_row(&cells).map_err(|error| error.to_string())?;
    ensure!(encoded.codes() == way.row, "its cells have the codes {:?}", encoded.codes());
    let values: Vec<Value> = features.iter().zip(&cells).map(|(feature, cell)| feature.value(cell)).collect();
    let changed: Vec<usize> = way.changes.iter().map(|change| change.feature).collect();
    let followed: Vec<usize> = way.consequences.iter().map(|change| change.feature).collect();
    let by_itself =
        |feature: &usize| matches!(features[*feature].change, Change::WithTime(..) | Change::Follows);
    for (feature, value) in values.iter().enumerate() {
        let moved = *value != case.own[feature];
        let is_listed = changed.contains(&feature) || followed.contains(&feature);
        ensure!(moved == is_listed, "f{feature} changes: {moved}, is listed: {is_listed}");
        ensure!(moved || way.cells[feature] == case.cells[feature], "f{feature} stays, with another text");
    }
    ensure!(!changed.is_empty() && !changed.iter().any(by_itself), "it acts on {changed:?}");
    ensure!(followed.iter().all(by_itself), "{followed:?} follow");
    let actions: Vec<(usize, Value)> =
        changed.iter().map(|&feature| (feature, values[feature].clone())).collect();
    let round =
        case.round(&case.lists(asking, Reach::Codes)).max(case.round(&case.lists(asking, Reach::AllValues)));
    let outcomes = [1, round].map(|round| meaning.outcome(&case.own, &actions, asking, round));
    let outcome = outcomes
        .into_iter()
        .flatten()
        .find(|outcome| outcome.months == way.months && outcome.values == values);
    let Some(outcome) = outcome else {
        let plain = meaning.outcome(&case.own, &actions, asking, 1);
        return Err(format!("{actions:?} in {} months are illegal, or come to {plain:?}", way.months));
    };
    ensure!((outcome.effort - way.effort).abs() < 1e-6, "its effort is {}", outcome.effort);
    ensure!(request.max_effort.is_none_or(|most| way.effort <= most * (1.0 + 1e-9)), "too much effort");
    ensure!(request.within.is_none_or(|most| way.months <= most), "too long");
    ensure!(request.budget.is_none_or(|most| changed.len() <= most), "too many changes");
    let score = case.score(&values)?;
    ensure!((score - case.sureness(way.probability)).abs() <= 1e-9, "its score as written is {score}");
    ensure!(score >= aims.offered_from, "it is denied");
    check_lasting(case, asking, aims, way, &actions, &values)?;
    ensure!(meaning.keeps_policies(&values, asking), "it breaks a policy");
    ensure!((way.log_likelihood - case.log_prob(&values)?).abs() < 1e-4, "its likelihood");
    let conditional = case.conditional(&values, asking)?;
    ensure!((way.conditional_log_likelihood - conditional).abs() < 1e-4, "given the rest {conditional}");
    let below =
        |most: f64| aims.pool.partition_point(|other| *other <= most) as f64 / aims.pool.len().max(1) as f64;
    let percentiles = below(conditional - 1e-4)..=below(conditional + 1e-4);
    ensure!(percentiles.contains(&way.percentile), "its percentile is in {percentiles:?}");
    for change in way.changes.iter().chain(&way.consequences) {
        let (own, to) = (&case.own[change.feature], &values[change.feature]);
        let harms = meaning.is_harm(change.feature, own, to);
        ensure!(change.is_harm == harms, "f{} harms: {harms}", change.feature);
        let is_clock = matches!(features[change.feature].change, Change::WithTime(..));
        ensure!(!request.no_harm || !harms || is_clock, "f{} gets worse", change.feature);
    }
    for change in &way.changes {
        check_alone(case, asking, way, change, &values)?;
    }
    let to = |change: &WayChange| change.value.parse::<f64>().ok();
    let least = |change: &WayChange| Some([change.least?, to(change)?]);
    for range in [&|change: &WayChange| change.range, &least as &dyn Fn(&WayChange) -> Option<[f64; 2]>] {
        check_ranges(case, asking, aims, way, &actions, range)?;
    }
    let is_usual = conditional >= aims.least - 1e-4;
    if is_usual && way.changes.iter().any(|change| change.least.is_some()) {
        check_least(case, asking, aims, way, &actions)?;
    }
    Ok(())
}

/// Checks that a way withstands what the request asks for, with the margin if it says so, and how many versions accept it.
fn check_lasting(
    case: &Case<'_>,
    asking: &Asking,
    aims: &Aims,
    way: &Way,
    actions: &[(usize, Value)],
    values: &[Value],
) -> Result<(), String> {
    let versions = case.made.model.versions();
    let cells: Vec<&str> = way.cells.iter().map(String::as_str).collect();
    let accepts = |version: &&Version| {
        let log_odds = version.classifier.log_odds(&cells, &way.row).expect("a score");
        version.scale.reaches(version.scale.score(log_odds), version.threshold)
    };
    let accepting = versions.iter().filter(accepts).count();
    let said = way.accepting.map(|accepting| [accepting.versions, accepting.of]);
    // A version within rounding of its threshold is not counted.
    let is_said = said.map_or(versions.is_empty(), |[own, of]| own <= accepting && of == versions.len());
    ensure!(is_said, "{accepting} versions accept it, not {said:?}");
    let share = asking.request.robust.unwrap_or(0.0);
    ensure!(accepting as f64 >= share * versions.len() as f64, "only {accepting} versions accept it");
    let mut withstood = Vec::new();
    for &reach in reaches(case, asking) {
        let lists = case.lists(asking, reach);
        if actions.iter().all(|(feature, to)| lists[*feature].contains(to)) {
            withstood.push(case.withstood(asking, &lists, actions, values)?);
        }
    }
    let reaches = |score: f64| withstood.iter().any(|own| *own >= score);
    let slack = if aims.rounding > 1e-9 { aims.rounding } else { 0.0 };
    ensure!(reaches(aims.offered_from - slack), "it withstands {withstood:?}, not {}", aims.offered_from);
    let is_close = withstood.iter().any(|own| (own - aims.sure).abs() < slack);
    ensure!(is_close || way.has_margin == reaches(aims.sure), "its margin: it withstands {withstood:?}");
    Ok(())
}

/// Checks the probability of acceptance if only one thing changes, when all changes are through.
fn check_alone(
    case: &Case<'_>,
    asking: &Asking,
    way: &Way,
    change: &WayChange,
    values: &[Value],
) -> Result<(), String> {
    let mut alone = case.own.clone();
    alone[change.feature] = values[change.feature].clone();
    let is_possible = case.meaning.pass_time(&case.own, way.months, &mut alone).is_some()
        && case.meaning.compute(&case.own, &mut alone).is_some()
        && case.meaning.keeps_relations(&case.own, &alone, asking);
    let harms = |feature: usize| {
        let follows = case.meaning.world.features[feature].change == Change::Follows;
        follows && case.meaning.is_harm(feature, &case.own[feature], &alone[feature])
    };
    let is_harmless = !asking.request.no_harm || !(0..alone.len()).any(harms);
    let expected = if is_possible && is_harmless { Some(case.score(&alone)?) } else { None };
    let is_close = match (expected, change.alone) {
        (Some(expected), Some(found)) => (expected - case.sureness(found)).abs() < 1e-4,
        (expected, found) => expected.is_none() && found.is_none(),
    };
    ensure!(is_close, "f{} alone has {:?}, expected {expected:?}", change.feature, change.alone);
    Ok(())
}

/// Checks that numbers at the ends of all ranges would do as well, and all legal ones between them.
fn check_ranges(
    case: &Case<'_>,
    asking: &Asking,
    aims: &Aims,
    way: &Way,
    actions: &[(usize, Value)],
    range: &dyn Fn(&WayChange) -> Option<[f64; 2]>,
) -> Result<(), String> {
    let ranged = way.changes.iter().enumerate().filter_map(|(place, change)| Some((place, range(change)?)));
    let numbers =
        |(place, ends): (usize, [f64; 2])| (place, numbers_within(case, asking, &actions[place], ends));
    let ranged: Vec<(usize, Vec<f64>)> = ranged.map(numbers).collect();
    let combinations: usize = ranged.iter().map(|(_, numbers)| numbers.len()).product();
    // A prime stride, so that all numbers of all ranges are met.
    for combination in (0..combinations).step_by(if combinations > 300 { 17 } else { 1 }) {
        let (mut actions, mut rest) = (actions.to_vec(), combination);
        for (place, numbers) in &ranged {
            actions[*place].1 = Value::Number(numbers[rest % numbers.len()]);
            rest /= numbers.len();
        }
        let Some(outcome) = case.meaning.outcome(&case.own, &actions, asking, 1) else {
            return Err(format!("{actions:?} would not do: illegal"));
        };
        let score = case.score(&outcome.values)?;
        ensure!(score >= aims.offered_from, "{actions:?} would not do: {score}");
        ensure!(case.meaning.keeps_policies(&outcome.values, asking), "{actions:?} would not do: a policy");
    }
    Ok(())
}

/// The ends of a range, and numbers between them that are legal by themselves.
fn numbers_within(
    case: &Case<'_>,
    asking: &Asking,
    (feature, _): &(usize, Value),
    ends: [f64; 2],
) -> Vec<f64> {
    let [low, high] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
    let eighths = (1..8).map(|eighth| low + (high - low) * f64::from(eighth) / 8.0);
    let is_legal = |number: &f64| {
        let to = Value::Number(*number);
        (low..=high).contains(number) && case.meaning.is_legal(*feature, &case.own[*feature], &to, asking)
    };
    let between = eighths.flat_map(|number| [number, number.round()]).filter(is_legal);
    ends.into_iter().chain(between).collect()
}

/// Checks that the row with the least of all changes is likely enough to be offered.
fn check_least(
    case: &Case<'_>,
    asking: &Asking,
    aims: &Aims,
    way: &Way,
    actions: &[(usize, Value)],
) -> Result<(), String> {
    let mut actions = actions.to_vec();
    for (action, change) in actions.iter_mut().zip(&way.changes) {
        if let Some(least) = change.least {
            action.1 = Value::Number(least);
        }
    }
    let Some(outcome) = case.meaning.outcome(&case.own, &actions, asking, 1) else {
        return Err(format!("{actions:?} are the least, and illegal"));
    };
    let conditional = case.conditional(&outcome.values, asking)?;
    ensure!(conditional >= aims.least - 1e-4, "{actions:?} are the least, and unusual");
    Ok(())
}

/// Whether a way is noticeably better than another in something and noticeably worse in nothing, or no worse at all
/// and better in something.
fn dominates(case: &Case<'_>, one: &Way, other: &Way) -> bool {
    let accepting = |way: &Way| way.accepting.map_or(1.0, Accepting::share);
    let by = |one: &Way, other: &Way| {
        let effort = 0.05 * one.effort.max(other.effort).max(f64::MIN_POSITIVE);
        [
            (other.effort - one.effort) / effort,
            2.0 * (other.changes.len() as f64 - one.changes.len() as f64),
            (case.sureness(one.probability) - case.sureness(other.probability)) / 0.01,
            (one.percentile - other.percentile) / 0.05,
            f64::from(other.months) - f64::from(one.months),
            (accepting(one) - accepting(other)) / 0.05,
        ]
    };
    let is_no_worse = |by: [f64; 6], least: f64| by.iter().all(|by| *by >= least);
    let is_better = |by: [f64; 6], most: f64| by.iter().any(|by| *by > most);
    let (ahead, behind) = (by(one, other), by(other, one));
    let beats = |by: [f64; 6]| is_no_worse(by, 0.0) && is_better(by, 0.0);
    beats(ahead) || is_no_worse(ahead, -1.0) && is_better(ahead, 1.0) && !beats(behind)
}

fn check_not_found(
    case: &Case<'_>,
    asking: &Asking,
    aims: &Aims,
    listed: &[Vec<Row>],
    none: &NotFound,
    checked: &mut Checked,
) -> Result<(), String> {
    checked.not_found += 1;
    let request = &asking.request;
    let rows = &listed[listed.len() - 1];
    let budget = request.budget.unwrap_or(usize::MAX);
    let is_accepted =
        |row: &&Row, surely| aims.is_feasible(row, Solves::Likeliest, aims.offered_from, surely);
    let way = rows.iter().filter(|row| is_accepted(row, true)).find(|row| row.changed.len() <= budget);
    if none.reason != Reason::ProposalsDenied {
        let is_missed = way.is_some() && (aims.is_complete || none.reason != Reason::SearchEnded);
        ensure!(!is_missed, "there is a way: {way:?}");
    }
    let may_end = case.reads_values(asking) || !aims.is_complete;
    if request.method == Method::Refine && !may_end {
        checked.without_way[usize::from(none.reason == Reason::SearchEnded)] += 1;
    }
    let may_end = may_end || request.method == Method::Refine;
    ensure!(may_end || none.reason != Reason::SearchEnded, "the search of a small world ended");
    check_unusual(case, asking, aims, rows, none)?;
    if none.reason == Reason::ProposalsDenied || !aims.is_complete {
        return Ok(());
    }
    let fewest =
        |surely| rows.iter().filter(|row| is_accepted(row, surely)).map(|row| row.changed.len()).min();
    if fewest(true) == fewest(false) {
        ensure!(none.needs_changes == fewest(true), "it needs {:?} changes", fewest(true));
    }
    check_obstacles(case, asking, none, checked)
}

/// Checks the ways that are too unusual to be offered.
fn check_unusual(
    case: &Case<'_>,
    asking: &Asking,
    aims: &Aims,
    rows: &[Row],
    none: &NotFound,
) -> Result<(), String> {
    let budget = asking.request.budget.unwrap_or(usize::MAX);
    let any =
        rows.iter().find(|row| row.changed.len() <= budget && row.score >= aims.offered_from + aims.rounding);
    ensure!(none.reason != Reason::OutOfReach || any.is_none(), "there is a way, however unusual: {any:?}");
    ensure!(none.reason != Reason::OnlyUnusual || !none.unusual.is_empty(), "no unusual way is attached");
    for way in &none.unusual {
        check_way(case, asking, aims, way).map_err(|error| format!("an unusual way: {error}"))?;
        ensure!(
            none.reason == Reason::ProposalsDenied || way.conditional_log_likelihood <= aims.least + 1e-4,
            "it is usual: {way:?}"
        );
    }
    Ok(())
}

/// Whether there is a way for another request; `None` if there are too many rows to list.
fn has_way(
    case: &Case<'_>,
    asking: &Asking,
    reach: Reach,
    is_enough: impl Fn(&Aims, &Row) -> bool,
) -> Option<Result<bool, String>> {
    let aims = &Aims::new(case, asking);
    let rows = case.rows(asking, reach)?;
    let own_score = case.score(&case.own);
    let is_accepted = own_score.is_ok_and(|score| score >= aims.threshold)
        && case.meaning.keeps_policies(&case.own, asking);
    if is_accepted {
        return Some(Ok(true));
    }
    let budget = asking.request.budget.unwrap_or(usize::MAX);
    let is_way = |row: &Row| {
        row.changed.len() <= budget
            && aims.is_feasible(row, Solves::Likeliest, aims.offered_from, false)
            && is_enough(aims, row)
    };
    Some(rows.map(|rows| rows.iter().any(is_way)))
}

/// The same request without some obstacles.
fn without(asking: &Asking, obstacles: &[Obstacle]) -> Asking {
    let mut free = asking.clone();
    for obstacle in obstacles {
        match *obstacle {
            Obstacle::Lock(feature) => free.request.locks.retain(|lock| *lock != feature),
            Obstacle::Limit(feature) => {
                free.request.limits = free.request.limits.without(&[feature]);
                free.limits.retain(|(limited, _)| *limited != feature);
            }
            Obstacle::MaxEffort(_) => free.request.max_effort = None,
            Obstacle::Within(_) => free.request.within = None,
            Obstacle::NoHarm => free.request.no_harm = false,
            Obstacle::Robust => free.request.robust = None,
            Obstacle::Certify => free.request.certify = None,
            Obstacle::Slack => free.request.slack = false,
            Obstacle::Schema(restriction) => free.lifted.push(restriction),
        }
    }
    free
}

fn check_obstacles(
    case: &Case<'_>,
    asking: &Asking,
    none: &NotFound,
    checked: &mut Checked,
) -> Result<(), String> {
    let schema = none.schema_obstacles.clone().unwrap_or_default();
    let reach = if case.reads_values(asking) { Reach::AllValues } else { Reach::Codes };
    let surely = |aims: &Aims, row: &Row| aims.is_feasible(row, Solves::Likeliest, aims.offered_from, true);
    for obstacles in [&none.obstacles, &schema] {
        if obstacles.is_empty() {
            continue;
        }
        checked.obstacles += 1;
        let is_enough = |_: &Aims, row: &Row| {
            obstacles.iter().all(|obstacle| match obstacle {
                Obstacle::MaxEffort(most) => most.is_some_and(|most| row.effort <= most + 1e-6),
                Obstacle::Within(most) => most.is_some_and(|most| row.months <= most),
                _ => true,
            })
        };
        if let Some(found) = has_way(case, &without(asking, obstacles), reach, is_enough) {
            ensure!(found?, "without {obstacles:?} there is no way");
        }
        for place in 0..obstacles.len() {
            let mut fewer = obstacles.clone();
            fewer.remove(place);
            let found = has_way(case, &without(asking, &fewer), reach, surely);
            if let Some(found) = found {
                ensure!(
                    !found?,
                    "without {fewer:?} there is a way, so that {obstacles:?} is not the smallest set"
                );
            }
        }
    }
    if none.obstacles.is_empty() && none.needs_changes.is_none() {
        let request = &asking.request;
        let mut free = Asking { limits: Vec::new(), ..asking.clone() };
        free.request = Request {
            locks: Vec::new(),
            limits: par_data::Limits::default(),
            max_effort: None,
            within: None,
            no_harm: false,
            robust: None,
            slack: false,
            ..request.clone()
        };
        if let Some(found) = has_way(case, &free, reach, surely) {
            ensure!(!found?, "without all wishes there is a way, and no obstacle is named");
        }
    }
    Ok(())
}
