//! `POST /v1/recourse/batch`: a table of any length, answered while it comes in.
//!
//! Backpressure: input is read only as fast as the client takes answers.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt as _;
use http_body_util::channel::{Channel, Sender};
use par_answer::Solver;
use par_answer::table::{RowAnswer, TableAnswerer};
use par_answer::write::{csv_header, csv_lines};
use par_data::{Batch, Columns, Table, TableOptions};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::answers::{AnswerBody, ROWS_PER_JOB, answer};
use crate::body::{expect_encoding, expect_type};
use crate::incoming::{Incoming, Line, MAX_LINE, Piece};
use crate::models::ServedModel;
use crate::parameters::{MAX_FIRST, Query};
use crate::question::{Question, RequestOptions};
use crate::refusal::Refusal;
use crate::routes::{REQUEST_ID, with_model_version};
use crate::workers::{Client, ClientWatch, RowTimer, Urgency};
use crate::{Service, json};

/// Parts of the response that wait for the client, at most.
const QUEUED_PARTS: usize = 4;
/// Jobs of one stream at a time, for each thread that answers.
const JOBS_PER_THREAD: usize = 2;

/// The client may wait for answers when no row has come in for this long.
const FLUSH_AFTER: Duration = Duration::from_millis(5);

const CSV: &str = "text/csv";

/// `POST /v1/recourse/batch`
pub(crate) async fn batch(
    State(service): State<Arc<Service>>,
    query: Query,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let kind = expect_type(&headers, &["application/x-ndjson", "application/jsonl", CSV])?;
    expect_encoding(&headers, if kind == CSV { &["gzip"] } else { &[] })?;
    // Lines of JSON have their own options.
    let parameters =
        query.read_only(|parameter| kind == CSV || ["model", "first"].contains(&parameter.name))?;
    let model = service.model(parameters.text("model"))?;
    let first = parameters.whole("first", 1..=MAX_FIRST)?.unwrap_or(1);
    let options = parameters.options(&model)?;
    let format = if accepts_csv(&headers) { Format::Csv } else { Format::Json };
    let permit = Arc::clone(&service.streams).try_acquire_owned().map_err(|_| Refusal::Overloaded)?;

    let incoming = Incoming::new(body, service.settings.patience, service.settings.min_rate);
    let (out, answers) = Channel::new(QUEUED_PARTS);
    let client = Client::default();
    let (opened, is_open) = oneshot::channel();
    let answering = Arc::clone(&model);
    let id = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default().to_string();
    let mut stream = Stream {
        runtime: Handle::current(),
        service,
        model,
        format,
        out,
        client: client.watch(),
        pending: VecDeque::new(),
        answered: incoming.answered(),
        rows: 0,
    };
    tokio::task::spawn_blocking(move || {
        let ended = if kind == CSV {
            stream.table(incoming, first, options, opened)
        } else {
            stream.lines(incoming, first, opened)
        };
        let (rows, model) = (stream.rows, stream.model.name());
        let ended = match ended {
            Ok(()) => "whole",
            Err(Ended::Broken) => "broken off",
            Err(Ended::Gone) => "client gone",
        };
        tracing::info!(id, model, rows, ended, "stream ended");
        drop(permit);
    });
    is_open.await.map_err(|_| Refusal::Broken)??;
    let kind = if format == Format::Csv { "text/csv; charset=utf-8" } else { "application/x-ndjson" };
    // The body, and the client with it, is dropped with the connection.
    let answers = answers.map_frame(move |frame| {
        let _held = &client;
        frame
    });
    Ok(with_model_version(([(CONTENT_TYPE, kind)], Body::new(answers)).into_response(), &answering))
}

/// Whether the client asks for CSV.
fn accepts_csv(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|kind| {
        let mut parts = kind.split(';').map(str::trim);
        parts.next().is_some_and(|name| name.eq_ignore_ascii_case(CSV))
            && !parts.any(|parameter| matches!(parameter, "q=0" | "q=0.0"))
    })
}

/// Why a stream ended before its last row.
enum Ended {
    /// The input cannot be read further.
    Broken,
    /// The client has left.
    Gone,
}

/// The formats of answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Csv,
}

/// The answers to some rows.
#[derive(Default)]
struct ResponseChunk {
    /// Lines of JSON or of CSV.
    bytes: Vec<u8>,
    /// The status of each answer.
    statuses: Vec<&'static str>,
}

impl ResponseChunk {
    fn add(&mut self, model: &ServedModel, person: &RowAnswer<'_>, format: Format, plot: bool) {
        match format {
            Format::Csv => {
                self.bytes.extend(csv_lines(model.schema(), std::slice::from_ref(person)));
            }
            Format::Json => {
                let body = AnswerBody::new(model, person, plot);
                serde_json::to_writer(&mut self.bytes, &body).expect("an answer has only text keys");
                self.bytes.push(b'\n');
            }
        }
        self.statuses.push(person.status());
    }
}

/// One stream, on a thread of its own.
struct Stream {
    service: Arc<Service>,
    model: Arc<ServedModel>,
    format: Format,
    runtime: Handle,
    out: Sender<Bytes, io::Error>,
    client: ClientWatch,
    /// Jobs whose answers are not sent yet, in their order.
    pending: VecDeque<oneshot::Receiver<ResponseChunk>>,
    /// When an answer was sent last.
    answered: Arc<Mutex<Instant>>,
    /// Rows that were answered.
    rows: usize,
}

/// Takes, once, whether the response can begin.
type Opened = oneshot::Sender<Result<(), Refusal>>;

impl Stream {
    /// Answers the rows of a table.
    fn table(
        &mut self,
        incoming: Incoming,
        first: u64,
        options: RequestOptions,
        opened: Opened,
    ) -> Result<(), Ended> {
        let failure = incoming.failure();
        let table_options = TableOptions { max_row: MAX_LINE, ..TableOptions::default() };
        let table = Table::from_reader("body", incoming, &table_options);
        let read = table.and_then(|table| {
            let columns = self.model.schema().columns(table.origin(), table.columns())?;
            Ok((table, columns))
        });
        let (table, columns) = match read {
            Ok(read) => read,
            Err(error) => {
                let refusal = failure.get().cloned().unwrap_or_else(|| Refusal::Table(error.to_string()));
                let _ = opened.send(Err(refusal));
                return Err(Ended::Broken);
            }
        };
        self.open(opened)?;
        let shared = Arc::new(Shared { header: table.columns().to_vec(), columns, options });
        let mut number = first;
        let mut piece = Piece::default();
        let submit = |stream: &mut Self, piece: &mut Piece<Batch>, number: &mut u64| {
            let (rows, first) = (piece.take(), *number);
            if rows.is_empty() {
                return Ok(());
            }
            *number += rows.len() as u64;
            let (shared, model, format) = (Arc::clone(&shared), Arc::clone(&stream.model), stream.format);
            stream.submit(move |solver, timer| shared.answer(&model, solver, timer, &rows, first, format))
        };
        // Another thread reads, so that this one notices a pause. It reads single rows, so that all rows before one that cannot
        // be read are answered.
        let (sender, rows) = sync_channel(ROWS_PER_JOB);
        self.runtime.spawn_blocking(move || table.batches(1).try_for_each(|row| sender.send(row)));
        loop {
            let row = match rows.recv_timeout(FLUSH_AFTER) {
                // The client waits for answers before sending more rows: flush what we have.
                Err(RecvTimeoutError::Timeout) => {
                    submit(self, &mut piece, &mut number)?;
                    self.send_all()?;
                    rows.recv().ok()
                }
                row => row.ok(),
            };
            match row {
                Some(Ok(row)) => {
                    let bytes = (0..shared.header.len()).map(|column| row.cell(0, column).len()).sum();
                    piece.push(row, bytes);
                }
                Some(Err(error)) => {
                    submit(self, &mut piece, &mut number)?;
                    return self.end_with_error("", &error.to_string());
                }
                None => {
                    submit(self, &mut piece, &mut number)?;
                    return self.send_all();
                }
            }
            if piece.is_full() {
                submit(self, &mut piece, &mut number)?;
            }
        }
    }

    /// Answers lines, each of which is what `/v1/recourse` takes.
    fn lines(&mut self, mut incoming: Incoming, first: u64, opened: Opened) -> Result<(), Ended> {
        self.open(opened)?;
        let mut number = first;
        let mut piece = Piece::default();
        let mut line = Line::default();
        loop {
            // The client waits for answers before sending more rows: flush what we have.
            if !incoming.is_ready() || piece.is_full() {
                self.submit_lines(&mut piece)?;
            }
            if !incoming.is_ready() {
                self.send_all()?;
            }
            let is_over = match incoming.fill() {
                Ok(is_there) => !is_there,
                Err(error) => {
                    self.submit_lines(&mut piece)?;
                    return self.end_with_error(&number.to_string(), &error.to_string());
                }
            };
            if line.add_from(&mut incoming) || is_over {
                let line = std::mem::take(&mut line);
                if !line.is_blank() {
                    let bytes = line.bytes().map_or(0, <[u8]>::len);
                    piece.push((number, line), bytes);
                    number += 1;
                }
            }
            if is_over {
                self.submit_lines(&mut piece)?;
                return self.send_all();
            }
        }
    }

    fn submit_lines(&mut self, piece: &mut Piece<(u64, Line)>) -> Result<(), Ended> {
        let lines = piece.take();
        if lines.is_empty() {
            return Ok(());
        }
        let (model, format) = (Arc::clone(&self.model), self.format);
        self.submit(move |solver, timer| answer_lines(&model, solver, timer, &lines, format))
    }

    fn open(&mut self, opened: Opened) -> Result<(), Ended> {
        opened.send(Ok(())).map_err(|_| Ended::Gone)?;
        match self.format {
            Format::Csv => self.send(csv_header(self.model.schema())),
            Format::Json => Ok(()),
        }
    }

    fn submit(
        &mut self,
        work: impl FnOnce(&mut Solver<'_>, &RowTimer<'_>) -> ResponseChunk + Send + 'static,
    ) -> Result<(), Ended> {
        if self.pending.len() >= JOBS_PER_THREAD * self.service.settings.threads {
            self.send_next()?;
        }
        self.pending.push_back(self.service.workers.ask(&self.model, Urgency::Stream, &self.client, work));
        Ok(())
    }

    /// Sends the answers of the first job that are not sent yet.
    fn send_next(&mut self) -> Result<(), Ended> {
        let Some(job) = self.pending.pop_front() else { return Ok(()) };
        match job.blocking_recv() {
            Ok(chunk) => {
                self.rows += chunk.statuses.len();
                self.service.metrics.count_answers(self.model.name(), &chunk.statuses);
                if chunk.bytes.is_empty() { Ok(()) } else { self.send(chunk.bytes) }
            }
            Err(_) if !self.client.is_there() => Err(Ended::Gone),
            Err(_) => self.end_with_error("", "something is wrong with the service"),
        }
    }

    fn send_all(&mut self) -> Result<(), Ended> {
        while !self.pending.is_empty() {
            self.send_next()?;
        }
        Ok(())
    }

    /// Sends the last line: why there are no more answers.
    fn end_with_error(&mut self, id: &str, message: &str) -> Result<(), Ended> {
        self.send_all()?;
        let mut chunk = ResponseChunk::default();
        let person = unread(&self.model, id.to_string(), message.to_string());
        chunk.add(&self.model, &person, self.format, false);
        self.send(chunk.bytes)?;
        Err(Ended::Broken)
    }

    fn send(&mut self, bytes: Vec<u8>) -> Result<(), Ended> {
        self.runtime.block_on(self.out.send_data(bytes.into())).map_err(|_| Ended::Gone)?;
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        Ok(())
    }
}

/// The header and the options, which all rows of a table share.
struct Shared {
    header: Vec<String>,
    columns: Columns,
    options: RequestOptions,
}

impl Shared {
    fn answer(
        &self,
        model: &ServedModel,
        solver: &mut Solver<'_>,
        timer: &RowTimer<'_>,
        rows: &[Batch],
        first: u64,
        format: Format,
    ) -> ResponseChunk {
        let request = self.options.request.clone();
        let answerer = TableAnswerer::new(model, &self.header, self.columns.clone(), request, false);
        let mut chunk = ResponseChunk::default();
        for (row, number) in rows.iter().zip(first..) {
            if !timer.start_row() {
                break;
            }
            let person = answerer.answer(solver, row, 0, number);
            chunk.add(model, &person, format, false);
        }
        chunk
    }
}

/// The question on a line, or why it cannot be read.
fn question(model: &ServedModel, line: &Line) -> Result<Question, String> {
    let Some(bytes) = line.bytes() else { return Err(format!("the line has more than {MAX_LINE} bytes")) };
    let question = json::read(bytes).and_then(|value| Question::read(model, &value, 1));
    question.map_err(|refusal| refusal.message())
}

fn answer_lines(
    model: &ServedModel,
    solver: &mut Solver<'_>,
    timer: &RowTimer<'_>,
    piece: &[(u64, Line)],
    format: Format,
) -> ResponseChunk {
    let mut chunk = ResponseChunk::default();
    for (number, line) in piece {
        if !timer.start_row() {
            break;
        }
        match question(model, line) {
            Ok(Question { rows, options }) => {
                let person = answer(solver, &rows[0], *number, &options);
                chunk.add(model, &person, format, options.plot);
            }
            Err(error) => chunk.add(model, &unread(model, number.to_string(), error), format, false),
        }
    }
    chunk
}

/// The answer to a row that cannot be read.
fn unread(model: &ServedModel, id: String, error: String) -> RowAnswer<'static> {
    RowAnswer::unread(model.threshold(), id, vec![""; model.schema().features().len()], error)
}
