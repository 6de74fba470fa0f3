//! Refinement: from a proposal to a better candidate nearby, never leaving the mask or the budget.

pub(crate) mod paper;
pub(crate) mod swap;
