//! The models by name. Each is replaced while it serves when its file changes.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use par_answer::evaluate::median;
use par_model::classifier::file_hash;
use par_model::{Model, ModelError};

use crate::Error;
use crate::api_docs::ApiDocs;

/// A model that is loaded under a name, and what follows from the model alone.
pub(crate) struct ServedModel {
    name: String,
    model: Model,
    sha256: String,
    loaded: SystemTime,
    /// log p⁺ of the median accepted row.
    median_log_likelihood: Option<f64>,
    /// Made at the first request for it.
    api_docs: OnceLock<ApiDocs>,
}

impl ServedModel {
    pub(crate) fn new(name: &str, model: Model) -> Self {
        Self {
            name: name.to_string(),
            sha256: file_hash(&model.to_bytes()),
            loaded: SystemTime::now(),
            median_log_likelihood: median(model.pool().log_likelihoods().to_vec()),
            api_docs: OnceLock::new(),
            model,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The SHA-256 of the model's bytes, which is its version.
    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// When it was read, in seconds since 1970.
    pub(crate) fn loaded(&self) -> u64 {
        self.loaded.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }

    /// log p⁺ of the median accepted row.
    pub(crate) fn median_log_likelihood(&self) -> Option<f64> {
        self.median_log_likelihood
    }

    /// The description of the API for this model, once it is made.
    pub(crate) fn api_docs(&self) -> &OnceLock<ApiDocs> {
        &self.api_docs
    }
}

impl Deref for ServedModel {
    type Target = Model;

    fn deref(&self) -> &Model {
        &self.model
    }
}

/// Opens a file without blocking: on a pipe in its place, opening would wait for a writer.
fn regular_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("expected a file, found a pipe, a folder or a device"));
    }
    Ok(file)
}

/// The models in the order they were named; there is at least one.
pub(crate) struct Models(Vec<Source>);

/// A name, its file, and the last model that could be read from it.
struct Source {
    name: String,
    path: PathBuf,
    model: RwLock<Arc<ServedModel>>,
    /// The file when it was last read, with success or not.
    tried: Mutex<Option<FileState>>,
}

/// Differs when the file has changed.
#[derive(Clone, Copy, PartialEq)]
struct FileState {
    modified: Option<SystemTime>,
    bytes: u64,
    #[cfg(unix)]
    number: u64,
}

/// The outcome of reading a file again.
pub(crate) struct Reload {
    /// The model's name.
    pub(crate) name: String,
    /// The hash of the new model, or why the previous one is kept.
    pub(crate) outcome: Result<String, ModelError>,
}

impl Models {
    /// Reads all models.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(crate) fn load(files: &[(String, PathBuf)]) -> Result<Self, Error> {
        let source = |(name, path): &(String, PathBuf)| {
            // Taken before reading, so that a change while reading is noticed.
            let tried = Mutex::new(FileState::of(path));
            let model = Model::load(path)
                .map_err(|source| Error::Model { path: path.clone(), source: Box::new(source) })?;
            let model = ServedModel::new(name, model);
            Ok(Source { name: name.clone(), path: path.clone(), model: RwLock::new(Arc::new(model)), tried })
        };
        Ok(Self(files.iter().map(source).collect::<Result<_, Error>>()?))
    }

    /// The model of that name; the first one by default.
    pub(crate) fn get(&self, name: Option<&str>) -> Option<Arc<ServedModel>> {
        let source = match name {
            Some(name) => self.0.iter().find(|source| source.name == name)?,
            None => &self.0[0],
        };
        Some(source.model())
    }

    /// The present models.
    pub(crate) fn all(&self) -> impl Iterator<Item = Arc<ServedModel>> {
        self.0.iter().map(Source::model)
    }

    /// Their names.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.iter().map(|source| source.name.as_str()).collect()
    }

    /// Reads the files that have changed, or `all` of them. Requests in flight keep their model; a model that cannot be read
    /// leaves the previous one in place.
    pub(crate) fn reload(&self, all: bool) -> Vec<Reload> {
        self.0.iter().filter_map(|source| source.reload(all)).collect()
    }
}

impl Source {
    fn model(&self) -> Arc<ServedModel> {
        Arc::clone(&self.model.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn reload(&self, always: bool) -> Option<Reload> {
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        let now = FileState::of(&self.path);
        if now == *tried && !always {
            return None;
        }
        *tried = now;
        let model = regular_file(&self.path).map_err(ModelError::from).and_then(Model::read);
        let outcome = model.map(|model| {
            let model = ServedModel::new(&self.name, model);
            let sha256 = model.sha256.clone();
            *self.model.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(model);
            sha256
        });
        Some(Reload { name: self.name.clone(), outcome })
    }
}

impl FileState {
    /// `None` if there is no file.
    fn of(path: &Path) -> Option<Self> {
        let found = path.metadata().ok()?;
        Some(Self {
            modified: found.modified().ok(),
            bytes: found.len(),
            #[cfg(unix)]
            number: std::os::unix::fs::MetadataExt::ino(&found),
        })
    }
}
