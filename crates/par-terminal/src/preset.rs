//! Named settings.

use clap::ValueEnum;
use par_model::Config;

/// Named settings to start from.
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
