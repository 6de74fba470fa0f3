//! The models by name, each of which may be replaced while it is asked.

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
use crate::guide::Guide;

/// A bundle under the name it is asked by, and what follows from it alone.
pub(crate) struct Model {
    name: String,
    bundle: Bundle,
    sha256: String,
    loaded: SystemTime,
    /// Features (positions) by name.
    features: BTreeMap<String, usize>,
    /// log p⁺ of the median accepted row.
    usual: Option<f64>,
    /// What is said of it to those who ask, once somebody does.
    guide: OnceLock<Guide>,
}

impl Model {
    pub(crate) fn new(name: &str, bundle: Bundle) -> Self {
        let features = bundle.schema().features().iter().zip(0..);
        Self {
            name: name.to_string(),
            sha256: file_hash(&bundle.to_bytes()),
            loaded: SystemTime::now(),
            features: features.map(|(feature, position)| (feature.name.clone(), position)).collect(),
            usual: median(bundle.pool().log_likelihoods().to_vec()),
            guide: OnceLock::new(),
            bundle,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// The SHA-256 of the bundle's bytes.
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
    pub(crate) fn usual(&self) -> Option<f64> {
        self.usual
    }

    /// What is said of it to those who ask.
    pub(crate) fn guide(&self) -> &OnceLock<Guide> {
        &self.guide
    }
}

/// Opens a file without waiting for anybody: a pipe in its place would have nobody write into it, and is refused.
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

/// A name, the file behind it, and the model it was when it could last be read.
struct Source {
    name: String,
    path: PathBuf,
    model: RwLock<Arc<Model>>,
    /// The file as it was when it was last tried.
    tried: Mutex<Option<Stamp>>,
}

/// Enough of a file to see that it is another.
#[derive(Clone, Copy, PartialEq)]
struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    #[cfg(unix)]
    number: u64,
}

/// What became of a file that changed.
pub(crate) struct Reload {
    /// The model's name.
    pub(crate) name: String,
    /// Its new hash, or why the one before goes on answering.
    pub(crate) outcome: Result<String, BundleError>,
}

impl Models {
    /// Reads all of them.
    ///
    /// # Errors
    /// With the file, when one cannot be read.
    pub(crate) fn load(files: &[(String, PathBuf)]) -> Result<Self, Error> {
        let source = |(name, path): &(String, PathBuf)| {
            // Taken before it is read: what changes meanwhile is then seen as changed.
            let tried = Mutex::new(Stamp::of(path));
            let bundle = Bundle::load(path)
                .map_err(|source| Error::Model { path: path.clone(), source: Box::new(source) })?;
            let model = Model::new(name, bundle);
            Ok(Source { name: name.clone(), path: path.clone(), model: RwLock::new(Arc::new(model)), tried })
        };
        Ok(Self(files.iter().map(source).collect::<Result<_, Error>>()?))
    }

    /// The model of that name; the first without one.
    pub(crate) fn get(&self, name: Option<&str>) -> Option<Arc<Model>> {
        let source = match name {
            Some(name) => self.0.iter().find(|source| source.name == name)?,
            None => &self.0[0],
        };
        Some(source.model())
    }

    /// All of them as they are now.
    pub(crate) fn all(&self) -> impl Iterator<Item = Arc<Model>> {
        self.0.iter().map(Source::model)
    }

    /// Their names.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.iter().map(|source| source.name.as_str()).collect()
    }

    /// Reads the files that have changed, or `all` of them. Requests that are under way keep the model they began with; one
    /// that cannot be read leaves the one before in its place.
    pub(crate) fn reload(&self, all: bool) -> Vec<Reload> {
        self.0.iter().filter_map(|source| source.reload(all)).collect()
    }
}

impl Source {
    fn model(&self) -> Arc<Model> {
        Arc::clone(&self.model.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn reload(&self, always: bool) -> Option<Reload> {
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Stamp::of(&self.path);
        if now == *tried && !always {
            return None;
        }
        *tried = now;
        let bundle = regular_file(&self.path).map_err(BundleError::from).and_then(Bundle::read);
        let outcome = bundle.map(|bundle| {
            let model = Model::new(&self.name, bundle);
            let sha256 = model.sha256.clone();
            *self.model.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(model);
            sha256
        });
        Some(Reload { name: self.name.clone(), outcome })
    }
}

impl Stamp {
    /// Nothing where there is no file.
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
