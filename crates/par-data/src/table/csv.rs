//! CSV files, plain or gzipped, one record at a time.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::sync::Arc;

use csv::{ErrorKind, ReaderBuilder, StringRecord};
use flate2::bufread::MultiGzDecoder;

use super::{Batch, MAX_CELL_BYTES, RowPlace, TableOptions};
use crate::error::Error;

const BUFFER_BYTES: usize = 1 << 16;
/// Follows the last byte of a file. It is a row of its own, unless the file ends within a quote, which the CSV reader would
/// not tell.
const END: &str = "\n\0end of the table\0";

/// Reads the first line; returns the column names and a reader of the rows.
pub(super) fn open(
    origin: &Arc<str>,
    reader: Box<dyn Read + Send>,
    options: &TableOptions,
) -> Result<(Vec<String>, CsvReader), Error> {
    let failed = |source| Error::read(origin, source);
    let mut raw = BufReader::with_capacity(BUFFER_BYTES, reader);
    let gzip = raw.fill_buf().map_err(failed)?.starts_with(&[0x1f, 0x8b]);
    let plain: Box<dyn Read + Send> = if gzip { Box::new(MultiGzDecoder::new(raw)) } else { Box::new(raw) };

    let mut plain = BufReader::with_capacity(BUFFER_BYTES, plain);
    let failed = |source| {
        if gzip { Error::gzip(origin, 1, source) } else { Error::read(origin, source) }
    };
    let mut start = first_line(&mut plain).map_err(failed)?;
    if start.starts_with("\u{feff}".as_bytes()) {
        start.drain(.."\u{feff}".len());
    }
    let delimiter = options.delimiter.unwrap_or_else(|| delimiter(&start));
    let crlf = start.ends_with(b"\r\n");

    let reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(BUFFER_BYTES)
        .from_reader(RecordLimit {
            inner: Cursor::new(start).chain(plain),
            since_record: 0,
            limit: options.max_row,
            end: END.as_bytes(),
        });
    let mut rows = CsvReader {
        origin: Arc::clone(origin),
        gzip,
        crlf,
        reader,
        record: StringRecord::new(),
        first_is_data: !options.header,
        max_row: options.max_row,
    };
    if !rows.read_record()? {
        return Err(Error::EmptyFile { origin: Arc::clone(origin) });
    }
    let columns = if options.header {
        rows.record.iter().map(str::to_string).collect()
    } else {
        (0..rows.record.len()).map(|column| column.to_string()).collect()
    };
    Ok((columns, rows))
}

/// The first line, or as much of it as fits into the buffer. One read may return less: [`super::Table::open`]
/// chains two readers.
fn first_line(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    let mut is_quoted = false;
    while start.len() < BUFFER_BYTES && (is_quoted || !start.ends_with(b"\n")) {
        let before = start.len();
        reader.by_ref().take((BUFFER_BYTES - before) as u64).read_until(b'\n', &mut start)?;
        if start.len() == before {
            break;
        }
        is_quoted ^= start[before..].iter().filter(|&&byte| byte == b'"').count() % 2 == 1;
    }
    Ok(start)
}

/// Comma, semicolon or tab: the first of these that occurs outside quotes in the first line.
fn delimiter(start: &[u8]) -> u8 {
    let mut quoted = false;
    let line: Vec<u8> = start
        .iter()
        .copied()
        .filter(|&byte| {
            quoted ^= byte == b'"';
            !quoted
        })
        .take_while(|&byte| byte != b'\n')
        .collect();
    *b",;\t".iter().find(|delimiter| line.contains(delimiter)).unwrap_or(&b',')
}

/// The first line, which was read to find the delimiter, and the rest of the file.
type Bytes = Chain<Cursor<Vec<u8>>, BufReader<Box<dyn Read + Send>>>;

pub(super) struct CsvReader {
    origin: Arc<str>,
    gzip: bool,
    /// Whether lines end in CR LF.
    crlf: bool,
    reader: csv::Reader<RecordLimit<Bytes>>,
    record: StringRecord,
    /// Whether `record` holds the first row already, because there is no header.
    first_is_data: bool,
    max_row: usize,
}

impl CsvReader {
    /// Adds the next row to `batch`; `false` at the end of the file.
    pub(super) fn read_into(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        if !std::mem::take(&mut self.first_is_data) && !self.read_record()? {
            return Ok(false);
        }
        batch.push(self.record_line(), &self.record)?;
        Ok(true)
    }

    fn record_line(&self) -> u64 {
        self.record.position().map_or(0, |position| self.line(position))
    }

    /// The line of a position. The CSV reader ends a record at the CR, and counts the LF only when it reads
    /// the next one.
    fn line(&self, position: &csv::Position) -> u64 {
        position.line() + u64::from(self.crlf && position.byte() > 0)
    }

    fn read_record(&mut self) -> Result<bool, Error> {
        self.reader.get_mut().since_record = 0;
        let found = self.reader.read_record(&mut self.record).map_err(|error| self.explain(error))?;
        let last = self.record.iter().next_back().unwrap_or_default();
        if self.record.len() == 1 && last == &END[1..] {
            return Ok(false);
        }
        if last.ends_with(END) {
            return Err(Error::OpenQuote { place: self.place(self.record_line()) });
        }
        if let Some(column) = self.record.iter().position(|cell| cell.len() > MAX_CELL_BYTES) {
            let place = self.place(self.record_line());
            return Err(Error::CellTooLong { place, column: column + 1, limit: MAX_CELL_BYTES });
        }
        Ok(found)
    }

    fn explain(&self, error: csv::Error) -> Error {
        let line = self.line(self.reader.position());
        match error.into_kind() {
            ErrorKind::Utf8 { pos, err } => {
                let line = pos.map_or(line, |position| self.line(&position));
                Error::NotUtf8 { place: self.place(line), column: err.field() + 1 }
            }
            ErrorKind::Io(source) if source.kind() == io::ErrorKind::FileTooLarge => {
                Error::RecordTooLong { place: self.place(line), limit: self.max_row }
            }
            ErrorKind::Io(source) if self.gzip => Error::gzip(&self.origin, line, source),
            ErrorKind::Io(source) => Error::read(&self.origin, source),
            other => Error::read(&self.origin, io::Error::other(format!("{other:?}"))),
        }
    }

    fn place(&self, line: u64) -> RowPlace {
        RowPlace { origin: Arc::clone(&self.origin), unit: "line", position: line }
    }
}

/// Refuses a record beyond a number of bytes, so that a quote that is not closed cannot fill the memory, and marks the
/// end.
struct RecordLimit<R> {
    inner: R,
    since_record: usize,
    limit: usize,
    /// What is left of [`END`].
    end: &'static [u8],
}

impl<R: Read> Read for RecordLimit<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.since_record > self.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let read = match self.inner.read(buffer)? {
            0 => self.end.read(buffer)?,
            read => read,
        };
        self.since_record += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_one_outside_quotes() {
        assert_eq!(delimiter(b"a,b;c\n1;2"), b',');
        assert_eq!(delimiter(b"\"a,b\";c\n1,2"), b';');
        assert_eq!(delimiter(b"a b\tc\n1,2"), b'\t');
        assert_eq!(delimiter(b"alone\n1,2"), b',');
    }

    fn read(text: &'static str) -> Result<Vec<Vec<String>>, Error> {
        let (columns, mut rows) = open(&"t.csv".into(), Box::new(text.as_bytes()), &TableOptions::default())?;
        let mut batch = Batch::new("t.csv", columns.len());
        while rows.read_into(&mut batch)? {}
        let cells = |row| (0..columns.len()).map(|column| batch.cell(row, column).to_string()).collect();
        Ok((0..batch.rows()).map(cells).collect())
    }

    #[test]
    fn a_file_that_ends_within_a_quote_is_refused() {
        for text in ["a,b\n1,2\n3,\"x", "a,b\n1,2\n3,\"x\n", "a,b\n1,2\n3,\"", "a,b\n1,2\n\"3,4\n5,6\n"] {
            let error = read(text).expect_err("an open quote").to_string();
            let expected = "t.csv, line 3: the file ends within a quote that this row opens\n\
                            hint: look for a quote that is never closed, or a file that is cut off";
            assert_eq!(error, expected, "{text:?}");
        }
        for text in ["a,b\n1,2\n3,\"x\"", "a,b\n1,2\n3,x", "a,b\n1,2\n3,x\n\n\n", "a,b\r\n1,2\r\n3,\"x\"\r\n"]
        {
            assert_eq!(read(text).expect("whole rows"), [["1", "2"], ["3", "x"]], "{text:?}");
        }
        assert_eq!(read("a,b\n1,\"x\n\"").expect("a cell of two lines"), [["1", "x\n"]]);
        assert_eq!(read("a\n5\" pipe\n").expect("a quote within a cell"), [["5\" pipe"]]);
        assert!(matches!(read(""), Err(Error::EmptyFile { .. })));
        assert!(read("a,b\n").expect("no rows").is_empty());
    }

    #[test]
    fn a_quote_that_never_closes_is_stopped() {
        for max_row in [64 << 20, 1 << 20] {
            let endless = Cursor::new(b"a,b\n1,\"").chain(io::repeat(b'x'));
            let options = TableOptions { max_row, ..TableOptions::default() };
            let (_, mut rows) = open(&"t.csv".into(), Box::new(endless), &options).expect("a header");
            let error = rows.read_into(&mut Batch::new("t.csv", 2)).expect_err("an endless cell");
            let expected = format!(
                "t.csv, line 2: the row is longer than {max_row} bytes\nhint: look for a quote that is never closed"
            );
            assert_eq!(error.to_string(), expected);
        }
    }
}
