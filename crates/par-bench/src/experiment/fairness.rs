//! Whether recourse costs some groups more than others, and which people have none.
//!
//! Every immutable feature makes groups, with the bins of the whole table, so that a group is the same in every fold.
//! All rows of a fold count, not only factuals; at most 2,000 denied ones are answered, evenly spaced. Means, deviations
//! and counts are of one fold; the report pools them.
//!
//! `within` of refine counts the ways that its search found; `within` of exact counts those that exist, as far as its
//! search went.

use std::collections::BTreeMap;

use par_answer::{Answer, Method, NotFound, Obstacle, Reason, Request, Solver, Way, words};
use par_data::{Code, Discretizer, Restriction, Schema, UNKNOWN};
use par_model::{Mean, Model};
use rayon::prelude::*;

use crate::case::Fold;
use crate::error::Error;
use crate::figures::{Metric, Sheet};

/// At most this many denied people of a fold are answered.
const PEOPLE: usize = 2000;
/// At most this many are answered again with the strict budget: finding the obstacles takes another search.
const STRICT_PEOPLE: usize = 200;
/// The strict budget: so many features may change.
const STRICT: usize = 1;
/// `within` is counted for 1 to this many changes.
const CHANGES: usize = 4;

/// Measures the cost of recourse for the groups of a fold, and why people have none.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    let rows = TestRows::new(fold)?;
    let sampled = evenly_spaced(&rows.denied(), PEOPLE);
    let usual = Request { auditor: true, ..Request::default() };
    let answers = answer_rows(&fold.model, &rows, &sampled, &usual);
    let proved =
        answer_rows(&fold.model, &rows, &sampled, &Request { method: Method::Exact, ..usual.clone() });
    groups(fold, &rows, &sampled, [&answers, &proved], sheet)?;
    let denied = rows.denied().len();
    none(&fold.model, &answers, denied, None, sheet);

    let fewer = evenly_spaced(&sampled, STRICT_PEOPLE);
    let strictly = Request { budget: Some(STRICT), ..usual };
    let answers = answer_rows(&fold.model, &rows, &fewer, &strictly);
    none(&fold.model, &answers, denied, Some(STRICT), sheet);
    needs(&fold.model, &answers, denied, sheet);
    Ok(())
}

/// The test rows of a fold and the classifier's decisions.
struct TestRows {
    cells: Vec<Vec<String>>,
    /// Whether each is denied.
    denied: Vec<bool>,
}

impl TestRows {
    fn new(fold: &Fold<'_>) -> Result<Self, Error> {
        let model = &fold.model;
        let encoded = model.discretizer().encode(&fold.case.columns, &fold.test)?;
        let denied = encoded.rows().map(|codes| model.probability(codes) < model.threshold()).collect();
        let cells = (0..fold.test.rows()).map(|row| fold.case.person(&fold.test, row).cells).collect();
        Ok(Self { cells, denied })
    }

    /// The positions of the denied rows.
    fn denied(&self) -> Vec<usize> {
        (0..self.denied.len()).filter(|&row| self.denied[row]).collect()
    }
}

/// At most `most` of the rows, evenly spaced.
pub(super) fn evenly_spaced(rows: &[usize], most: usize) -> Vec<usize> {
    match rows.len() <= most {
        true => rows.to_vec(),
        false => (0..most).map(|place| rows[place * rows.len() / most]).collect(),
    }
}

/// The answers to the sampled rows, on all threads.
fn answer_rows(model: &Model, rows: &TestRows, sampled: &[usize], request: &Request) -> Vec<Answer> {
    let answer = |solver: &mut Solver<'_>, row: &usize| {
        let cells: Vec<&str> = rows.cells[*row].iter().map(String::as_str).collect();
        solver.answer(&cells, request).expect("the row was encoded before")
    };
    sampled.par_iter().map_init(|| Solver::new(model), answer).collect()
}

/// A measure of a way: its name, the name of its deviation, its value.
type WayMeasure = (&'static str, &'static str, fn(&Way) -> f64);

const MEASURES: [WayMeasure; 4] = [
    ("conditional_nll", "sd_conditional_nll", |way| -way.conditional_log_likelihood),
    ("percentile", "sd_percentile", |way| way.percentile),
    ("sparsity", "sd_sparsity", |way| way.changes.len() as f64),
    ("distance", "sd_distance", |way| way.distance),
];

/// Adds the cost of recourse for every group of every immutable feature. `answers` are those of refine and exact.
fn groups(
    fold: &Fold<'_>,
    rows: &TestRows,
    sampled: &[usize],
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
            let label = words::code(&features[feature], &whole.domains()[feature], code);
            let own = answers.map(|answers| {
                let of_group = sampled.iter().zip(answers).filter(|(row, _)| codes[**row] == code);
                of_group.map(|(_, answer)| answer).collect()
            });
            let group = GroupAnswers { feature: &features[feature].name, label: &label, answers: own };
            group.add(rows, &members, sheet);
        }
    }
    Ok(())
}

/// A group of people, and their answers.
struct GroupAnswers<'a> {
    feature: &'a str,
    label: &'a str,
    /// The answers to the sampled members, by refine and by exact.
    answers: [Vec<&'a Answer>; 2],
}

impl GroupAnswers<'_> {
    fn add(&self, rows: &TestRows, members: &[usize], sheet: &mut Sheet) {
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

/// The sample standard deviation of values with this mean; absent for fewer than two.
fn deviation(values: impl Iterator<Item = f64>, of: Mean) -> Mean {
    let squares: f64 = values.map(|value| (value - of.mean.unwrap_or(0.0)).powi(2)).sum();
    let deviation = (of.over > 1).then(|| (squares / (of.over as f64 - 1.0)).sqrt());
    Mean { mean: deviation, ..of }
}

/// The fewest changes of any way found.
fn fewest(answer: &Answer) -> Option<usize> {
    let Answer::Found(found) = answer else { return None };
    let frontier = found.frontier.iter().map(|point| point.changes.len());
    frontier.chain(found.ways.iter().map(|way| way.changes.len())).min()
}

/// Adds the reasons and obstacles of people without a way. Shares of zero are added too, so that folds can be
/// pooled.
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
    for reason in [Reason::NothingToChange, Reason::OutOfReach, Reason::OnlyUnusual, Reason::SearchEnded] {
        let metric = limited("none", &[("reason", &reason.name())]);
        sheet.mean(method, metric, share(&|not_found| not_found.reason == reason));
    }
    // Two rules on one feature count as one obstacle.
    let mut kinds: BTreeMap<(&str, usize), Vec<Restriction>> = BTreeMap::new();
    for restriction in model.constraints().restrictions() {
        kinds.entry(kind_and_feature(restriction)).or_default().push(restriction);
    }
    for ((kind, feature), restrictions) in kinds {
        let name = feature_name(model.schema(), feature);
        let metric = limited("obstacle", &[("kind", &kind), ("feature", &name)]);
        let stands = |obstacle: &Obstacle| match obstacle {
            Obstacle::Schema(restriction) => restrictions.contains(restriction),
            _ => false,
        };
        sheet.mean(
            method,
            metric,
            share(&|not_found| not_found.schema_obstacles.iter().flatten().any(stands)),
        );
    }
}

/// The kind of a constraint, and its feature; for a rule, the feature that must not rise alone.
fn kind_and_feature(restriction: Restriction) -> (&'static str, usize) {
    match restriction {
        Restriction::Immutable(feature) => ("immutable", feature),
        Restriction::Monotone(feature) => ("monotone", feature),
        Restriction::Allowed(feature) => ("allowed", feature),
        Restriction::Step(feature) => ("step", feature),
        Restriction::Transitions(feature) => ("transitions", feature),
        Restriction::Rule(rule) => ("rule", rule.when.feature),
        _ => ("other", usize::MAX),
    }
}

fn feature_name(schema: &Schema, feature: usize) -> &str {
    schema.features().get(feature).map_or("", |feature| feature.name.as_str())
}

/// Adds how many changes people need who have no way within the strict budget.
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
    fn the_groups_of_a_feature_cover_all_people_of_the_fold() {
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
            let of_income = denied.iter().filter(|figure| figure.metric.key("feature") == Some("income"));
            let group = |figure: &&Figure| figure.metric.key("group").map(str::to_string);
            of_income.filter_map(group).collect::<Vec<_>>()
        });
        assert_eq!(groups[0].len(), 10);
        assert!(groups[0][0].contains(" to under ") && !groups[0][9].contains("under"), "{:?}", groups[0]);
        assert_eq!(groups[0], groups[1]);
    }

    #[test]
    fn people_without_a_way_have_a_reason() {
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
        let sampled: usize = own.iter().map(|figure| figure.over).sum();
        assert_eq!(usual[0].over, sampled);
        assert!(sum(&usual) > 0.0);
        assert!((found / sampled as f64 + sum(&usual) - 1.0).abs() < 1e-9);
        assert!((sum(&strict) - sum(&usual)).abs() < 1e-9, "only one feature can change");
        let obstacles = named(&figures, "obstacle");
        let immutable = obstacles.iter().filter(|figure| figure.metric.key("kind") == Some("immutable"));
        assert!(immutable.filter_map(|figure| figure.value).sum::<f64>() > 0.0);
    }

    #[test]
    fn a_budget_of_one_counts_the_changes_needed() {
        let figures = of_synthetic(quick());
        let strict =
            named(&figures, "none").into_iter().filter(|figure| figure.metric.key("budget").is_some());
        let needs = named(&figures, "needs");
        assert!(sum(&needs) > 0.0 && sum(&needs) <= sum(&strict.collect::<Vec<_>>()) + 1e-9);
    }

    #[test]
    fn a_table_without_groups_and_a_fold_without_denied_people_have_no_means() {
        let free = PEOPLE.schema_text().replace("immutable = true\n", "");
        let figures = measured(&free, &PEOPLE.table_text(), quick());
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
    fn people_are_sampled_evenly_spaced() {
        let rows: Vec<usize> = (0..10).collect();
        assert_eq!(evenly_spaced(&rows, 4), [0, 2, 5, 7]);
        assert_eq!(evenly_spaced(&rows, 10), rows);
        assert!(evenly_spaced(&[], 3).is_empty());
    }

    #[test]
    fn the_deviation_is_the_sample_standard_deviation() {
        let values = [1.0, 3.0];
        let mean = Mean::new(values.into_iter(), 5);
        let expected = Mean { mean: Some(2.0_f64.sqrt()), over: 2, of: 5 };
        assert_eq!(deviation(values.into_iter(), mean), expected);
        assert_eq!(deviation([1.0].into_iter(), Mean::new([1.0].into_iter(), 5)).mean, None);
    }
}
