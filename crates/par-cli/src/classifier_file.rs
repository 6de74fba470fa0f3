//! External classifiers: the ONNX file, and the TOML file of its inputs.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use par_model::Model;
use par_model::classifier::inputs::Inputs;
use par_model::classifier::{DeployedClassifier, file_hash};
use par_onnx::Graph;

/// A larger file is refused before it fills the memory.
const MAX_BYTES: u64 = 1 << 28;

/// Reads the bytes of a classifier.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| anyhow!("{}: cannot be opened: {error}", path.display()))?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!(
            "{}: has more than {MAX_BYTES} bytes, expected a classifier of the rows of a table",
            path.display()
        );
    }
    Ok(bytes)
}

/// Reads the graph of a classifier: its inputs and outputs.
pub(crate) fn read_graph(path: &Path) -> Result<Graph> {
    Graph::from_bytes(&read(path)?).with_context(|| path.display().to_string())
}

/// Reads how a row becomes a classifier's inputs.
pub(crate) fn read_inputs(path: &Path) -> Result<Inputs> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| anyhow!("{}: cannot be opened: {error}", path.display()))?;
    Inputs::parse(&text).with_context(|| path.display().to_string())
}

/// Options that choose the classifier that decides.
#[derive(Args)]
pub(crate) struct ClassifierOptions {
    /// The classifier in use now, an ONNX file; refused if the model was made for another one
    #[arg(long, value_name = "FILE")]
    classifier: Option<PathBuf>,
    /// Use --classifier even if the model was made for another one
    #[arg(long, requires = "classifier")]
    other_classifier: bool,
    /// How a row becomes the inputs of that classifier [default: as for the model's own]
    #[arg(long, value_name = "FILE", requires = "other_classifier")]
    inputs: Option<PathBuf>,
}

impl ClassifierOptions {
    /// The files that the options name.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        [&self.classifier, &self.inputs].into_iter().flatten().map(PathBuf::as_path)
    }

    /// The model with the chosen classifier; `file` is the model's name in messages.
    pub(crate) fn answering(&self, model: Model, file: &Path) -> Result<Model> {
        let Some(path) = &self.classifier else { return Ok(model) };
        let (bytes, origin) = (read(path)?, path.display());
        let (found, expected) = (file_hash(&bytes), model.classifier().hash());
        if found == expected && self.inputs.is_none() {
            return Ok(model);
        }
        if !self.other_classifier && !matches!(model.classifier(), DeployedClassifier::External(_)) {
            bail!(
                "{}: was not made for an ONNX file, so {origin} is another classifier\n\
                 hint: make a model for it with `par fit --classifier`, or use it all the same with \
                 `--other-classifier`",
                file.display()
            );
        }
        if !self.other_classifier {
            bail!(
                "{origin}: is not the classifier that {} was made for: its SHA-256 is {found}, expected {expected}\n\
                 hint: make the model anew with `par fit --classifier`, or use this one all the same with \
                 `--other-classifier`",
                file.display()
            );
        }
        let inputs = match (&self.inputs, model.classifier()) {
            (Some(path), _) => read_inputs(path)?,
            (None, DeployedClassifier::External(external)) => external.inputs().clone(),
            (None, _) => bail!(
                "{}: was not made for an ONNX file, so it does not say how a row becomes the inputs of {origin}\n\
                 hint: `par inputs init` drafts a file for `--inputs`",
                file.display()
            ),
        };
        model.with_classifier(bytes, inputs).with_context(|| origin.to_string())
    }
}
