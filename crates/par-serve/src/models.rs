//! The models by name. Each is replaced while it serves when its file changes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use par_recourse::classifier::file_hash;
use par_recourse::metrics::median;
use par_recourse::{Bundle, BundleError};

use crate::Error;
use crate::api_docs::ApiDocs;

/// A model that is loaded under a name, and what follows from the model alone.
pub(crate) struct ServedModel {
    name: String,
    bundle: Bundle,
    sha256: String,
    loaded: SystemTime,
    /// Features (positions) by name.
    features: BTreeMap<String, usize>,
    /// log p⁺ of the median accepted row.
    median_log_likelihood: Option<f64>,
    /// Made at the first request for it.
    api_docs: OnceLock<ApiDocs>,
}

impl ServedModel {
    pub(crate) fn new(name: &str, bundle: Bundle) -> Self {
        let features = bundle.schema().features().iter().zip(0..);
        Self {
            name: name.to_string(),
            sha256: file_hash(&bundle.to_bytes()),
            loaded: SystemTime::now(),
            features: features.map(|(feature, position)| (feature.name.clone(), position)).collect(),
            median_log_likelihood: median(bundle.pool().log_likelihoods().to_vec()),
            api_docs: OnceLock::new(),
            bundle,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// The SHA-256 of the model's bytes, which is its version.
    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// When it was read, in seconds since 1970.
    pub(crate) fn loaded(&self) -> u64 {
        self.loaded.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }

    /// The position of a feature.
    pub(crate) fn feature(&self, name: &str) -> Option<usize> {
        self.features.get(name).copied()
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
    pub(crate) outcome: Result<String, BundleError>,
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
            let bundle = Bundle::load(path)
                .map_err(|source| Error::Model { path: path.clone(), source: Box::new(source) })?;
            let model = ServedModel::new(name, bundle);
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
        let bundle = regular_file(&self.path).map_err(BundleError::from).and_then(Bundle::read);
        let outcome = bundle.map(|bundle| {
            let model = ServedModel::new(&self.name, bundle);
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
