//! Files of real exporters against what onnxruntime makes of them.

mod fixtures;
