//! The native half of the Python package `par_recourse`: tables in and out through the Arrow C interface, and
//! the library behind them. What a Python user sees is written in Python, in `python/par_recourse`.
//!
//! | file      | what it does                                            |
//! |-----------|---------------------------------------------------------|
//! | `table`   | record batches → cells                                  |
//! | `frame`   | answers → record batches                                |
//! | `fit`     | a table → a model                                      |
//! | `model`  | a model, and what it says of rows                      |
//! | `request` | what is asked for                                       |
//! | `answers` | the rows of a table → lines of the tidy table           |
//! | `figure`  | what more changes buy, drawn                            |
//! | `threads` | work without the interpreter's lock, that can be stopped |
//! | `errors`  | what went wrong → Python's exceptions                   |

#![expect(clippy::needless_pass_by_value, reason = "what comes from Python is owned")]

mod answers;
mod errors;
mod figure;
mod fit;
mod frame;
mod model;
mod request;
mod table;
mod threads;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "as Python calls it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use super::answers::Answers;
    #[pymodule_export]
    use super::fit::{as_toml, draft_inputs, draft_schema, fit, german_credit, schema_facts};
    #[pymodule_export]
    use super::model::Model;
}
