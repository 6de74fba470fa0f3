//! The charts of a report.

use par_answer::evaluate::median;
use par_answer::{Answer, Method, Way};
use par_model::Model;
use par_model::card::{ClassifierHistory, GeneratorHistory, LossTerms};
use par_plot::distributions::{Series, histograms, tallies};
use par_plot::page::figure;
use par_plot::text::{decimal, grouped, share};
use par_plot::{Axis, Chart, Markup, Sign};

use super::DeniedPerson;

/// About as wide as a phone's screen, where charts are stacked.
const SIZE: (f64, f64) = (440.0, 280.0);
const PANEL: (f64, f64) = (195.0, 110.0);

/// Log-likelihood by number of changes: every person's, and the median.
pub(super) fn frontier(model: &Model, people: &[DeniedPerson]) -> Markup {
    let frontiers: Vec<(&str, Vec<(usize, f64)>)> = people
        .iter()
        .filter_map(|person| match person.answer(Method::Exact) {
            Answer::Found(found) => {
                let points = found.frontier.iter().map(|point| (point.changes.len(), point.log_likelihood));
                Some((person.id.as_str(), points.collect()))
            }
            Answer::Accepted { .. } | Answer::NotFound(_) => None,
        })
        .collect();
    let most = frontiers.iter().flat_map(|(_, points)| points).map(|point| point.0).max().unwrap_or(1);
    // The highest log-likelihood with at most so many changes.
    let best = |points: &[(usize, f64)], changes: usize| {
        points.iter().filter(|point| point.0 <= changes).map(|point| point.1).max_by(f64::total_cmp)
    };
    let usual = median(model.pool().log_likelihoods().to_vec());
    let values = frontiers.iter().flat_map(|(_, points)| points).map(|point| point.1).chain(usual);
    let y = Axis::around("log-likelihood, nats", values, 5);
    let x = Axis::counts("changes, at most", 1..=most);
    let description = "The log-likelihood of the best recourse of every person by the number of changes, \
                       with the median";
    let mut chart = Chart::new(description, (SIZE.0, 400.0), x, y);
    for (id, points) in &frontiers {
        let line = (1..=most).filter_map(|changes| Some((changes as f64, best(points, changes)?)));
        chart.line("exact thin", &format!("Denied {id}"), &line.collect::<Vec<_>>());
    }
    if let Some(usual) = usual {
        chart.horizontal_line("dashed faint", usual);
    }
    let middle = |changes: usize| {
        let values: Vec<f64> = frontiers.iter().filter_map(|(_, points)| best(points, changes)).collect();
        Some((changes, values.len(), median(values)?))
    };
    let medians: Vec<(usize, usize, f64)> = (1..=most).filter_map(middle).collect();
    let line: Vec<(f64, f64)> = medians.iter().map(|&(changes, _, value)| (changes as f64, value)).collect();
    chart.line("exact strong", "median", &line);
    for (&point, (_, over, _)) in line.iter().zip(&medians) {
        chart.point("exact", point);
        chart.label("middle", point, 11.0, &format!("{over} of {}", people.len()));
    }
    chart.key("exact strong", Sign::Line, "median, over so many").key("exact thin", Sign::Line, "one person");
    chart.key("dashed faint", Sign::Line, "the median accepted person");
    figure(
        "<figure>",
        "Changes against likelihood",
        "The best row of the exact search for each person, by the number of changes; of those with at most so many, \
         the likeliest.",
        &chart.svg(),
    )
}

/// At most this many features are shown.
const FEATURES: usize = 10;

/// How often each feature changes.
pub(super) fn features(model: &Model, people: &[DeniedPerson]) -> Markup {
    let names = model.schema().features();
    let mut counts = vec![0_usize; names.len()];
    let found: Vec<&Way> = ways(people, Method::Exact).collect();
    for change in found.iter().flat_map(|way| &way.changes) {
        counts[change.feature] += 1;
    }
    let mut ranked: Vec<usize> = (0..names.len()).filter(|&feature| counts[feature] > 0).collect();
    ranked.sort_by_key(|&feature| (std::cmp::Reverse(counts[feature]), feature));
    let most = ranked.first().map_or(1, |&feature| counts[feature]);
    let mut table = Markup::default();
    table.raw("<table class=\"shares\"><tbody>\n");
    for &feature in ranked.iter().take(FEATURES) {
        let width = 100.0 * counts[feature] as f64 / most as f64;
        table.element("<tr><th scope=\"row\">", &names[feature].name, "</th><td>");
        table.element("<span class=\"share\" style=\"width:", format!("{width:.1}%"), "\"></span></td>");
        table.element("<td>", counts[feature], "</td></tr>\n");
    }
    table.raw("</tbody></table>");
    let rarer = ranked.len().saturating_sub(FEATURES);
    let caption = format!(
        "In how many of the {} answers of the exact search. Of {} features, {rarer} change less often than these, \
         and {} never.",
        grouped(found.len()),
        names.len(),
        names.len() - ranked.len()
    );
    figure("<figure>", "What changes most often", &caption, &table)
}

/// A measure of each method's first ways.
fn series(people: &[DeniedPerson], measure: fn(&Way) -> f64) -> Vec<Series> {
    let series = |method: Method| Series {
        class: method.name(),
        name: method.name().to_string(),
        values: ways(people, method).map(measure).collect(),
    };
    Method::ALL.into_iter().map(series).collect()
}

/// How many features change, by method.
pub(super) fn changes(people: &[DeniedPerson]) -> Markup {
    let series = series(people, |way| way.changes.len() as f64);
    let chart = tallies("changes", "people", SIZE, people.len(), &series);
    let caption = "How many people have to change how many features.";
    figure("<figure>", "Number of changes", caption, &chart.svg())
}

/// How plausible the answers are, by method.
pub(super) fn likelihoods(people: &[DeniedPerson]) -> Markup {
    let label = "NLL of the recourse, nats; lower is more plausible";
    let mut body = Markup::default();
    for chart in histograms(label, SIZE.0, &series(people, |way| -way.log_likelihood)) {
        body.add(&chart.svg());
    }
    let caption = "How plausible the answers are: people by the NLL of their recourse.";
    figure("<figure>", "Plausibility", caption, &body)
}

/// The loss of the classifier, pass by pass.
pub(super) fn classifier(history: &ClassifierHistory) -> Markup {
    let passes = || (1..).map(f64::from);
    let training: Vec<(f64, f64)> = passes().zip(history.epochs.iter().map(|epoch| epoch.training)).collect();
    let validation = passes().zip(history.epochs.iter().map(|epoch| epoch.validation));
    let validation: Vec<(f64, f64)> = validation.filter_map(|(pass, loss)| Some((pass, loss?))).collect();
    let losses = training.iter().chain(&validation).map(|point| point.1);
    let axes = (
        Axis::around("pass over the rows", [0.0, history.epochs.len() as f64], 6),
        Axis::around("loss, nats a row", losses, 4),
    );
    let mut chart = Chart::new("The loss of the classifier by pass over the rows", SIZE, axes.0, axes.1);
    chart.vertical_line("dashed faint", history.best as f64);
    chart.line("generate", "training", &training).line("exact", "validation", &validation);
    chart.key("generate", Sign::Line, "training rows");
    if !validation.is_empty() {
        chart.key("exact", Sign::Line, "held-out rows");
    }
    chart.key("dashed faint", Sign::Line, &format!("kept, pass {}", history.best));
    let caption = "Its mean loss per row; the pass with the lowest loss on held-out rows is kept.";
    figure("<figure>", "Classifier", caption, &chart.svg())
}

/// The generator's share of accepted proposals, during training.
pub(super) fn validity(history: &GeneratorHistory) -> Markup {
    let valid = history.points.iter().filter_map(|point| Some((point.step as f64, point.held_out?.valid)));
    let valid: Vec<(f64, f64)> = valid.collect();
    let x = Axis::around("step", valid.iter().map(|point| point.0).chain([0.0]), 5);
    let description =
        "The share of held-out factuals for which the generator's first row is accepted, by step";
    let mut chart = Chart::new(description, SIZE, x, Axis::shares("accepted"));
    chart.line("exact", "", &valid);
    if let Some(&last) = valid.last() {
        chart.point("exact", last).label("end", last, 10.0, &share(Some(last.1)));
    }
    let caption = format!(
        "How often its most probable row is accepted, of {} drawn people that were held out. It learned \
         from {}, of which {} came with a recourse found by search.",
        grouped(history.held_out),
        grouped(history.examples),
        grouped(history.taught)
    );
    figure("<figure>", "Generator: validity", &caption, &chart.svg())
}

/// A term of a loss and its name.
type LossTerm = (&'static str, fn(&LossTerms) -> f64);

/// The terms of the generator's loss, step by step.
pub(super) fn losses(history: &GeneratorHistory) -> Markup {
    let terms: [LossTerm; 8] = [
        ("total", |loss| loss.total),
        ("validity", |loss| loss.validity),
        ("proximity", |loss| loss.proximity),
        ("accepted likelihood", |loss| loss.accepted),
        ("denied likelihood", |loss| loss.denied),
        ("sparsity", |loss| loss.sparsity),
        ("entropy", |loss| loss.entropy),
        ("teaching", |loss| loss.teaching),
    ];
    let mut body = Markup::default();
    body.raw("<div class=\"panels\">\n");
    for (name, term) in terms {
        let points = history.points.iter().map(|point| (point.step as f64, term(&point.loss)));
        let points: Vec<(f64, f64)> = points.collect();
        let (Some(first), Some(last)) = (points.first(), points.last()) else { continue };
        if points.iter().all(|point| point.1 == 0.0) {
            continue;
        }
        let x = Axis::around("", points.iter().map(|point| point.0).chain([0.0]), 2).ends();
        let y = Axis::around("", points.iter().map(|point| point.1), 3);
        let (first, last) = (decimal(first.1, 2), decimal(last.1, 2));
        let mut chart = Chart::new(&format!("{name}, from {first} to {last}"), PANEL, x, y);
        chart.line("exact", "", &points);
        body.element("<div><p><b>", name, "</b>");
        body.element("", format!("{first} → {last}"), "</p>").add(&chart.svg()).raw("</div>\n");
    }
    body.raw("</div>");
    let caption = "The terms by step, unweighted, each on its own scale; the total is their weighted sum.";
    figure("<figure class=\"wide\">", "Generator: loss", caption, &body)
}

/// A method's first way for each person.
fn ways(people: &[DeniedPerson], method: Method) -> impl Iterator<Item = &Way> {
    people.iter().filter_map(move |person| person.answer(method).ways().first())
}
