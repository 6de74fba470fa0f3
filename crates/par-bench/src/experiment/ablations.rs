//! What every term of the loss is for: generators that are trained without it.
//!
//! Bins, classifier and circuits stay as they are, and the seed is the same; only the generator is trained anew.
//! `…/generate` is its most probable row, whether or not the classifier accepts it, so that a generator that is rarely
//! right is still measured by all its rows. `…/refine` is what local search makes of it: valid, or no answer.
//!
//! # Paper
//! Q2: table 2 and the appendix's tables. The variants of the paper's preset are all that stand in them.

use par_recourse::{Bundle, Config, Method, Request};
use rayon::prelude::*;

use crate::case::Fold;
use crate::error::Error;
use crate::figures::Sheet;
use crate::judge::{Judge, Judged, add};

/// What training goes without: a term of the loss, or something beside the loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Proximity,
    Accepted,
    Denied,
    Sparsity,
    Validity,
    Entropy,
    /// Plausibility and proximity together.
    Block,
    Teaching,
    /// Examples with random locks.
    Locks,
    /// What the encoder is told.
    Neighbours,
}

/// Whose settings a variant has but for what it goes without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preset {
    Paper,
    Ours,
}

/// A way of training the generator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variant {
    pub(super) preset: Preset,
    pub(super) without: &'static [Part],
}

/// The paper's objective and what its tables leave out of it, in the order in which they first do.
const PAPER: [&[Part]; 15] = [
    &[],
    &[Part::Proximity],
    &[Part::Accepted, Part::Denied],
    &[Part::Proximity, Part::Denied],
    &[Part::Proximity, Part::Accepted],
    &[Part::Sparsity],
    &[Part::Validity],
    &[Part::Entropy],
    &[Part::Denied],
    &[Part::Block],
    &[Part::Entropy, Part::Block],
    &[Part::Accepted, Part::Denied, Part::Validity],
    &[Part::Accepted, Part::Validity],
    &[Part::Denied, Part::Validity],
    &[Part::Accepted],
];

/// Our objective and each of its terms.
const OURS: [&[Part]; 9] = [
    &[],
    &[Part::Teaching],
    &[Part::Validity],
    &[Part::Accepted],
    &[Part::Denied],
    &[Part::Proximity],
    &[Part::Sparsity],
    &[Part::Entropy],
    &[Part::Locks],
];

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Proximity => "proximity",
            Self::Accepted => "p+",
            Self::Denied => "p-",
            Self::Sparsity => "sparsity",
            Self::Validity => "validity",
            Self::Entropy => "entropy",
            Self::Block => "ppt",
            Self::Teaching => "teaching",
            Self::Locks => "locks",
            Self::Neighbours => "neighbours",
        }
    }

    /// Takes it out of a configuration and leaves the weight of everything else as it is.
    fn leave_out(self, config: &mut Config) {
        let loss = &mut config.generator.loss;
        match self {
            // α shares λ_ppt out between proximity and plausibility. Plausibility's share becomes all there is.
            Self::Proximity => {
                loss.plausibility_proximity *= 1.0 - loss.alpha;
                loss.alpha = 0.0;
            }
            Self::Accepted => loss.accepted = 0.0,
            Self::Denied => loss.denied = 0.0,
            Self::Sparsity => loss.sparsity = 0.0,
            Self::Validity => loss.validity = 0.0,
            Self::Entropy => loss.entropy = 0.0,
            Self::Block => loss.plausibility_proximity = 0.0,
            Self::Teaching => loss.teaching = 0.0,
            Self::Locks => config.generator.locked = 0.0,
            Self::Neighbours => config.pool.neighbours = 0,
        }
    }
}

impl Preset {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Ours => "ours",
        }
    }

    pub(super) fn bundle<'f>(self, fold: &'f Fold<'_>) -> Result<&'f Bundle, Error> {
        match self {
            Self::Paper => fold.paper(),
            Self::Ours => Ok(&fold.bundle),
        }
    }
}

impl Variant {
    /// `paper full`, `paper -p+ -p-`.
    fn name(self) -> String {
        let without: Vec<String> = self.without.iter().map(|part| format!("-{}", part.name())).collect();
        match without.is_empty() {
            true => format!("{} full", self.preset.name()),
            false => format!("{} {}", self.preset.name(), without.join(" ")),
        }
    }

    fn config(self, full: &Config) -> Config {
        let mut config = full.clone();
        self.without.iter().for_each(|part| part.leave_out(&mut config));
        config
    }
}

/// All variants that are compared by their loss.
fn variants() -> impl Iterator<Item = Variant> {
    let paper = PAPER.into_iter().map(|without| Variant { preset: Preset::Paper, without });
    paper.chain(OURS.into_iter().map(|without| Variant { preset: Preset::Ours, without }))
}

/// Measures every variant on the denied people of a fold.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    measure_variants(fold, &variants().collect::<Vec<_>>(), sheet)
}

/// Trains variants, side by side, and measures what they tell the denied people of a fold.
pub(super) fn measure_variants(
    fold: &Fold<'_>,
    variants: &[Variant],
    sheet: &mut Sheet,
) -> Result<(), Error> {
    let people = denied(fold)?;
    let measure = |variant: &Variant| {
        let full = variant.preset.bundle(fold)?;
        // Training it once more would give the same generator.
        if variant.without.is_empty() {
            return replies(fold, full, &people);
        }
        let trained = full.with_config(variant.config(full.config()), &mut |_| {});
        replies(fold, &trained.map_err(|source| fold.case.fit_error(fold.name, source))?, &people)
    };
    // The paper's bundle is made once, before they part.
    for variant in variants {
        variant.preset.bundle(fold)?;
    }
    let measured: Vec<[Vec<Option<Judged>>; 2]> =
        variants.par_iter().map(measure).collect::<Result<_, Error>>()?;
    for (variant, [proposed, refined]) in variants.iter().zip(measured) {
        add(sheet, &format!("{}/generate", variant.name()), &proposed);
        add(sheet, &format!("{}/refine", variant.name()), &refined);
    }
    Ok(())
}

/// Those of a fold who are denied, by their places.
pub(super) fn denied(fold: &Fold<'_>) -> Result<Vec<usize>, Error> {
    let bundle = &fold.bundle;
    let mut denied = Vec::new();
    for (place, person) in fold.people.iter().enumerate() {
        let codes = bundle.discretizer().encode_row(&person.cells());
        let codes = codes.map_err(|source| fold.row_error(place, source))?;
        if bundle.probability(codes.codes()) < bundle.threshold() {
            denied.push(place);
        }
    }
    Ok(denied)
}

/// A bundle's most probable rows, and what its local search makes of them.
fn replies(fold: &Fold<'_>, bundle: &Bundle, people: &[usize]) -> Result<[Vec<Option<Judged>>; 2], Error> {
    let (mut solver, mut judge) = (bundle.solver(), Judge::new(bundle));
    let refine = Request { method: Method::Refine, ..Request::default() };
    let mut replies = [Vec::with_capacity(people.len()), Vec::with_capacity(people.len())];
    for &place in people {
        let cells = fold.people[place].cells();
        let proposed = solver.propose(&cells).map_err(|source| fold.row_error(place, source))?;
        let refined = solver.answer(&cells, &refine).map_err(|source| fold.row_error(place, source))?;
        let mut judged = |reply: &[String]| {
            let reply: Vec<&str> = reply.iter().map(String::as_str).collect();
            judge.judge(&cells, &reply).map_err(|source| fold.row_error(place, source))
        };
        replies[0].push(Some(judged(&proposed)?));
        replies[1].push(refined.ways().first().map(|way| judged(&way.cells)).transpose()?);
    }
    Ok(replies)
}
