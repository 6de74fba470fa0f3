//! The messages of an ONNX file, as far as they are needed.
