//! Charts as SVG, and pages that what they show cannot break. It knows nothing of recourse.
//!
//! | module     | what it holds                           |
//! |------------|-----------------------------------------|
//! | [`markup`] | text that is escaped, tags that are not |
//! | [`chart`]  | axes, lines, bars, points               |

pub mod chart;
pub mod markup;

pub use chart::{Axis, Chart};
pub use markup::Markup;
