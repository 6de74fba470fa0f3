//! Errors of the library as the exceptions of `par_recourse.errors`, with the same messages.

use std::fmt::Display;
use std::path::Path;

use par_fit::Error;
use par_model::ModelError;
use par_model::container::ContainerError;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// An exception of a class in `par_recourse.errors`.
fn exception(class: &str, message: &str) -> PyErr {
    Python::attach(|py| {
        let found = py.import("par_recourse.errors").and_then(|errors| errors.getattr(class));
        match found.and_then(|class| Ok(class.cast_into::<PyType>()?)) {
            Ok(class) => PyErr::from_type(class, message.to_string()),
            Err(_) => PyException::new_err(message.to_string()),
        }
    })
}

pub(crate) fn par(message: &str) -> PyErr {
    exception("ParError", message)
}

pub(crate) fn setting(message: &str) -> PyErr {
    exception("SettingError", message)
}

pub(crate) fn classifier(error: impl Display) -> PyErr {
    exception("ClassifierError", &error.to_string())
}

pub(crate) fn schema(error: &par_data::schema::SchemaError) -> PyErr {
    schema_text(&error.to_string())
}

pub(crate) fn schema_text(message: &str) -> PyErr {
    exception("SchemaError", message)
}

pub(crate) fn data(error: &par_data::Error) -> PyErr {
    match error {
        par_data::Error::Schema(error) => schema(error),
        par_data::Error::UnknownFeature { .. } => setting(&error.to_string()),
        par_data::Error::NoSuchFile { .. } => exception("FileError", &error.to_string()),
        _ => exception("DataError", &error.to_string()),
    }
}

pub(crate) fn fit(error: &Error) -> PyErr {
    match error {
        Error::Data(error) => data(error),
        Error::NoLabel | Error::Favourable(_) | Error::OneSide { .. } => {
            exception("SchemaError", &error.to_string())
        }
        Error::Config(_) => setting(&error.to_string()),
        Error::External(_) | Error::NoScore { .. } | Error::OneDecision { .. } => classifier(error),
        Error::Inverted { .. } => exception("InvertedClassifierError", &error.to_string()),
        _ => exception("DataError", &error.to_string()),
    }
}

/// `path` is absent if the model came as bytes.
pub(crate) fn model(error: &ModelError, path: Option<&Path>) -> PyErr {
    let origin = path.map_or("model".to_string(), |path| path.display().to_string());
    match error {
        ModelError::Io(error) => exception("FileError", &format!("{origin}: {error}")),
        ModelError::Write(error) => exception("FileError", &error.to_string()),
        ModelError::Container(ContainerError::OtherKind) => exception(
            "ModelError",
            &format!("{origin}: not a model file\nhint: `Recourse.save` and `par fit` make one"),
        ),
        damaged => {
            exception("ModelError", &format!("{origin}: {damaged}\nhint: copy it again, or make it again"))
        }
    }
}

pub(crate) fn data_text(error: impl Display) -> PyErr {
    exception("DataError", &error.to_string())
}
