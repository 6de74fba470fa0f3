//! How fast tables are read: `cargo bench -p par-data --features parquet --bench tables -- FILE...`.
//!
//! Reads each file from front to back on one thread, three times, and prints the rate of the fastest. On a machine with
//! other work, `perf stat -e task-clock` before the built benchmark has the processor time of all three.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::error::Error;
use std::time::Instant;

use par_data::{Table, TableOptions};

const ROWS_PER_BATCH: usize = 1 << 15;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo passes `--bench` before the rest.
    for file in std::env::args().skip(1).filter(|word| !word.starts_with("--")) {
        let mut best = f64::INFINITY;
        let mut rows = 0;
        for _ in 0..3 {
            let start = Instant::now();
            let batches = Table::open(&file, &TableOptions::default())?.batches(ROWS_PER_BATCH);
            rows = 0;
            for batch in batches {
                rows += batch?.rows();
            }
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!("{file}: {rows} rows in {best:.3} s, {:.0} rows/s", rows as f64 / best);
    }
    Ok(())
}
