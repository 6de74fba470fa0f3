//! The page: tables and charts, topic by topic, case by case. It needs nothing but a browser.

use par_plot::{Markup, page};

use super::plot::{Plot, slug};
use super::table::{Cell, Source, Table};
use crate::experiment::Experiment;

/// What a topic asks, and how to read the answer.
fn words(topic: Experiment) -> (&'static str, &'static str) {
    match topic {
        Experiment::Answers => (
            "How good the answers are",
            "Every denied person is told what to change, by three methods: the generator proposes (generate), a local \
             search betters it (refine), a branch and bound proves it (exact). Good answers are accepted by the \
             classifier (validity), can be acted on, are common among accepted people (low NLL), and change little \
             (similarity, sparsity).",
        ),
        Experiment::Ablations => (
            "What every term of the loss is for",
            "The generator is trained anew without some terms of its loss. What gets worse without a term is what the \
             term is for.",
        ),
        Experiment::Encoder => (
            "What the neighbourhood is for",
            "The generator is told of accepted people who are like the person who asks. Here it is told of none, and \
             trained without any.",
        ),
        Experiment::Robustness => (
            "Whether answers hold when the classifier is trained again",
            "Models are retrained. An answer that only just passed one classifier may not pass the next; one that is \
             common among accepted people should.",
        ),
        Experiment::Quality => (
            "How good bins, classifier and circuits are",
            "Recourse can be no better than what it rests on: bins that hold the table, a classifier that tells the \
             classes apart and means its probabilities, circuits that find held-out people likely.",
        ),
        Experiment::Density => (
            "What the circuits are learned from",
            "Accepted people can be those whose label is favourable or those whom the classifier accepts, and the circuits \
             can be learned from either. Each finds its own answers the likelier, so that what speaks for one of them \
             is what neither was made for.",
        ),
        Experiment::Fairness => (
            "What recourse costs whom",
            "Who is denied more often is one question; who has to change more to be accepted is another. Groups are \
             those of features that nobody can change. NLL is that of the whole row, so between groups it differs mostly \
             by how rare they are among the accepted, whatever they are told to change.",
        ),
        Experiment::Growth => (
            "What it costs",
            "Learning is paid once, answers every time. From how many people on the one pays for the other, and how \
             both grow.",
        ),
    }
}

/// The page.
pub(super) fn html(cases: &[&str], tables: &[Table], plots: &[Plot]) -> String {
    let topics: Vec<Experiment> = Experiment::ALL
        .into_iter()
        .filter(|topic| {
            tables.iter().any(|table| table.topic == *topic) || plots.iter().any(|plot| plot.topic == *topic)
        })
        .collect();
    let mut page = page::head("Recourse, measured", include_str!("style.css"));
    page.raw("<header>\n<p class=\"over\">Plausible algorithmic recourse</p>\n<h1>Recourse, measured</h1>\n");
    page.element("<p class=\"lead\">", lead(cases), "</p>\n");
    if !topics.is_empty() {
        page.raw("<nav class=\"contents\" aria-label=\"Contents\"><ol>\n");
        for topic in &topics {
            page.raw("<li><a href=\"#").raw(topic.name()).element("\">", words(*topic).0, "</a></li>\n");
        }
        page.raw("</ol></nav>\n");
    }
    page.raw("</header>\n<main>\n");
    for topic in topics {
        page.add(&section(topic, cases, tables, plots));
    }
    page.raw("</main>\n<footer>\n<p>").text(
        "Made from figures.csv and from what the paper states (arXiv 2601.17309, “PAR: Plausibility-aware Amortized \
         Recourse Generation”), and from nothing else. Likelihoods are in nats. NLL is −log p⁺, of the circuit of \
         accepted people; lower is more plausible.",
    );
    page.raw("</p>\n</footer>\n</body>\n</html>\n");
    page.into_string()
}

fn lead(cases: &[&str]) -> String {
    match cases {
        [] => "There are no figures.".to_string(),
        [case] => format!("What was measured on {case}, beside what is published where there is anything."),
        cases => format!(
            "What was measured on {} and {}, beside what is published where there is anything.",
            cases[..cases.len() - 1].join(", "),
            cases[cases.len() - 1]
        ),
    }
}

/// What a topic has of one case.
struct Part<'a> {
    case: &'a str,
    tables: Vec<&'a Table>,
    plots: Vec<&'a Plot>,
}

impl<'a> Part<'a> {
    fn new(topic: Experiment, case: &'a str, tables: &'a [Table], plots: &'a [Plot]) -> Self {
        Self {
            case,
            tables: tables.iter().filter(|table| table.topic == topic && table.case == case).collect(),
            plots: plots.iter().filter(|plot| plot.topic == topic && plot.case == case).collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.plots.is_empty()
    }
}

fn section(topic: Experiment, cases: &[&str], tables: &[Table], plots: &[Plot]) -> Markup {
    let (title, words) = words(topic);
    let mut section = Markup::default();
    section.raw("<section id=\"").raw(topic.name()).element("\">\n<h2>", title, "</h2>\n");
    section.element("<p>", words, "</p>\n");
    let part = |case| Part::new(topic, case, tables, plots);
    let parts: Vec<Part<'_>> = cases.iter().map(|case| part(case)).filter(|part| !part.is_empty()).collect();
    if parts.len() > 1 {
        section.raw("<nav class=\"cases\" aria-label=\"").text(format!("{title}: tables of data")).raw("\">");
        for Part { case, .. } in &parts {
            section
                .raw("<a href=\"#")
                .raw(topic.name())
                .raw("-")
                .text(slug(case))
                .element("\">", case, "</a>");
        }
        section.raw("</nav>\n");
    }
    section.add(&charts(&part("").plots));
    for Part { case, tables, plots } in &parts {
        section.raw("<div class=\"case\" id=\"").raw(topic.name()).raw("-").text(slug(case));
        section.element("\">\n<h3 class=\"case-name\">", case, "</h3>\n");
        section.raw("<div class=\"tables\">\n");
        for own in tables {
            section.add(&table(own));
        }
        section.raw("</div>\n").add(&charts(plots)).raw("</div>\n");
    }
    section.raw("</section>\n");
    section
}

fn charts(plots: &[&Plot]) -> Markup {
    let mut charts = Markup::default();
    if !plots.is_empty() {
        charts.raw("<div class=\"charts\">\n");
        for plot in plots {
            charts.add(&plot.figure());
        }
        charts.raw("</div>\n");
    }
    charts
}

fn table(table: &Table) -> Markup {
    let mut markup = Markup::default();
    let mut title = table.title.clone();
    if let Some(first) = title.get(..1) {
        title = first.to_uppercase() + &title[1..];
    }
    markup
        .raw("<div class=\"table\">\n<h4>")
        .text(&title)
        .raw("</h4>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    markup.text(format!("{}: {}", table.case, table.title)).raw("\"><table class=\"figures\">\n<thead><tr>");
    for column in &table.columns {
        // A head breaks between words, not before a unit or within `40-20`.
        let column = column.replace(", %", ",\u{a0}%").replace('-', "\u{2011}");
        markup.element("<th scope=\"col\">", column, "</th>");
    }
    markup.raw("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        markup.raw(match row.source {
            Source::Measured => "<tr>",
            Source::Published => "<tr class=\"published\">",
            Source::Aim => "<tr class=\"aim\">",
        });
        // What is left out keeps its minus.
        markup.element("<th scope=\"row\">", row.name.replace(" -", " \u{2011}"), "</th>");
        for own in &row.cells {
            markup.add(&cell(own));
        }
        markup.raw("</tr>\n");
    }
    markup.raw("</tbody>\n</table></div>\n");
    if !table.notes.is_empty() {
        markup.raw("<div class=\"notes\">\n");
        for note in &table.notes {
            markup.element("<p>", note, "</p>\n");
        }
        markup.raw("</div>\n");
    }
    markup.raw("</div>\n");
    markup
}

fn cell(cell: &Cell) -> Markup {
    let mut markup = Markup::default();
    markup.element("<td>", &cell.text, "");
    match cell.met {
        Some(true) => markup.raw("<small class=\"met\">met</small>"),
        Some(false) => markup.raw("<small class=\"missed\">missed</small>"),
        None => &mut markup,
    };
    if !cell.note.is_empty() {
        // A note breaks before its interval or not at all.
        let note = cell.note.replace(' ', "\u{a0}").replace("\u{a0}[", " [");
        markup.element("<small>", note, "</small>");
    }
    markup.raw("</td>");
    markup
}
