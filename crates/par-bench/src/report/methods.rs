//! Who answers: what readers call them, and how they look in every chart.

use par_plot::Shape;

use super::view::View;

/// Somebody who answers people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Method<'f> {
    /// In figures.
    pub(crate) key: &'f str,
    /// For readers.
    pub(crate) label: &'f str,
    pub(crate) class: &'static str,
    pub(crate) shape: Shape,
}

pub(crate) const GENERATE: Method<'static> =
    Method { key: "generate", label: "generate", class: "generate", shape: Shape::Triangle };
pub(crate) const REFINE: Method<'static> =
    Method { key: "refine", label: "refine", class: "refine", shape: Shape::Circle };
pub(crate) const EXACT: Method<'static> =
    Method { key: "exact", label: "exact", class: "exact", shape: Shape::Square };
/// Ours.
pub(crate) const OURS: [Method<'static>; 3] = [GENERATE, REFINE, EXACT];
/// The paper's preset, made here: before and after local search.
pub(crate) const PRESET: [Method<'static>; 2] = [
    Method { key: "paper/generate", label: "paper's preset, PAR", class: "preset", shape: Shape::Triangle },
    Method { key: "paper/refine", label: "paper's preset, PAR (+LS)", class: "preset", shape: Shape::Circle },
];
/// What is published of the paper's method: before and after local search.
pub(crate) const PUBLISHED: [&str; 2] = ["PAR", "PAR (+LS)"];
pub(crate) const FRONTIER: &str = "frontier";

/// Methods of others whose answers were scored here, also where there was none: all that have a validity and are none
/// of ours.
pub(crate) fn peers<'f>(view: &View<'f>, case: &'f str) -> Vec<Method<'f>> {
    let is_peer = |method: &&'f str| {
        let own = OURS.iter().any(|own| own.key == *method) || *method == FRONTIER;
        let variant = ["/generate", "/refine", "/exact", "/encoder"].iter().any(|end| method.ends_with(end));
        let scored =
            |figure: &&crate::figures::Figure| figure.metric.keys.is_empty() && figure.value.is_some();
        !own && !variant && view.named(case, method, "validity").iter().copied().any(|figure| scored(&figure))
    };
    let peer = |key: &'f str| Method { key, label: key, class: "peer", shape: Shape::Cross };
    view.methods(case).iter().copied().filter(is_peer).map(peer).collect()
}

/// The class of the outline of a mark, which says that its likelihood is that of another circuit.
pub(crate) fn hollow(class: &str) -> &'static str {
    match class {
        "preset" => "preset hollow",
        "published" => "published hollow",
        "refine" => "refine hollow",
        "generate" => "generate hollow",
        "exact" => "exact hollow",
        _ => "peer hollow",
    }
}
