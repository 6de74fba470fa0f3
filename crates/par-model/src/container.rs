//! The layout that our files share: a magic word, a version, parts with their lengths, and a checksum.
//!
//! | bytes | content                                    |
//! |-------|--------------------------------------------|
//! | 8     | the magic word                             |
//! | 4     | version of the layout                      |
//! | 8     | length of the first part                   |
//! | …     | the first part; then the others in the same way |
//! | 4     | CRC-32 of everything before                |
//!
//! Numbers are little-endian. Parts are slices of the input, so a wrong length cannot cause a large allocation.

/// Why bytes are not a complete container.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// The magic word is not the expected one.
    #[error("the file is of another kind")]
    OtherKind,
    /// The layout is of another version.
    #[error("version {found} of this file is not known, this program reads versions up to {expected}")]
    OtherVersion {
        /// The version of the file.
        found: u32,
        /// The newest version that this program reads.
        expected: u32,
    },
    /// The file ends too early, or a length in it is wrong.
    #[error("the file is cut off or damaged: expected {expected} more bytes, found {found}")]
    CutOff {
        /// Bytes that should follow.
        expected: u64,
        /// Bytes that do.
        found: usize,
    },
    /// Bytes follow the last part.
    #[error("{0} bytes follow the end of the file's last part")]
    TooLong(usize),
    /// The checksum does not match.
    #[error("the file is damaged: its checksum is {found:08x}, expected {expected:08x}")]
    Damaged {
        /// The checksum of the bytes.
        found: u32,
        /// The checksum in the file.
        expected: u32,
    },
}

/// Writes parts as one container.
pub fn frame(magic: &[u8; 8], version: u32, parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = magic.to_vec();
    bytes.extend(version.to_le_bytes());
    for part in parts {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    let checksum = crc32fast::hash(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

/// The parts of a container.
///
/// # Errors
/// When the bytes are of another kind or version, cut off, too long or damaged.
pub fn parts<'a, const N: usize>(
    bytes: &'a [u8],
    magic: &[u8; 8],
    version: u32,
) -> Result<[&'a [u8]; N], ContainerError> {
    let mut rest = bytes.strip_prefix(magic).ok_or(ContainerError::OtherKind)?;
    let found = u32::from_le_bytes(take(&mut rest)?);
    if found != version {
        return Err(ContainerError::OtherVersion { found, expected: version });
    }
    let mut parts: [&[u8]; N] = [&[]; N];
    for part in &mut parts {
        let expected = u64::from_le_bytes(take(&mut rest)?);
        let split = usize::try_from(expected).ok().and_then(|length| rest.split_at_checked(length));
        (*part, rest) = split.ok_or(ContainerError::CutOff { expected, found: rest.len() })?;
    }
    let expected = u32::from_le_bytes(take(&mut rest)?);
    if !rest.is_empty() {
        return Err(ContainerError::TooLong(rest.len()));
    }
    let found = crc32fast::hash(&bytes[..bytes.len() - 4]);
    if found == expected { Ok(parts) } else { Err(ContainerError::Damaged { found, expected }) }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], ContainerError> {
    let cut_off = ContainerError::CutOff { expected: N as u64, found: rest.len() };
    let (taken, after) = rest.split_first_chunk().ok_or(cut_off)?;
    *rest = after;
    Ok(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: &[u8; 8] = b"TESTING\n";

    #[test]
    fn parts_are_read_as_they_were_written() {
        let bytes = frame(MAGIC, 3, &[b"one", b"", b"three"]);
        assert_eq!(parts(&bytes, MAGIC, 3), Ok([b"one".as_slice(), b"", b"three"]));
    }

    #[test]
    fn every_truncation_and_every_flipped_bit_is_detected() {
        let bytes = frame(MAGIC, 3, &[b"one", b"two"]);
        for length in 0..bytes.len() {
            assert!(parts::<2>(&bytes[..length], MAGIC, 3).is_err(), "{length} bytes");
        }
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(parts::<2>(&flipped, MAGIC, 3).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn errors_say_what_was_found_and_what_was_expected() {
        let bytes = frame(MAGIC, 3, &[b"one"]);
        let message = |bytes: &[u8], version| match parts::<1>(bytes, MAGIC, version) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        assert_eq!(
            message(&bytes, 2),
            "version 3 of this file is not known, this program reads versions up to 2"
        );
        let mut absurd = bytes.clone();
        absurd[12..20].fill(0xff);
        assert_eq!(
            message(&absurd, 3),
            "the file is cut off or damaged: expected 18446744073709551615 more bytes, found 7"
        );
        assert_eq!(message(b"nonsense", 3), "the file is of another kind");
        let longer = frame(MAGIC, 3, &[b"one", b""]);
        assert_eq!(message(&longer, 3), "8 bytes follow the end of the file's last part");
    }
}
