//! The pages of a column, and how many values the current one has: only values of one page are decoded at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::ParquetError;

/// The page that was read last.
#[derive(Default)]
pub(super) struct CurrentPage {
    values: AtomicUsize,
    is_sharing: AtomicBool,
}

impl CurrentPage {
    /// How many values it has.
    pub(super) fn values(&self) -> usize {
        self.values.load(Ordering::Relaxed)
    }

    /// Whether its values share bytes, and have their own once they are decoded.
    pub(super) fn is_sharing(&self) -> bool {
        self.is_sharing.load(Ordering::Relaxed)
    }

    fn set(&self, page: &Page) {
        if page.is_data_page() {
            self.values.store(page.num_values() as usize, Ordering::Relaxed);
            self.is_sharing.store(page.encoding() == Encoding::DELTA_BYTE_ARRAY, Ordering::Relaxed);
        }
    }
}

/// The pages of a column, each noted when it is read.
pub(super) struct Pages {
    reader: Box<dyn PageReader>,
    current: Arc<CurrentPage>,
}

impl Pages {
    pub(super) fn new(reader: Box<dyn PageReader>, current: Arc<CurrentPage>) -> Self {
        Self { reader, current }
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        let page = self.reader.get_next_page()?;
        page.iter().for_each(|page| self.current.set(page));
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.reader.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.reader.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool, ParquetError> {
        self.reader.at_record_boundary()
    }
}

impl Iterator for Pages {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
