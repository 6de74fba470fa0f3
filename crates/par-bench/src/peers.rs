//! Methods of others on the same questions: implemented here, or their recorded answers.
//!
//! | module       | method                                                    | paper                  | keeps immutable features |
//! |--------------|-----------------------------------------------------------|------------------------|--------------------------|
//! | `face`       | shortest path to an accepted row, over training rows      | Poyiadzi et al. 2020   | yes                      |
//! | `nice`       | copies from the nearest accepted row until it is enough   | Brughmans et al. 2021  | no                       |
//! | `spheres`    | draws from growing spheres                                | Laugel et al. 2018     | yes                      |
//! | `proplace`   | a robust row in the hull of robust training rows          | Jiang et al. 2023      | no                       |
//! | `vae_answer` | decodes the person as an accepted one                     | Mahajan et al. 2019    | no                       |
//! | `cchvae`     | draws around the person's latent code                     | Pawelczyk et al. 2020  | yes                      |
//! | `dice`       | random and genetic search                                 | Mothilal et al. 2020   | yes                      |
//! | `lice`       | a mixed-integer program, solved by HiGHS                  | Nemecek et al. 2025    | yes                      |
//! | [`recorded`] | answers of another program, read from a table             |                        |                          |
//!
//! All ask the fold's own classifier, know its training rows and nothing else of the schema than the kinds of features
//! and, where the original has that option, which are immutable: clocks and consequences are not, and no policy is known.
//! LiCE knows our circuit, and what may become of each feature and the rules between directions, but no other relations;
//! it is left out where there are clocks or consequences. The same seed gives the same answers.

mod cchvae;
mod dice;
mod face;
mod known;
mod lice;
mod nice;
mod normal;
mod program;
mod proplace;
pub mod recorded;
mod space;
mod spheres;
#[cfg(test)]
mod tests;
mod vae;
mod vae_answer;

pub use known::Known;
pub use lice::{Lice, LiceAnswer, Likelihood, SECONDS as LICE_SECONDS};
pub use program::is_solver;
pub(crate) use space::is_locked;

use crate::method::Method;

/// A method of others that is implemented here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// FACE over the graph of nearest neighbours.
    FaceKnn,
    /// FACE over the graph of rows within a distance.
    FaceEpsilon,
    /// NICE with its reward for sparsity.
    Nice,
    /// Growing spheres.
    Spheres,
    /// PROPLACE.
    Proplace,
    /// The VAE of Mahajan et al.
    Vae,
    /// C-CHVAE.
    Cchvae,
    /// DiCE's random search.
    DiceRandom,
    /// DiCE's genetic search.
    DiceGenetic,
}

impl Native {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::FaceKnn,
        Self::FaceEpsilon,
        Self::Nice,
        Self::Spheres,
        Self::Proplace,
        Self::Vae,
        Self::Cchvae,
        Self::DiceRandom,
        Self::DiceGenetic,
    ];

    /// Its name in figures.
    pub fn name(self) -> &'static str {
        match self {
            Self::FaceKnn => "FACE (knn)",
            Self::FaceEpsilon => "FACE (ε)",
            Self::Nice => "NICE",
            Self::Spheres => "growing spheres",
            Self::Proplace => "PROPLACE",
            Self::Vae => "VAE",
            Self::Cchvae => "C-CHVAE",
            Self::DiceRandom => "DiCE (random)",
            Self::DiceGenetic => "DiCE (genetic)",
        }
    }

    /// Prepares it for the people of a fold: graphs are built and networks trained here.
    pub fn prepare<'k>(self, known: &'k Known<'_>) -> Box<dyn Method + 'k> {
        match self {
            Self::FaceKnn => Box::new(face::Face::new(known, face::Edges::Nearest)),
            Self::FaceEpsilon => Box::new(face::Face::new(known, face::Edges::Within)),
            Self::Nice => Box::new(nice::Nice::new(known)),
            Self::Spheres => Box::new(spheres::Spheres::new(known)),
            Self::Proplace => Box::new(proplace::Proplace::new(known)),
            Self::Vae => Box::new(vae_answer::VaeAnswer::new(known)),
            Self::Cchvae => Box::new(cchvae::Cchvae::new(known)),
            Self::DiceRandom => Box::new(dice::Dice::new(known, dice::Search::Random)),
            Self::DiceGenetic => Box::new(dice::Dice::new(known, dice::Search::Genetic)),
        }
    }
}
