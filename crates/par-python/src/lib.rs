//! The native half of the Python package `par_recourse`: tables in and out through the Arrow C interface, and
//! the library behind them. The public interface is written in Python, in `python/par_recourse`.
//!
//! | file      | task                                                     |
//! |-----------|----------------------------------------------------------|
//! | `table`   | record batches → cells                                   |
//! | `frame`   | answers → record batches                                 |
//! | `schema`  | drafts and facts of schemas, TOML as Python's values     |
//! | `fit`     | a table → a model                                        |
//! | `model`   | a model, its scores and its answers                      |
//! | `request` | options → a request                                      |
//! | `answers` | the rows of a table → lines of answers                   |
//! | `figure`  | charts                                                   |
//! | `threads` | interruptible work without the interpreter's lock        |
//! | `errors`  | errors → Python's exceptions                             |

#![expect(clippy::needless_pass_by_value, reason = "arguments from Python are owned")]

mod answers;
mod errors;
mod figure;
mod fit;
mod frame;
mod model;
mod request;
mod schema;
mod table;
mod threads;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name in Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use super::answers::Answers;
    #[pymodule_export]
    use super::figure::{draw_before_after, draw_changes, draw_groups, draw_pareto};
    #[pymodule_export]
    use super::fit::{draft_inputs, fit, german_credit};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::schema::{draft_schema, read_toml, schema_facts, upgrade_schema};
}
