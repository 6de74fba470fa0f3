//! A classifier of somebody else's, as an ONNX file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};
use par_onnx::Graph;

/// A larger file is taken for something else than a classifier of rows.
const MAX_BYTES: u64 = 1 << 28;

/// Reads a classifier.
pub(crate) fn read(path: &Path) -> Result<Graph> {
    let origin = path.display();
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .with_context(|| format!("{origin}: cannot be read"))?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("{origin}: the file is larger than {MAX_BYTES} bytes");
    }
    Graph::from_bytes(&bytes).with_context(|| origin.to_string())
}
