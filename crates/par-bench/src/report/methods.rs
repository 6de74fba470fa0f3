//! Who answers: what readers call them, and how they look in every chart.

use par_plot::Shape;

use super::measured::Measured;
use crate::figures::Figure;

/// The classes of a colour: of lines and filled marks, of outlines, of small marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Colour {
    pub(crate) line: &'static str,
    pub(crate) hollow: &'static str,
    pub(crate) small: &'static str,
}

macro_rules! colour {
    ($name:literal) => {
        Colour { line: $name, hollow: concat!($name, " hollow"), small: concat!($name, " small") }
    };
}

/// How a mark looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) colour: Colour,
    pub(crate) shape: Shape,
    /// Whether it is an outline.
    pub(crate) is_hollow: bool,
}

impl Look {
    pub(crate) fn class(self) -> &'static str {
        if self.is_hollow { self.colour.hollow } else { self.colour.line }
    }
}

impl Default for Look {
    fn default() -> Self {
        EXACT.look
    }
}

/// Somebody who answers people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Method<'f> {
    /// In figures.
    pub(crate) key: &'f str,
    /// For readers.
    pub(crate) label: &'f str,
    pub(crate) look: Look,
}

impl<'f> Method<'f> {
    const fn new(key: &'f str, label: &'f str, colour: Colour, shape: Shape) -> Self {
        Self { key, label, look: Look { colour, shape, is_hollow: false } }
    }
}

const PRESET_COLOUR: Colour = colour!("preset");
pub(crate) const GENERATE: Method<'static> =
    Method::new("generate", "generate", colour!("generate"), Shape::Triangle);
pub(crate) const REFINE: Method<'static> = Method::new("refine", "refine", colour!("refine"), Shape::Circle);
pub(crate) const EXACT: Method<'static> = Method::new("exact", "exact", colour!("exact"), Shape::Square);
/// Ours.
pub(crate) const OURS: [Method<'static>; 3] = [GENERATE, REFINE, EXACT];
/// The paper's preset, made here: before and after local search.
pub(crate) const PRESET: [Method<'static>; 2] = [
    Method::new("paper/generate", "paper's preset, PAR", PRESET_COLOUR, Shape::Triangle),
    Method::new("paper/refine", "paper's preset, PAR (+LS)", PRESET_COLOUR, Shape::Circle),
];
/// The same as a whole: what learning costs, what its encoder does.
pub(crate) const LEARNING: Look = Look { shape: Shape::Diamond, ..PRESET[0].look };
/// What is published of the paper's method: before and after local search.
pub(crate) const PUBLISHED: [&str; 2] = ["PAR", "PAR (+LS)"];
/// What is published, always an outline: its likelihoods are those of another circuit.
pub(crate) const PUBLISHED_LOOK: Look =
    Look { colour: colour!("published"), shape: Shape::Circle, is_hollow: true };
/// Methods of others.
pub(crate) const PEER: Look = Look { colour: colour!("peer"), shape: Shape::Cross, is_hollow: false };
pub(crate) const FRONTIER: &str = "frontier";

/// Methods of others whose answers were scored here, also where there was none: all that have a validity and are none
/// of ours.
pub(crate) fn peers<'f>(measured: &Measured<'f>) -> Vec<Method<'f>> {
    let is_peer = |method: &&'f str| {
        let own = OURS.iter().any(|own| own.key == *method) || *method == FRONTIER;
        let variant = ["/generate", "/refine", "/exact", "/encoder"].iter().any(|end| method.ends_with(end));
        let scored = |figure: &&Figure| figure.metric.keys.is_empty() && figure.value.is_some();
        !own && !variant && measured.named(method, "validity").iter().any(scored)
    };
    let peer = |key: &'f str| Method { key, label: key, look: PEER };
    measured.methods.iter().copied().filter(is_peer).map(peer).collect()
}
