//! Charts as SVG, and pages that what they show cannot break. It knows nothing of models or rows: numbers in, SVG out.
//!
//! | module            | what it holds                                       |
//! |-------------------|-----------------------------------------------------|
//! | [`markup`]        | text that is escaped, tags that are not             |
//! | [`axis`]          | round ticks: plain, logarithmic, names              |
//! | [`chart`]         | lines, bars, marks, intervals, cells, and their key |
//! | [`labels`]        | names beside points that do not cover each other    |
//! | [`distributions`] | histograms and tallies of several series            |
//! | [`mod@frontier`]  | what more changes buy                               |
//! | [`page`]          | the style of pages, a figure with its caption       |
//! | [`text`]          | columns that line up, numbers that can be read      |

pub mod axis;
pub mod chart;
pub mod distributions;
pub mod frontier;
pub mod labels;
pub mod markup;
pub mod page;
pub mod text;

pub use axis::Axis;
pub use chart::{Chart, Shape, Sign};
pub use frontier::frontier;
pub use markup::Markup;
