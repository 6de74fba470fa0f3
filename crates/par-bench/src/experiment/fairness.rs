//! Whether recourse costs some groups more than others, and who has none.
//!
//! Groups are those of every feature that nobody can change. Their bounds are those of the whole table, so that a group
//! is the same in every fold. All rows of a fold are looked at, not only those who are asked about elsewhere; of those
//! who are denied, at most 2,000 are asked about, from all parts of the fold alike. Means, deviations and counts are of one fold; from those of all folds the
//! pooled means, their differences and the intervals follow.
//!
//! `within` of refine counts what its search came upon, which is what people are told; that of exact, what there is, as
//! far as its search went.

use std::collections::BTreeMap;

use par_answer::{Answer, Method, NotFound, Obstacle, Reason, Request, Solver, Way};
use par_data::schema::Rule;
use par_data::{Code, Discretizer, Domain, Feature, Restriction, Schema, UNKNOWN};
use par_model::{Mean, Model};
use rayon::prelude::*;

use crate::case::Fold;
use crate::error::Error;
use crate::figures::{Metric, Sheet};

/// Denied people of a fold who are asked about, at most.
const PEOPLE: usize = 2000;
/// Those of them who are asked about again under a strict limit, at most: saying why there is nothing takes a search
/// of its own.
const STRICT_PEOPLE: usize = 200;
/// The strict limit: so many features may change.
const STRICT: usize = 1;
/// Numbers of changes that are told apart.
const CHANGES: usize = 4;

/// Measures what recourse costs the groups of a fold, and who has none.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    let rows = Rows::new(fold)?;
    let asked = evenly_spaced(&rows.denied(), PEOPLE);
    let usual = Request { auditor: true, ..Request::default() };
    let answers = ask(&fold.model, &rows, &asked, &usual);
    let proved = ask(&fold.model, &rows, &asked, &Request { method: Method::Exact, ..usual.clone() });
    groups(fold, &rows, &asked, [&answers, &proved], sheet)?;
    let denied = rows.denied().len();
    none(&fold.model, &answers, denied, None, sheet);

    let fewer = evenly_spaced(&asked, STRICT_PEOPLE);
    let strictly = Request { budget: Some(STRICT), ..usual };
    let answers = ask(&fold.model, &rows, &fewer, &strictly);
    none(&fold.model, &answers, denied, Some(STRICT), sheet);
    needs(&fold.model, &answers, denied, sheet);
    Ok(())
}

/// The test rows of a fold and what the classifier says to them.
struct Rows {
    cells: Vec<Vec<String>>,
    /// Whether each is denied.
    denied: Vec<bool>,
}

impl Rows {
    fn new(fold: &Fold<'_>) -> Result<Self, Error> {
        let model = &fold.model;
        let encoded = model.discretizer().encode(&fold.case.columns, &fold.test)?;
        let denied = encoded.rows().map(|codes| model.probability(codes) < model.threshold()).collect();
        let cells = (0..fold.test.rows()).map(|row| fold.case.person(&fold.test, row).cells).collect();
        Ok(Self { cells, denied })
    }

    /// The rows that are denied.
    fn denied(&self) -> Vec<usize> {
        (0..self.denied.len()).filter(|&row| self.denied[row]).collect()
    }
}

/// At most so many of some rows, from all parts alike.
pub(super) fn evenly_spaced(rows: &[usize], most: usize) -> Vec<usize> {
    match rows.len() <= most {
        true => rows.to_vec(),
        false => (0..most).map(|place| rows[place * rows.len() / most]).collect(),
    }
}

/// What rows that can be read are told, on all threads.
fn ask(model: &Model, rows: &Rows, asked: &[usize], request: &Request) -> Vec<Answer> {
    let answer = |solver: &mut Solver<'_>, row: &usize| {
        let cells: Vec<&str> = rows.cells[*row].iter().map(String::as_str).collect();
        solver.answer(&cells, request).expect("a row that was read before")
    };
    asked.par_iter().map_init(|| Solver::new(model), answer).collect()
}

/// A measure of a way, its name and that of its deviation.
type Measure = (&'static str, &'static str, fn(&Way) -> f64);

const MEASURES: [Measure; 3] = [
    ("nll", "sd_nll", |way| -way.log_likelihood),
    ("sparsity", "sd_sparsity", |way| way.changes.len() as f64),
    ("distance", "sd_distance", |way| way.distance),
];

/// What recourse costs every group of every feature that nobody can change. Answers are those of refine and of exact.
fn groups(
    fold: &Fold<'_>,
    rows: &Rows,
    asked: &[usize],
    answers: [&[Answer]; 2],
    sheet: &mut Sheet,
) -> Result<(), Error> {
    let constraints = fold.model.constraints();
    let features = fold.case.schema.features();
    let immutable: Vec<usize> =
        (0..features.len()).filter(|&feature| constraints.is_immutable(feature)).collect();
    if immutable.is_empty() {
        return Ok(());
    }
    let (schema, columns) = (&fold.case.schema, &fold.case.columns);
    let whole = Discretizer::fit(schema, columns, fold.case.in_parts(), &fold.case.config.bins)?;
    let encoded = whole.encode(columns, &fold.test)?;
    for feature in immutable {
        let codes: Vec<Code> = encoded.rows().map(|codes| codes[feature]).collect();
        for code in (0..whole.domains()[feature].cardinality()).map(|code| code as Code).chain([UNKNOWN]) {
            let members: Vec<usize> = (0..codes.len()).filter(|&row| codes[row] == code).collect();
            if members.is_empty() {
                continue;
            }
            let label = group_name(&features[feature], &whole.domains()[feature], code);
            let own = answers.map(|answers| {
                let told = asked.iter().zip(answers).filter(|(row, _)| codes[**row] == code);
                told.map(|(_, answer)| answer).collect()
            });
            let group = Group { feature: &features[feature].name, label: &label, answers: own };
            group.add(rows, &members, sheet);
        }
    }
    Ok(())
}

/// People who share what they cannot change.
struct Group<'a> {
    feature: &'a str,
    label: &'a str,
    /// What those who were asked about are told by refine, and by exact.
    answers: [Vec<&'a Answer>; 2],
}

impl Group<'_> {
    fn add(&self, rows: &Rows, members: &[usize], sheet: &mut Sheet) {
        let method = Method::Refine.name();
        let [refined, proved] = &self.answers;
        let at = |name| Metric::at(name, &[("feature", &self.feature), ("group", &self.label)]);
        let decisions = members.iter().map(|&row| rows.denied[row]);
        let denied = decisions.clone().filter(|denied| *denied).count();
        sheet.mean(method, at("denied"), Mean::share(decisions, members.len()));
        let found = refined.iter().map(|answer| !answer.ways().is_empty());
        sheet.mean(method, at("validity"), Mean::share(found, denied));
        let ways = || refined.iter().filter_map(|answer| answer.ways().first());
        for (name, deviation_name, measure) in MEASURES {
            let mean = Mean::new(ways().map(measure), denied);
            sheet.mean(method, at(name), mean);
            sheet.mean(method, at(deviation_name), deviation(ways().map(measure), mean));
        }
        for (method, answers) in [(method, refined), (Method::Exact.name(), proved)] {
            for most in 1..=CHANGES {
                let keys: [(&str, &dyn std::fmt::Display); 3] =
                    [("feature", &self.feature), ("group", &self.label), ("changes", &most)];
                let within = answers.iter().map(|answer| fewest(answer).is_some_and(|fewest| fewest <= most));
                sheet.mean(method, Metric::at("within", &keys), Mean::share(within, denied));
            }
        }
    }
}

/// The sample standard deviation of what has this mean; absent of fewer than two.
fn deviation(values: impl Iterator<Item = f64>, of: Mean) -> Mean {
    let squares: f64 = values.map(|value| (value - of.mean.unwrap_or(0.0)).powi(2)).sum();
    let deviation = (of.over > 1).then(|| (squares / (of.over as f64 - 1.0)).sqrt());
    Mean { mean: deviation, ..of }
}

/// The fewest changes of what was found.
fn fewest(answer: &Answer) -> Option<usize> {
    let Answer::Found(found) = answer else { return None };
    let frontier = found.frontier.iter().map(|point| point.changes.len());
    frontier.chain(found.ways.iter().map(|way| way.changes.len())).min()
}

/// A group as people call it: the label of a category, a number, an interval.
fn group_name(feature: &Feature, domain: &Domain, code: Code) -> String {
    let place = usize::from(code);
    match domain {
        _ if code == UNKNOWN => "unknown".to_string(),
        Domain::Categories { values, .. } => {
            feature.labels.get(&values[place]).unwrap_or(&values[place]).clone()
        }
        Domain::Values { values, .. } => values[place].to_string(),
        Domain::Bins { edges, medians, .. } if place + 1 == medians.len() => {
            format!("{} to {}", edges[place], edges[place + 1])
        }
        Domain::Bins { edges, .. } => format!("{} to under {}", edges[place], edges[place + 1]),
    }
}

/// Those without an answer: why, and which constraints stand in their way. All that could be are told, also where
/// nobody met them, so that shares of several folds can be pooled.
fn none(model: &Model, answers: &[Answer], of: usize, budget: Option<usize>, sheet: &mut Sheet) {
    let method = Method::Refine.name();
    let share = |fits: &dyn Fn(&NotFound) -> bool| {
        let fits = |answer: &Answer| matches!(answer, Answer::NotFound(not_found) if fits(not_found));
        Mean::share(answers.iter().map(fits), of)
    };
    let limited = |name: &str, keys: &[(&str, &dyn std::fmt::Display)]| {
        let limit = budget.as_ref().map(|budget| ("budget", budget as &dyn std::fmt::Display));
        Metric::at(name, &keys.iter().copied().chain(limit).collect::<Vec<_>>())
    };
    for reason in [Reason::NothingToChange, Reason::OutOfReach, Reason::SearchEnded] {
        let metric = limited("none", &[("reason", &reason.name())]);
        sheet.mean(method, metric, share(&|not_found| not_found.reason == reason));
    }
    // Two rules on one feature are told together.
    let mut kinds: BTreeMap<(&str, usize), Vec<Restriction>> = BTreeMap::new();
    for restriction in model.constraints().restrictions() {
        kinds.entry(described(restriction)).or_default().push(restriction);
    }
    for ((kind, feature), restrictions) in kinds {
        let name = feature_name(model.schema(), feature);
        let metric = limited("obstacle", &[("kind", &kind), ("feature", &name)]);
        let stands = |obstacle: &Obstacle| match obstacle {
            Obstacle::Schema(restriction) => restrictions.contains(restriction),
            Obstacle::Lock(_) | Obstacle::Limit(_) => false,
        };
        sheet.mean(
            method,
            metric,
            share(&|not_found| not_found.schema_obstacles.iter().flatten().any(stands)),
        );
    }
}

/// What kind of constraint it is, and on which feature; of a rule, the one that must not rise alone.
fn described(restriction: Restriction) -> (&'static str, usize) {
    match restriction {
        Restriction::Immutable(feature) => ("immutable", feature),
        Restriction::Monotone(feature) => ("monotone", feature),
        Restriction::Allowed(feature) => ("allowed", feature),
        Restriction::Rule(Rule { if_increases, .. }) => ("rule", if_increases),
        _ => ("other", usize::MAX),
    }
}

fn feature_name(schema: &Schema, feature: usize) -> &str {
    schema.features().get(feature).map_or("", |feature| feature.name.as_str())
}

/// How many changes those without an answer under the strict limit need.
fn needs(model: &Model, answers: &[Answer], of: usize, sheet: &mut Sheet) {
    let constraints = model.constraints();
    let most = (0..constraints.features()).filter(|&feature| !constraints.is_immutable(feature)).count();
    for changes in STRICT + 1..=most {
        let needs = |answer: &Answer| match answer {
            Answer::NotFound(not_found) => not_found.needs_changes == Some(changes),
            Answer::Accepted { .. } | Answer::Found(_) => false,
        };
        let metric = Metric::at("needs", &[("changes", &changes), ("budget", &STRICT)]);
        sheet.mean(Method::Refine.name(), metric, Mean::share(answers.iter().map(needs), of));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use par_data::{Table, TableOptions};
    use par_model::Config;
    use par_model::classifier::Threshold;

    use super::*;
    use crate::case::Case;
    use crate::figures::{Figure, Figures};
    use crate::synthetic::Synthetic;

    const PEOPLE: Synthetic = Synthetic { rows: 400, features: 5, seed: 4 };

    fn quick() -> Config {
        let mut config = Config::default();
        config.generator.examples = 200;
        config.generator.steps = 20;
        config.pool.size = 200;
        config.circuits.em.max_passes = 5;
        config
    }

    fn measured(schema: &str, table: &str, config: Config) -> Figures {
        let schema = Schema::parse(schema, "s.toml").expect("a schema");
        let table = Table::from_reader("t.csv", Cursor::new(table.to_string()), &TableOptions::default());
        let case = Case::new("people", schema, config, table.expect("a header"), "fold", None);
        let case = case.expect("folds");
        let mut sheet = Sheet::new("people", "0");
        measure(&Fold::new(&case, "0").expect("a model"), &mut sheet).expect("figures");
        Figures(sheet.into_figures())
    }

    fn of_synthetic(config: Config) -> Figures {
        measured(&PEOPLE.schema_text(), &PEOPLE.table_text(), config)
    }

    fn named<'a>(figures: &'a Figures, name: &'a str) -> Vec<&'a Figure> {
        figures.named("people", "refine", name).collect()
    }

    fn sum(figures: &[&Figure]) -> f64 {
        figures.iter().filter_map(|figure| figure.value).sum()
    }

    #[test]
    fn the_groups_of_a_feature_are_all_people_of_the_fold() {
        let figures = of_synthetic(quick());
        let denied = named(&figures, "denied");
        let groups: Vec<_> = denied.iter().filter_map(|figure| figure.metric.key("group")).collect();
        assert_eq!(groups, ["a", "b", "c", "d", "e", "unknown"]);
        assert!(denied.iter().all(|figure| figure.metric.key("feature") == Some("origin")));
        assert_eq!(denied.iter().map(|figure| figure.over).sum::<usize>(), 80);
        for (denied, validity) in denied.iter().zip(named(&figures, "validity")) {
            let count = denied.value.expect("a share") * denied.over as f64;
            assert_eq!(count.round() as usize, validity.over);
        }
        for (mean, sd) in named(&figures, "nll").iter().zip(named(&figures, "sd_nll")) {
            let over = if mean.over > 1 { mean.over } else { 0 };
            assert_eq!((sd.over, sd.value.is_some()), (over, over > 0));
        }
        let within = named(&figures, "within");
        assert_eq!(within.len(), 6 * CHANGES);
        let rises = |group: &[&Figure]| group.windows(2).all(|pair| pair[0].value <= pair[1].value);
        assert!(within.chunks(CHANGES).all(rises));
        let proved: Vec<_> = figures.named("people", "exact", "within").collect();
        assert_eq!(proved.len(), within.len());
        assert!(within.iter().zip(proved).all(|(found, proved)| found.value <= proved.value));
    }

    #[test]
    fn groups_of_a_number_are_the_same_intervals_in_every_fold() {
        let config = Config { immutable: Some(vec!["income".to_string()]), ..quick() };
        let case = Case::new("people", PEOPLE.schema(), config, PEOPLE.table(), "fold", None).expect("folds");
        let groups = ["0", "3"].map(|fold| {
            let mut sheet = Sheet::new("people", fold);
            measure(&Fold::new(&case, fold).expect("a model"), &mut sheet).expect("figures");
            let figures = Figures(sheet.into_figures());
            let denied = named(&figures, "denied");
            let group = |figure: &&Figure| figure.metric.key("group").map(str::to_string);
            denied.iter().filter_map(group).collect::<Vec<_>>()
        });
        assert_eq!(groups[0].len(), 10);
        assert!(groups[0][0].contains(" to under ") && !groups[0][9].contains("under"), "{:?}", groups[0]);
        assert_eq!(groups[0], groups[1]);
    }

    #[test]
    fn those_without_an_answer_are_told_why() {
        let schema = PEOPLE.schema();
        let names = schema.features().iter().map(|feature| feature.name.clone());
        let immutable = names.filter(|name| name != "age").collect();
        let figures = of_synthetic(Config { immutable: Some(immutable), ..quick() });
        let is_limited = |figure: &&Figure| figure.metric.key("budget").is_some();
        let (strict, usual): (Vec<_>, Vec<_>) = named(&figures, "none").into_iter().partition(is_limited);
        let validity = named(&figures, "validity");
        let own: Vec<_> =
            validity.iter().filter(|figure| figure.metric.key("feature") == Some("origin")).collect();
        let found: f64 = own.iter().filter_map(|figure| Some(figure.value? * figure.over as f64)).sum();
        let asked: usize = own.iter().map(|figure| figure.over).sum();
        assert_eq!(usual[0].over, asked);
        assert!(sum(&usual) > 0.0);
        assert!((found / asked as f64 + sum(&usual) - 1.0).abs() < 1e-9);
        assert!((sum(&strict) - sum(&usual)).abs() < 1e-9, "there is but one thing to change");
        let obstacles = named(&figures, "obstacle");
        let immutable = obstacles.iter().filter(|figure| figure.metric.key("kind") == Some("immutable"));
        assert!(immutable.filter_map(|figure| figure.value).sum::<f64>() > 0.0);
    }

    #[test]
    fn a_limit_of_one_change_says_how_many_are_needed() {
        let figures = of_synthetic(quick());
        let strict =
            named(&figures, "none").into_iter().filter(|figure| figure.metric.key("budget").is_some());
        let needs = named(&figures, "needs");
        assert!(sum(&needs) > 0.0 && sum(&needs) <= sum(&strict.collect::<Vec<_>>()) + 1e-9);
    }

    #[test]
    fn a_table_without_groups_and_a_fold_without_denied_people_have_no_means() {
        let figures = of_synthetic(Config { immutable: Some(Vec::new()), ..quick() });
        assert!(named(&figures, "validity").is_empty());
        assert!(!named(&figures, "none").is_empty());
        let mut config = quick();
        config.classifier.threshold = Threshold::Fixed(1e-9);
        let figures = of_synthetic(config);
        assert!(named(&figures, "denied").iter().all(|figure| figure.value == Some(0.0)));
        assert!(named(&figures, "validity").iter().all(|figure| (figure.value, figure.over) == (None, 0)));
    }

    #[test]
    fn a_row_that_cannot_be_read_is_left_out() {
        let people = Synthetic { features: 7, ..PEOPLE };
        let (schema, table) = (people.schema_text(), people.table_text());
        let (before, kind) = schema.split_once("name = \"kind_6\"").expect("a seventh feature");
        let learned = kind.replacen("values = [\"a\", \"b\", \"c\", \"d\", \"e\"]\n", "", 1);
        let schema = format!("{before}name = \"kind_6\"{learned}");
        let mut lines: Vec<String> = table.lines().map(str::to_string).collect();
        let (cells, class) = lines[1].rsplit_once(',').expect("cells");
        let (cells, _) = cells.rsplit_once(',').expect("more cells");
        lines[1] = format!("{cells},never,{class}");
        let figures = measured(&schema, &lines.join("\n"), quick());
        let denied = named(&figures, "denied");
        assert_eq!(denied.iter().map(|figure| figure.over).sum::<usize>(), 79);
    }

    #[test]
    fn people_are_taken_from_all_parts_alike() {
        let rows: Vec<usize> = (0..10).collect();
        assert_eq!(evenly_spaced(&rows, 4), [0, 2, 5, 7]);
        assert_eq!(evenly_spaced(&rows, 10), rows);
        assert!(evenly_spaced(&[], 3).is_empty());
    }

    #[test]
    fn a_deviation_is_that_of_a_sample() {
        let values = [1.0, 3.0];
        let mean = Mean::new(values.into_iter(), 5);
        let expected = Mean { mean: Some(2.0_f64.sqrt()), over: 2, of: 5 };
        assert_eq!(deviation(values.into_iter(), mean), expected);
        assert_eq!(deviation([1.0].into_iter(), Mean::new([1.0].into_iter(), 5)).mean, None);
    }
}
