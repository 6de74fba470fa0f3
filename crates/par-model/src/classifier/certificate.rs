//! The certificate: a lower bound on the log-odds of every classifier near the deployed one.
//!
//! | classifier | near means                                                                            | file              |
//! |------------|---------------------------------------------------------------------------------------|-------------------|
//! | network    | every weight and bias within δ times the largest weight of its layer                  | [`parameter_box`] |
//! | trees      | every threshold within δ times the spread of its column                               | `trees/certified` |
//! | of parts   | each part in a box of its own, combined by the head, which rises or falls with each   | `composed`        |
//!
//! `docs/lasting.md` has the formulas, and what is not proved.

mod addends;
mod network;
mod parameter_box;
#[cfg(test)]
mod tests;

pub(super) use self::addends::Addends;
pub(super) use self::network::CertifiedNetwork;
pub(super) use self::parameter_box::ParameterBox;

/// Which bound of a part the lower bound on the whole needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Lowest,
    Highest,
}

impl End {
    /// The bound itself.
    pub(super) fn of(self, [lowest, highest]: [f64; 2]) -> f64 {
        match self {
            Self::Lowest => lowest,
            Self::Highest => highest,
        }
    }
}
