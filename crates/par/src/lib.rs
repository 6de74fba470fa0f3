//! Plausible algorithmic recourse: when a classifier denies a person, what could they change to be accepted?
//!
//! This crate is the Rust interface, and its documentation the manual. The crates behind it (`par-data`,
//! `par-circuit`, `par-model`, `par-answer`, `par-fit`) are for programs that need single parts.
//!
//! # Learn once
//!
//! A [`Schema`] describes the columns of a [`Table`] and what people can change. A [`ModelBuilder`] learns a
//! [`Model`] from both: bins, classifier, circuits, generator. A model is one file, without any training row.
//!
//! ```
//! use par::{Config, Model, ModelBuilder, german_credit};
//!
//! let mut config = Config::default();
//! config.generator.steps = 20; // Few, so that the example is fast.
//! let model = ModelBuilder::new(german_credit::schema(), config).fit(|| Ok(german_credit::table()))?;
//! let file = std::env::temp_dir().join("manual.par");
//! model.save(&file)?;
//! let model = Model::load(&file)?;
//! assert_eq!(model.card().classes, ["Good", "Bad"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`ModelBuilder::with_classifier`] takes an external classifier as an ONNX file; [`Inputs`] maps a row to its inputs.
//! [`refit()`] trains another generator without any data.
//!
//! # Answer each person
//!
//! A person is a row: its cells as the table writes them, in the order of the schema. [`answer()`] gives an [`Answer`]:
//! accepted as they are, [`Found`] with its [`Way`]s of [`Change`]s, or [`NotFound`] with a [`Reason`]. A [`Request`]
//! holds what this person asks for: a [`Method`], locked features, [`Limits`], how many ways and in which [`Order`].
//!
//! ```
//! use par::{Answer, Limits, Method, Permitted, Request, answer};
//! # use par::{Config, ModelBuilder, german_credit};
//! # let mut config = Config::default();
//! # config.generator.steps = 20;
//! # let model = ModelBuilder::new(german_credit::schema(), config).fit(|| Ok(german_credit::table()))?;
//!
//! let applicant = [
//!     "A12", "48", "A32", "A43", "5951", "A61", "A73", "2", "A92", "A101", "2", "A121", "22", "A143", "A152", "1",
//!     "A173", "1", "A191", "A201",
//! ];
//! let duration = model.schema().position("Duration")?;
//! let request = Request {
//!     method: Method::Exact,
//!     locks: model.schema().positions(&["Purpose"])?,
//!     limits: Limits::new(model.discretizer(), [(duration, Permitted::Between([24.0, 60.0]))])?,
//!     count: 2,
//!     ..Request::default()
//! };
//! match answer(&model, &applicant, &request)? {
//!     Answer::Found(found) => {
//!         for way in &found.ways {
//!             assert!(way.probability >= model.threshold());
//!             assert!(way.changes.iter().all(|change| change.name != "Purpose"));
//!         }
//!     }
//!     Answer::NotFound(none) => println!("no way: {:?}", none.reason),
//!     Answer::Accepted { .. } => println!("nothing has to change"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Answer many
//!
//! A [`Solver`] reuses its buffers from person to person; [`answer_batch`] uses all threads; [`evaluate`] measures the
//! answers. A [`Stop`] ends a fit or a search early.
//!
//! ```
//! use par::{Method, Request, answer_batch, german_credit};
//! # use par::{Config, ModelBuilder};
//! # let mut config = Config::default();
//! # config.generator.steps = 20;
//! # let model = ModelBuilder::new(german_credit::schema(), config).fit(|| Ok(german_credit::table()))?;
//!
//! let table = german_credit::table();
//! let columns = model.schema().columns(table.origin(), table.columns())?;
//! for batch in table.batches(500) {
//!     let batch = batch?;
//!     let request = |_row| Request { method: Method::Generate, ..Request::default() };
//!     let answers = answer_batch(&model, &columns, &batch, request);
//!     assert_eq!(answers.len(), batch.rows());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use par_answer::evaluate::{Evaluation, MethodMetrics, evaluate};
pub use par_answer::{
    Answer, BestAt, Change, Found, Method, NotFound, Obstacle, Point, Reason, Request, Solver, Way, answer,
    answer_batch,
};
pub use par_circuit::Stop;
pub use par_data::{Batch, Columns, Limits, Permitted, Schema, Table, TableOptions, german_credit};
pub use par_fit::{Error, ModelBuilder, Stage, refit, with_config};
pub use par_model::classifier::{Inputs, Threshold};
pub use par_model::{Config, Model, ModelError, Order, RowError};
