//! The self-contained page: tables and charts by experiment and case.

use par_plot::{Markup, page};

use super::description::Topic;
use super::plot::{Plot, slug};
use super::table::{FigureSource, ReportCell, ReportTable};
use super::{CaseSection, ExperimentSection};

/// The HTML page.
pub(super) fn html(cases: &[String], sections: &[ExperimentSection]) -> String {
    let sections =
        || sections.iter().filter(|section| !(section.across.is_empty() && section.cases.is_empty()));
    let mut page = page::head("Recourse, measured", include_str!("style.css"));
    page.raw("<header>\n<p class=\"over\">Plausible algorithmic recourse</p>\n<h1>Recourse, measured</h1>\n");
    page.element("<p class=\"lead\">", lead(cases), "</p>\n");
    if sections().next().is_some() {
        page.raw("<nav class=\"contents\" aria-label=\"Contents\"><ol>\n");
        for ExperimentSection { experiment, .. } in sections() {
            let title = &Topic::of(*experiment).title;
            page.raw("<li><a href=\"#").raw(experiment.name()).element("\">", title, "</a></li>\n");
        }
        page.raw("</ol></nav>\n");
    }
    page.raw("</header>\n<main>\n");
    for section in sections() {
        page.add(&self::section(section));
    }
    page.raw("</main>\n<footer>\n<p>").text(
        "Made from figures.csv and from the paper's figures (arXiv 2601.17309, “PAR: Plausibility-aware Amortized \
         Recourse Generation”), and from nothing else. Likelihoods are in nats. NLL is −log p⁺, of the circuit of \
         accepted people; lower is more plausible.",
    );
    page.raw("</p>\n</footer>\n</body>\n</html>\n");
    page.into_string()
}

fn lead(cases: &[String]) -> String {
    match cases {
        [] => "There are no figures.".to_string(),
        [case] => format!("Figures measured on {case}, beside published ones if there are any."),
        cases => format!(
            "Figures measured on {} and {}, beside published ones if there are any.",
            cases[..cases.len() - 1].join(", "),
            cases[cases.len() - 1]
        ),
    }
}

fn section(ExperimentSection { experiment, across, cases }: &ExperimentSection) -> Markup {
    let (Topic { title, words, .. }, name) = (Topic::of(*experiment), experiment.name());
    let mut section = Markup::default();
    section.raw("<section id=\"").raw(name).element("\">\n<h2>", title, "</h2>\n");
    section.element("<p>", words, "</p>\n");
    if cases.len() > 1 {
        section.raw("<nav class=\"cases\" aria-label=\"").text(format!("{title}: tables of data")).raw("\">");
        for CaseSection { case, .. } in cases {
            section.raw("<a href=\"#").raw(name).raw("-").text(slug(case)).element("\">", case, "</a>");
        }
        section.raw("</nav>\n");
    }
    section.add(&charts(across));
    for CaseSection { case, tables, plots } in cases {
        section.raw("<div class=\"case\" id=\"").raw(name).raw("-").text(slug(case));
        section.element("\">\n<h3 class=\"case-name\">", case, "</h3>\n<div class=\"tables\">\n");
        for own in tables {
            section.add(&table(own));
        }
        section.raw("</div>\n").add(&charts(plots)).raw("</div>\n");
    }
    section.raw("</section>\n");
    section
}

fn charts(plots: &[Plot]) -> Markup {
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

fn table(table: &ReportTable) -> Markup {
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
        // No line breaks before a unit or within `40-20`.
        let column = column.replace(", %", ",\u{a0}%").replace('-', "\u{2011}");
        markup.element("<th scope=\"col\">", column, "</th>");
    }
    markup.raw("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        markup.raw(match row.source {
            FigureSource::Measured => "<tr>",
            FigureSource::Published => "<tr class=\"published\">",
            FigureSource::Aim => "<tr class=\"aim\">",
        });
        // No line break after the minus of a left-out term.
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

fn cell(cell: &ReportCell) -> Markup {
    let mut markup = Markup::default();
    markup.element("<td>", &cell.text, "");
    match cell.met {
        Some(true) => markup.raw("<small class=\"met\">met</small>"),
        Some(false) => markup.raw("<small class=\"missed\">missed</small>"),
        None => &mut markup,
    };
    if !cell.note.is_empty() {
        // A note may break only before its interval.
        let note = cell.note.replace(' ', "\u{a0}").replace("\u{a0}[", " [");
        markup.element("<small>", note, "</small>");
    }
    markup.raw("</td>");
    markup
}
