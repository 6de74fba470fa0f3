//! The answers of some people, on cards.

use par_answer::{Answer, Found, Method, NotFound, words};
use par_model::Model;
use par_plot::Markup;
use par_plot::chart::score_change;

use super::DeniedPerson;

/// A card with the answer of each person.
pub(super) fn section(model: &Model, people: &[&DeniedPerson]) -> Markup {
    let mut section = Markup::default();
    section.raw("<section>\n<h2>Answers</h2>\n<p>").text(format!(
        "{}. The mark on each line is the threshold, {:.0} %: to its right, people are accepted.",
        match people.len() {
            0 => "No person is denied".to_string(),
            1 => "One person who is denied".to_string(),
            count => format!("{count} of the denied people"),
        },
        100.0 * model.threshold()
    ));
    section.raw("</p>\n<div class=\"cards\">\n");
    for person in people {
        section.element("<article class=\"card\"><header><h3>", format!("Denied {}", person.id), "</h3>");
        match person.answer(Method::Exact) {
            Answer::Found(found) => section.add(&way(model, found)),
            Answer::NotFound(not_found) => section.add(&no_way(model, not_found)),
            Answer::Accepted { .. } => section.raw("</header><p>Accepted as they are.</p>"),
        };
        section.raw("</article>\n");
    }
    section.raw("</div>\n</section>\n");
    section
}

fn way(model: &Model, found: &Found) -> Markup {
    let way = &found.ways[0];
    let mut card = Markup::default();
    match way.is_optimal() {
        true => card.raw("<span class=\"badge\">proved</span></header>"),
        false => card.raw("<span class=\"badge open\">not proved</span></header>"),
    };
    card.raw("<ul class=\"changes\">");
    for change in &way.changes {
        let words = words::change(change);
        let becomes = words.strip_prefix(&format!("{}: ", change.name)).unwrap_or(&words);
        card.element("<li><b>", &change.name, "</b>").element("", becomes, "</li>");
    }
    for consequence in &way.consequences {
        card.element("<li>then ", consequence.sentence(), "</li>");
    }
    card.raw("</ul>").add(&odds(model, found.probability, Some(way.probability)));
    card.element("<p>", sentence(&words::cost(way.effort, way.months)), "</p>");
    if !way.has_margin {
        card.element("<p>", sentence(words::close(way)), "</p>");
    }
    card.element("<p>That row is ", words::percentile(way.percentile), ".</p>");
    if let Some(virtues) = words::best_at(found, way) {
        card.element("<p>Best at: ", virtues, ".</p>");
    }
    match words::proof(1, way) {
        Some(proof) => card.element("<p>", sentence(&proof), "</p>"),
        None => card.raw("<p>Another row might be better: not all of them were searched.</p>"),
    };
    card
}

/// Words with a capital at the start and a full stop at the end.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(letters).chain(['.']).collect()
}

/// The probability of acceptance before and after.
fn odds(model: &Model, before: f64, after: Option<f64>) -> Markup {
    let percent = |probability: f64| format!("{:.0} %", 100.0 * probability);
    let mut odds = Markup::default();
    let description = match after {
        Some(after) => format!("accepted with {}, {} before", percent(after), percent(before)),
        None => format!("accepted with {}", percent(before)),
    };
    odds.element("<div class=\"odds\"><span>", format!("now {}", percent(before)), "</span>");
    if let Some(after) = after {
        odds.element("<b>", format!("then {}", percent(after)), "</b>");
    }
    odds.raw("</div>").add(&score_change(&description, before, after.unwrap_or(before), model.threshold()));
    odds
}

fn no_way(model: &Model, not_found: &NotFound) -> Markup {
    let mut card = Markup::default();
    card.raw("<span class=\"badge open\">no way found</span></header><ul class=\"changes\"><li>");
    card.text(words::reason(not_found)).raw("</li>");
    if let Some(remedy) = words::remedy(model.schema(), not_found) {
        card.element("<li><b>what would help</b>", remedy, "</li>");
    }
    card.raw("</ul>").add(&odds(model, not_found.probability, None));
    card
}
