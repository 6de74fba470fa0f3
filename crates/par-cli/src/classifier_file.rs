//! External classifiers: the ONNX file, and the TOML file of its inputs.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

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

/// Another version of a classifier, as an option names it: `FILE`, `FILE,inputs=FILE,threshold=SCORE`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VersionFile {
    pub(crate) file: PathBuf,
    pub(crate) inputs: Option<PathBuf>,
    pub(crate) threshold: Option<f64>,
}

impl FromStr for VersionFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut file, mut inputs, mut threshold) = (text, None, None);
        while let Some((before, option)) = file.rsplit_once(',') {
            match option.split_once('=') {
                Some(("inputs", path)) if inputs.is_none() => inputs = Some(PathBuf::from(path)),
                Some(("threshold", score)) if threshold.is_none() => {
                    let score = score.parse().ok().filter(|score: &f64| score.is_finite());
                    threshold = Some(score.ok_or("expected a number after `threshold=`")?);
                }
                // A comma of the file's name.
                _ => break,
            }
            file = before;
        }
        Ok(Self { file: PathBuf::from(file), inputs, threshold })
    }
}

impl VersionFile {
    /// All files that it names.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        [Some(&self.file), self.inputs.as_ref()].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Its name, for people: that of the file, without its folder.
    pub(crate) fn name(&self) -> String {
        self.file.file_name().unwrap_or(self.file.as_os_str()).to_string_lossy().into_owned()
    }

    /// How a row becomes its inputs: as its own file says, or as for the classifier in use.
    pub(crate) fn inputs(&self, in_use: impl FnOnce() -> Option<Inputs>) -> Result<Inputs> {
        match &self.inputs {
            Some(path) => read_inputs(path),
            None => in_use().ok_or_else(|| {
                anyhow!(
                    "{file}: nothing says how a row becomes its inputs\n\
                     hint: `par inputs init` drafts a file for `--also {file},inputs=FILE`",
                    file = self.file.display()
                )
            }),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_names_its_file_inputs_and_threshold() {
        let read = |text: &str| text.parse::<VersionFile>();
        let version = |file: &str, inputs: Option<&str>, threshold| {
            Ok(VersionFile { file: file.into(), inputs: inputs.map(PathBuf::from), threshold })
        };
        assert_eq!(read("next.onnx"), version("next.onnx", None, None));
        assert_eq!(read("a,b.onnx"), version("a,b.onnx", None, None));
        assert_eq!(
            read("next.onnx,threshold=0.4,inputs=in.toml"),
            version("next.onnx", Some("in.toml"), Some(0.4))
        );
        assert_eq!(read("next.onnx,threshold=high"), Err("expected a number after `threshold=`".to_string()));
    }
}
