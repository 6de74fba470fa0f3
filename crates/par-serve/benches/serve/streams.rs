//! Rows per second of a stream, and of the library without a service.

use std::error::Error;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Instant;

use par_answer::table::TableAnswerer;
use par_answer::write::csv_lines;
use par_answer::{Request, Solver};
use par_data::Batch;
use par_model::Model;
use serde_json::json;
use tokio::net::TcpStream;

use crate::child::{Child, cpu};
use crate::load::{denied, read, write_all};

/// Rows of a stream.
const ROWS: usize = 20_000;
/// Rows of a job, as in the service.
const PIECE: usize = 16;

/// Measures one stream of each format.
pub(crate) fn measure(model: &Model, child: &Child) -> Result<(), Box<dyn Error>> {
    let people = denied(model)?;
    let people = people.iter().cycle().take(ROWS);
    let lines: String =
        people.clone().fold(String::new(), |text, row| text + &json!({"row": row}).to_string() + "\n");
    let names: Vec<&str> = model.schema().features().iter().map(|feature| feature.name.as_str()).collect();
    let mut table = names.join(",") + "\n";
    let mut batch = Batch::new("rows", names.len());
    for row in people {
        let cells =
            names.iter().map(|name| row[name].as_str().map_or_else(|| row[name].to_string(), str::to_string));
        let cells: Vec<String> = cells.collect();
        writeln!(table, "{}", cells.join(","))?;
        batch.push(1, cells.iter().map(String::as_str))?;
    }
    println!("{ROWS} rows in one stream, as many threads as cores");
    println!("{:30} {:>8} {:>14} {:>13}", "", "rows/s", "service CPU µs", "client CPU µs");
    let alone = Instant::now();
    let before = cpu("self");
    answer_all(model, &batch)?;
    let used = 1e6 * (cpu("self") - before) / ROWS as f64;
    println!(
        "{:30} {:>8.0} {used:>14.0} {:>13}",
        "without a service, CSV",
        ROWS as f64 / alone.elapsed().as_secs_f64(),
        ""
    );
    for (name, kind, accept, body) in [
        ("lines of JSON", "application/x-ndjson", "application/x-ndjson", &lines),
        ("CSV, answered in JSON", "text/csv", "application/x-ndjson", &table),
        ("CSV", "text/csv", "text/csv", &table),
    ] {
        let (begun, service, own) = (Instant::now(), child.cpu(), cpu("self"));
        let bytes = exchange(child.address, kind, accept, body)?;
        let seconds = begun.elapsed().as_secs_f64();
        let each = |before: f64, after: f64| 1e6 * (after - before) / ROWS as f64;
        println!(
            "{name:30} {:>8.0} {:>14.0} {:>13.0}   {:.1} MB in, {:.1} MB out, RSS {:.1} MB",
            ROWS as f64 / seconds,
            each(service, child.cpu()),
            each(own, cpu("self")),
            body.len() as f64 / 1e6,
            bytes as f64 / 1e6,
            child.memory(),
        );
    }
    Ok(())
}

/// Answers as `par recourse` does: on all cores, jobs in turn.
fn answer_all(model: &Model, batch: &Batch) -> Result<(), Box<dyn Error>> {
    let header: Vec<String> = model.schema().features().iter().map(|feature| feature.name.clone()).collect();
    let columns = model.schema().columns("rows", &header)?;
    let threads = std::thread::available_parallelism()?.get();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (header, columns) = (&header, &columns);
            scope.spawn(move || {
                let answerer = TableAnswerer::new(model, header, columns.clone(), Request::default(), false);
                let mut solver = Solver::new(model);
                for first in (thread * PIECE..batch.rows()).step_by(threads * PIECE) {
                    for row in first..batch.rows().min(first + PIECE) {
                        let person = answerer.answer(&mut solver, batch, row, row as u64);
                        std::hint::black_box(csv_lines(model.schema(), &[person]));
                    }
                }
            });
        }
    });
    Ok(())
}

/// Sends a stream while reading the answers; returns their number of bytes.
fn exchange(address: SocketAddr, kind: &str, accept: &str, body: &str) -> Result<usize, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let stream = TcpStream::connect(address).await?;
        let head = format!(
            "POST /v1/recourse/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nAccept: {accept}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let sending = async {
            write_all(&stream, head.as_bytes()).await?;
            write_all(&stream, body.as_bytes()).await
        };
        let receiving = async {
            let mut buffer = vec![0; 256 << 10];
            let (mut bytes, mut last) = (0, Vec::new());
            // The last chunk of a body.
            while last != b"0\r\n\r\n" {
                let read = read(&stream, &mut buffer).await?;
                bytes += read;
                last.extend_from_slice(&buffer[read.saturating_sub(5)..read]);
                last.drain(..last.len().saturating_sub(5));
            }
            Ok(bytes)
        };
        let (sent, received) = tokio::join!(sending, receiving);
        sent?;
        received
    })
}
