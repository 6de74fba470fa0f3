//! Settings that have a name.

use clap::ValueEnum;
use par_model::Config;

/// Settings to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// As the paper does it: its circuits, its generator, its local search
    Paper,
}

impl Preset {
    /// The settings.
    pub fn config(self) -> Config {
        match self {
            Self::Paper => Config::paper(),
        }
    }
}
