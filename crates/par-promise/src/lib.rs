//! Promises: signed records of what was promised to whom, and whether a later model keeps them.
//!
//! | step | item             | takes                                        | gives                                     |
//! |------|------------------|----------------------------------------------|-------------------------------------------|
//! | 1    | [`PrivateKey`]   | randomness of the operating system           | a key that signs, and its [`PublicKey`]   |
//! | 2    | [`Issuer`]       | a person's answer                            | a [`Promise`] for each way                |
//! | 3    | [`Record`]       | the public half of a promise                 | what was promised until when, signed      |
//! | 4    | [`Sealed`]       | the other half, which the lender keeps       | the cells and salts behind the record     |
//! | 5    | [`Check`]        | a record, its sealed file, a later model     | whether it is genuine, in force and kept  |
//! | 6    | [`Audit`]        | a folder of promises and a candidate model   | the share of them that it keeps           |
//!
//! A record holds no cell: it commits to them by salted hashes. `docs/promises.md` says what that proves and what it
//! does not. Nothing here prints.

mod audit;
mod check;
mod date;
mod error;
mod file;
mod hex;
mod issue;
mod key;
mod later;
mod record;
mod sealed;
#[cfg(test)]
mod test_model;

pub use audit::{Audit, BrokenPromise, NamedFile};
pub use check::{Check, CheckOptions, DateVerdict, SealedVerdict, SignatureVerdict};
pub use date::{Date, DateError, ValidFor};
pub use error::{Error, FormatError};
pub use hex::{Hex, HexError};
pub use issue::{Issuer, Promise};
pub use key::{PrivateKey, PublicKey};
pub use later::{HashedModel, LaterVerdict};
pub use record::{Record, Terms};
pub use sealed::{Sealed, SealedPerson, SealedWay};
