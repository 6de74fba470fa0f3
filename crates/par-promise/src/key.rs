//! The keys that sign records, and their files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use par_files::Readers;

use crate::error::Error;
use crate::file::SmallFile;
use crate::hex::Hex;

const PRIVATE: &str = "par promise private key";
const PUBLIC: &str = "par promise public key";
/// A key file has two short lines.
const MOST_BYTES: u64 = 1024;

/// Random bytes of the operating system.
pub(crate) fn random<const N: usize>() -> Result<Hex<N>, Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(Error::Randomness)?;
    Ok(Hex(bytes))
}

/// An Ed25519 key that signs records. It never appears in messages.
pub struct PrivateKey(SigningKey);

impl PrivateKey {
    /// A new key, from randomness of the operating system.
    ///
    /// # Errors
    /// When there is none.
    pub fn generate() -> Result<Self, Error> {
        Ok(Self(SigningKey::from_bytes(&random()?.0)))
    }

    /// Reads a key file.
    ///
    /// # Errors
    /// When it cannot be read, is no private key, or others can read or change it.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let file = SmallFile::read(path, MOST_BYTES, "a private key")?;
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata.permissions()) & 0o777;
            if mode & 0o077 != 0 {
                return Err(Error::OpenKey { path: path.to_path_buf(), mode });
            }
        }
        let seed = key_bytes(&file.bytes, PRIVATE);
        let seed = seed.map_err(|reason| no_key(path, "private", reason))?;
        Ok(Self(SigningKey::from_bytes(&seed.0)))
    }

    /// Writes the key to a new file for its owner alone, and its public key to a file with `.pub` after the name, which
    /// is returned.
    ///
    /// # Errors
    /// When one of them exists or cannot be written; then there is neither.
    pub fn save(&self, path: &Path) -> Result<PathBuf, Error> {
        let mut name = OsString::from(path);
        name.push(".pub");
        let public = PathBuf::from(name);
        if public.symlink_metadata().is_ok() {
            return Err(par_files::Error::Exists(public).into());
        }
        let text = |kind: &str, bytes: [u8; 32]| format!("{kind}\n{}\n", Hex(bytes));
        par_files::create(path, text(PRIVATE, self.0.to_bytes()).as_bytes(), Readers::Owner)?;
        let written =
            par_files::create(&public, text(PUBLIC, self.public_key().0.0).as_bytes(), Readers::Anybody);
        if let Err(error) = written {
            // It was created just now; what cannot be removed stays a sound key.
            let _ = std::fs::remove_file(path);
            return Err(error.into());
        }
        Ok(public)
    }

    /// Its public key.
    pub fn public_key(&self) -> PublicKey {
        PublicKey(Hex(self.0.verifying_key().to_bytes()))
    }

    /// The signature of a message.
    pub(crate) fn sign(&self, message: &[u8]) -> Hex<64> {
        Hex(self.0.sign(message).to_bytes())
    }
}

/// The public half of a key, by which everybody can tell what it signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey(Hex<32>);

impl PublicKey {
    /// The key with these bytes. Whether they are a key shows when a signature is verified.
    pub fn from_bytes(bytes: Hex<32>) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub fn bytes(self) -> Hex<32> {
        self.0
    }

    /// Reads the file of a public key.
    ///
    /// # Errors
    /// When it cannot be read, or is no public key.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let file = SmallFile::read(path, MOST_BYTES, "a public key")?;
        let bytes = key_bytes(&file.bytes, PUBLIC);
        bytes.map(Self).map_err(|reason| no_key(path, "public", reason))
    }

    /// Whether it signed the message. Keys and signatures with several forms are refused.
    pub(crate) fn verifies(self, message: &[u8], signature: Hex<64>) -> bool {
        let signature = Signature::from_bytes(&signature.0);
        VerifyingKey::from_bytes(&self.0.0).is_ok_and(|key| key.verify_strict(message, &signature).is_ok())
    }
}

/// The bytes in a key file of a kind. Reasons never quote the file, which may be a private key.
fn key_bytes(file: &[u8], kind: &'static str) -> Result<Hex<32>, String> {
    let mut lines = std::str::from_utf8(file).unwrap_or_default().lines();
    match lines.next() {
        Some(found) if found == kind => {}
        Some(PRIVATE) => return Err("it is a private key, which nobody else may have".to_string()),
        Some(PUBLIC) => return Err("it is a public key, which cannot sign".to_string()),
        _ => return Err(format!("its first line is not `{kind}`")),
    }
    let digits = lines.next().unwrap_or_default().parse();
    let more = lines.any(|line| !line.is_empty());
    digits
        .ok()
        .filter(|_| !more)
        .ok_or_else(|| "its second line is not 64 hexadecimal digits, and its last".to_string())
}

fn no_key(path: &Path, expected: &'static str, reason: String) -> Error {
    Error::NoKey { path: path.to_path_buf(), expected, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HINT: &str = "hint: `par promise keygen` makes a key, and its public key beside it";

    #[test]
    fn a_saved_key_signs_what_its_public_key_verifies() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        let key = PrivateKey::generate().expect("randomness");
        let public = key.save(&path).expect("files");
        assert_eq!(public, folder.path().join("key.pub"));
        let signature = PrivateKey::load(&path).expect("a key").sign(b"message");
        let public = PublicKey::load(&public).expect("a public key");
        assert_eq!(public, key.public_key());
        assert!(public.verifies(b"message", signature));
        assert!(!public.verifies(b"massage", signature));
        let other = PrivateKey::generate().expect("randomness").public_key();
        assert!(!other.verifies(b"message", signature));
    }

    #[test]
    fn signatures_are_those_of_the_standard() {
        // RFC 8032, section 7.1, test 2.
        let seed = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
        let key = PrivateKey(SigningKey::from_bytes(&seed.parse::<Hex<32>>().expect("digits").0));
        assert_eq!(
            key.public_key().bytes().to_string(),
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
        );
        assert_eq!(
            key.sign(&[0x72]).to_string(),
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
             085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        );
    }

    #[test]
    fn a_weak_key_verifies_nothing() {
        let neutral = Hex(std::array::from_fn(|at| u8::from(at == 0)));
        let mut signature = [0; 64];
        signature[0] = 1;
        assert!(!PublicKey(neutral).verifies(b"anything", Hex(signature)));
    }

    #[test]
    fn neither_file_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        let public = folder.path().join("key.pub");
        let key = PrivateKey::generate().expect("randomness");
        std::fs::write(&public, "mine").expect("a file");
        let error = key.save(&path).expect_err("there is one").to_string();
        let expected = |path: &Path| {
            format!("{}: exists already, and is not replaced\nhint: choose another name", path.display())
        };
        assert_eq!(error, expected(&public));
        assert!(!path.exists());
        std::fs::remove_file(&public).expect("removed");
        key.save(&path).expect("files");
        std::fs::remove_file(&public).expect("removed");
        assert_eq!(key.save(&path).expect_err("there is one").to_string(), expected(&path));
        assert!(!public.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_private_key_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        PrivateKey::generate().expect("randomness").save(&path).expect("files");
        for mode in [0o644, 0o640, 0o602] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("permissions");
            assert_eq!(
                PrivateKey::load(&path).err().expect("open to others").to_string(),
                format!(
                    "{}: others can read or change this private key (its mode is {mode:03o}), expected a file for its \
                     owner alone (600)\nhint: `chmod 600` closes it; if somebody may have read it, make another key",
                    path.display()
                )
            );
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o400)).expect("permissions");
        assert!(PrivateKey::load(&path).is_ok());
    }

    #[test]
    fn other_files_are_no_keys() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        let key = PrivateKey::generate().expect("randomness");
        let public = key.save(&path).expect("files");
        let error = |result: Result<PublicKey, Error>| result.expect_err("no key").to_string();
        assert_eq!(
            error(PublicKey::load(&path)),
            format!(
                "{}: is no public key: it is a private key, which nobody else may have\n{HINT}",
                path.display()
            )
        );
        let name = public.display().to_string();
        for (bytes, reason) in [
            (&b"hello"[..], "its first line is not `par promise public key`"),
            (b"\xff\xfe", "its first line is not `par promise public key`"),
            (b"", "its first line is not `par promise public key`"),
            (b"par promise public key\n", "its second line is not 64 hexadecimal digits, and its last"),
            (b"par promise public key\n00\n", "its second line is not 64 hexadecimal digits, and its last"),
        ] {
            std::fs::write(&public, bytes).expect("a file");
            assert_eq!(
                error(PublicKey::load(&public)),
                format!("{name}: is no public key: {reason}\n{HINT}")
            );
        }
        std::fs::write(&public, [b' '; 1025]).expect("a file");
        assert_eq!(
            error(PublicKey::load(&public)),
            format!("{name}: has more than 1024 bytes, expected a public key")
        );
        assert_eq!(
            error(PublicKey::load(folder.path())),
            format!("{}: is a folder, expected a public key", folder.path().display())
        );
    }
}
