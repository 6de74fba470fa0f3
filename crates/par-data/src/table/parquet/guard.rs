//! The `parquet` crate panics on some damaged files, where it should return an error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use parquet::errors::ParquetError;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Silences what a guarded thread would print of a panic.
static SILENCE: Once = Once::new();

/// Returns an error where `read` panics; what it worked on must not be used after that.
pub(super) fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    SILENCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                usual(panic);
            }
        }));
    });
    let before = IS_GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    IS_GUARDED.set(before);
    result.unwrap_or_else(|_| {
        Err(ParquetError::General("the file is damaged\nhint: write the table again".to_string()))
    })
}
