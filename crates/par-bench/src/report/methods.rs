//! The methods: their labels, and their marks in every chart.

use par_plot::Shape;

use super::measured::Measured;
use crate::experiment::{lasting, peers, robustness};
use crate::figures::Figure;

/// The CSS classes of a colour: lines and filled marks, outlines, small marks, dashed lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Colour {
    pub(crate) line: &'static str,
    pub(crate) hollow: &'static str,
    pub(crate) small: &'static str,
    pub(crate) dashed: &'static str,
}

macro_rules! colour {
    ($name:literal) => {
        Colour {
            line: $name,
            hollow: concat!($name, " hollow"),
            small: concat!($name, " small"),
            dashed: concat!($name, " dashed"),
        }
    };
}

/// The colour and shape of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MarkStyle {
    pub(crate) colour: Colour,
    pub(crate) shape: Shape,
    /// Whether it is an outline.
    pub(crate) is_hollow: bool,
}

impl MarkStyle {
    pub(crate) fn class(self) -> &'static str {
        if self.is_hollow { self.colour.hollow } else { self.colour.line }
    }
}

impl Default for MarkStyle {
    fn default() -> Self {
        EXACT.look
    }
}

/// A method, its label and its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MethodStyle<'f> {
    /// Its name in figures.
    pub(crate) key: &'f str,
    /// Its name for readers.
    pub(crate) label: &'f str,
    pub(crate) look: MarkStyle,
}

impl<'f> MethodStyle<'f> {
    const fn new(key: &'f str, label: &'f str, colour: Colour, shape: Shape) -> Self {
        Self { key, label, look: MarkStyle { colour, shape, is_hollow: false } }
    }

    const fn outlined(mut self) -> Self {
        self.look.is_hollow = true;
        self
    }
}

const PRESET_COLOUR: Colour = colour!("preset");
pub(crate) const GENERATE: MethodStyle<'static> =
    MethodStyle::new("generate", "generate", colour!("generate"), Shape::Triangle);
pub(crate) const REFINE: MethodStyle<'static> =
    MethodStyle::new("refine", "refine", colour!("refine"), Shape::Circle);
pub(crate) const EXACT: MethodStyle<'static> =
    MethodStyle::new("exact", "exact", colour!("exact"), Shape::Square);
/// Our methods.
pub(crate) const OURS: [MethodStyle<'static>; 3] = [GENERATE, REFINE, EXACT];
/// The paper's preset, measured here: before and after local search.
pub(crate) const PRESET: [MethodStyle<'static>; 2] = [
    MethodStyle::new("paper/generate", "paper's preset, PAR", PRESET_COLOUR, Shape::Triangle),
    MethodStyle::new("paper/refine", "paper's preset, PAR (+LS)", PRESET_COLOUR, Shape::Circle),
];
/// Refine with other settings of answers.
pub(crate) const OTHERWISE_SET: [MethodStyle<'static>; 2] = [
    MethodStyle::new("nearest values/refine", "refine, nearest values", REFINE.look.colour, Shape::Circle)
        .outlined(),
    MethodStyle::new("default order/refine", "refine, default order", REFINE.look.colour, Shape::Diamond)
        .outlined(),
];
/// The mark of the preset as a whole: its fit, its encoder.
pub(crate) const LEARNING: MarkStyle = MarkStyle { shape: Shape::Diamond, ..PRESET[0].look };
/// The published names of the paper's method: before and after local search.
pub(crate) const PUBLISHED: [&str; 2] = ["PAR", "PAR (+LS)"];
/// The mark of published figures, an outline: their likelihoods are those of another circuit.
pub(crate) const PUBLISHED_LOOK: MarkStyle =
    MarkStyle { colour: colour!("published"), shape: Shape::Circle, is_hollow: true };
/// Methods of others.
pub(crate) const PEER: MarkStyle =
    MarkStyle { colour: colour!("peer"), shape: Shape::Cross, is_hollow: false };
pub(crate) const FRONTIER: &str = "frontier";

/// The methods of others with recorded answers: all with a validity that are not ours, and not native ones.
pub(crate) fn peers<'f>(measured: &Measured<'f>) -> Vec<MethodStyle<'f>> {
    let is_peer = |method: &&'f str| {
        let own = OURS.iter().any(|own| own.key == *method) || *method == FRONTIER;
        let variant = ["/generate", "/refine", "/exact", "/encoder"].iter().any(|end| method.ends_with(end));
        // Under the deployed classifier, or only under others where nothing but robustness was measured.
        let scored = |figure: &&Figure| {
            let is_of_answers = figure.metric.keys.is_empty() || figure.metric.key("classifier").is_some();
            is_of_answers && figure.value.is_some()
        };
        !own && !variant
            && ![peers::PREFIX, robustness::PREFIX, lasting::PREFIX]
                .iter()
                .any(|prefix| method.starts_with(prefix))
            && measured.named(method, "validity").iter().any(scored)
    };
    let peer = |key: &'f str| MethodStyle { key, label: key, look: PEER };
    measured.methods.iter().copied().filter(is_peer).map(peer).collect()
}
