//! What differs between two models before anybody is asked, in words.

use par_data::{Domain, Feature};
use par_model::Model;

/// How two models differ in what they read, accept and count, a sentence each.
pub fn differences(old: &Model, new: &Model) -> Vec<String> {
    let mut notes = Vec::new();
    let (accepts, now_accepts) = (accepted(old), accepted(new));
    if accepts != now_accepts {
        notes.push(format!(
            "accepted means {accepts} in the old model, and {now_accepts} in the new one: \
             decisions and scores are not of the same thing"
        ));
    }
    for (name, model) in [("old", old), ("new", new)] {
        if !model.classifier().verifies() {
            notes.push(format!("a surrogate stands for the classifier of the {name} model"));
        }
    }
    let find =
        |model: &Model, name: &str| model.schema().features().iter().position(|feature| feature.name == name);
    for (position, feature) in old.schema().features().iter().enumerate() {
        match find(new, &feature.name) {
            Some(other) => notes.extend(feature_differences(old, position, new, other)),
            None => notes.push(format!(
                "`{}` is read by the old model alone: changing it makes no difference to the new one",
                feature.name
            )),
        }
    }
    for feature in new.schema().features() {
        if find(old, &feature.name).is_none() {
            notes.push(format!(
                "`{}` is read by the new model alone: old ways leave it as the table has it",
                feature.name
            ));
        }
    }
    notes
}

/// Who is accepted, apart from the threshold.
fn accepted(model: &Model) -> String {
    let Some(label) = model.schema().label() else { return "what the classifier accepts".to_string() };
    match &label.goal {
        Some(goal) => format!("a `{}` of {} a number", label.column, goal.side.words()),
        None => {
            let classes: Vec<String> = model.favourable().iter().map(|class| format!("`{class}`")).collect();
            format!("{} of `{}`", classes.join(" or "), label.column)
        }
    }
}

fn feature_differences(old: &Model, position: usize, new: &Model, other: usize) -> Vec<String> {
    let (was, is) = (&old.schema().features()[position], &new.schema().features()[other]);
    let (had, has) = (&old.discretizer().domains()[position], &new.discretizer().domains()[other]);
    let name = &was.name;
    let mut notes = Vec::new();
    match (had, has) {
        (Domain::Categories { values: had, .. }, Domain::Categories { values: has, .. }) => {
            notes.extend(unknown_categories("new", is, had, has));
            notes.extend(unknown_categories("old", was, has, had));
        }
        (Domain::Categories { .. }, _) | (_, Domain::Categories { .. }) => notes.push(format!(
            "`{name}` is {} in the old model, and {} in the new one",
            was.kind.name(),
            is.kind.name()
        )),
        _ => {}
    }
    match (old.constraints().is_immutable(position), new.constraints().is_immutable(other)) {
        (false, true) => {
            notes.push(format!("`{name}` may change by the old model, and not by the new one"));
        }
        (true, false) => {
            notes.push(format!("`{name}` may change by the new model, and not by the old one"));
        }
        _ => {}
    }
    if was.effort != is.effort {
        notes.push(format!(
            "`{name}` costs another effort in the new schema, by which both ways are measured"
        ));
    }
    if was.takes != is.takes {
        notes.push(format!("`{name}` takes another time in the new schema: months are those of each model"));
    }
    notes
}

/// That a model does not know some categories that the other one knows.
fn unknown_categories(model: &str, feature: &Feature, known: &[String], own: &[String]) -> Option<String> {
    /// At most so many are named.
    const NAMED: usize = 5;
    let unknown: Vec<String> =
        known.iter().filter(|value| !own.contains(value)).map(|value| format!("`{value}`")).collect();
    let more = match unknown.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = unknown.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let then = if feature.missing { "they count as unknown" } else { "rows with them cannot be read" };
    (!unknown.is_empty())
        .then(|| format!("`{}`: the {model} model does not know {named}{more}; {then}", feature.name))
}
