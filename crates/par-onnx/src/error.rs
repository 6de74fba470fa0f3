//! Why a file gives no model.

/// Why a file gives no model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are no ONNX file.
    #[error("this is no ONNX file: {reason}")]
    NotOnnx {
        /// What is wrong.
        reason: String,
    },
}
