//! SVG charts and HTML pages; all text is escaped. This crate knows nothing of models or rows.
//!
//! | module            | contents                                            |
//! |-------------------|-----------------------------------------------------|
//! | [`markup`]        | escaped text between constant tags                  |
//! | [`axis`]          | round ticks: plain, logarithmic, names              |
//! | [`chart`]         | lines, bars, marks, intervals, cells, and their key |
//! | [`labels`]        | labels beside points that do not overlap            |
//! | [`distributions`] | histograms and tallies of several series            |
//! | [`mod@frontier`]  | log-likelihood by number of changes                 |
//! | [`before_after`]  | one person among other people                       |
//! | [`pareto`]        | what ways cost and give                             |
//! | [`cohort`]        | what many people change, and how groups fare        |
//! | [`page`]          | the style of pages, a figure with its caption       |
//! | [`text`]          | aligned columns, readable numbers                   |

pub mod axis;
pub mod before_after;
pub mod chart;
pub mod cohort;
pub mod distributions;
pub mod frontier;
pub mod labels;
pub mod markup;
pub mod page;
pub mod pareto;
pub mod text;

pub use axis::Axis;
pub use chart::{Chart, Shape, Sign};
pub use frontier::frontier;
pub use markup::Markup;
