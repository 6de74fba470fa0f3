//! `POST /v1/recourse/batch`: a table of any length, answered while it comes in.
//!
//! Rows are read no faster than answers are taken: whoever does not read will not be read.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt as _;
use http_body_util::channel::{Channel, Sender};
use par_data::{Batch, Columns, Table, TableOptions};
use par_recourse::Solver;
use par_recourse::desk::{Desk, Person, csv_header};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::answers::{Form, PIECE, Told, answer};
use crate::body::{expect_encoding, expect_type};
use crate::incoming::{Incoming, Line, MAX_LINE, Piece};
use crate::models::Model;
use crate::parameters::Parameters;
use crate::question::{Asked, Question};
use crate::refusal::Refusal;
use crate::routes::{REQUEST_ID, versioned};
use crate::workers::{Client, ClientWatch, Turns, Urgency};
use crate::{Service, json};

/// Parts of an answer that are kept on their way.
const PARTS: usize = 4;
/// Pieces that are being answered at a time, for each thread that answers.
const AHEAD: usize = 2;

/// Rows follow each other within this time, as long as they come in.
const MOMENT: Duration = Duration::from_millis(5);

const CSV: &str = "text/csv";
const PARAMETERS: [&str; 10] =
    ["model", "first", "method", "count", "order", "budget", "threshold", "lock", "limit", "auditor"];

/// Answers a stream.
pub(crate) async fn batch(
    State(service): State<Arc<Service>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let kind = expect_type(&headers, &["application/x-ndjson", "application/jsonl", CSV])?;
    let known = if kind == CSV { &PARAMETERS[..] } else { &PARAMETERS[..2] };
    expect_encoding(&headers, if kind == CSV { &["gzip"] } else { &[] })?;
    let parameters = Parameters::read(query.as_deref(), known)?;
    let model = service.model(parameters.text("model"))?;
    let first = parameters.whole("first", 1..=1 << 60)?.unwrap_or(1);
    let asked = parameters.asked(&model)?;
    let form = if accepts_csv(&headers) { Form::Csv } else { Form::Json };
    let place = Arc::clone(&service.streams).try_acquire_owned().map_err(|_| Refusal::Overloaded)?;

    let incoming = Incoming::new(body, service.settings.patience, service.settings.min_rate);
    let (out, answers) = Channel::new(PARTS);
    let client = Client::default();
    let (opened, is_open) = oneshot::channel();
    let answering = Arc::clone(&model);
    let id = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default().to_string();
    let mut stream = Stream {
        runtime: Handle::current(),
        service,
        model,
        form,
        out,
        client: client.watch(),
        pending: VecDeque::new(),
        answered: incoming.answered(),
        rows: 0,
    };
    tokio::task::spawn_blocking(move || {
        let ended = if kind == CSV {
            stream.table(incoming, first, asked, opened)
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
        drop(place);
    });
    is_open.await.map_err(|_| Refusal::Broken)??;
    let kind = if form == Form::Csv { "text/csv; charset=utf-8" } else { "application/x-ndjson" };
    // The body is dropped with the connection, and with it the client.
    let answers = answers.map_frame(move |frame| {
        let _there = &client;
        frame
    });
    Ok(versioned(([(CONTENT_TYPE, kind)], Body::new(answers)).into_response(), &answering))
}

/// Whether the client would rather have CSV.
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
    /// What came in cannot be read on.
    Broken,
    /// Nobody takes the answers any more.
    Gone,
}

/// One stream, on a thread of its own.
struct Stream {
    service: Arc<Service>,
    model: Arc<Model>,
    form: Form,
    runtime: Handle,
    out: Sender<Bytes, io::Error>,
    client: ClientWatch,
    /// Pieces that are being answered, in their order.
    pending: VecDeque<oneshot::Receiver<Told>>,
    /// When an answer was sent last.
    answered: Arc<Mutex<Instant>>,
    /// Rows that were answered.
    rows: usize,
}

/// Whether the response can begin, is told once.
type Opened = oneshot::Sender<Result<(), Refusal>>;

impl Stream {
    /// Answers the rows of a table.
    fn table(&mut self, incoming: Incoming, first: u64, asked: Asked, opened: Opened) -> Result<(), Ended> {
        let failure = incoming.failure();
        let options = TableOptions { max_row: MAX_LINE, ..TableOptions::default() };
        let table = Table::from_reader("body", incoming, &options);
        let read = table.and_then(|table| {
            let columns = self.model.bundle().schema().columns(table.origin(), table.columns())?;
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
        let shared = Arc::new(Shared { header: table.columns().to_vec(), columns, asked });
        let mut number = first;
        let mut piece = Piece::default();
        let submit = |stream: &mut Self, piece: &mut Piece<Batch>, number: &mut u64| {
            let (rows, first) = (piece.take(), *number);
            if rows.is_empty() {
                return Ok(());
            }
            *number += rows.len() as u64;
            let (shared, model, form) = (Arc::clone(&shared), Arc::clone(&stream.model), stream.form);
            stream.submit(move |solver, turns| shared.answer(&model, solver, turns, &rows, first, form))
        };
        // Read by another thread, so that this one sees when nothing has come in; one by one, so that everybody before a row
        // that cannot be read is answered.
        let (sender, rows) = sync_channel(PIECE);
        self.runtime.spawn_blocking(move || table.batches(1).try_for_each(|row| sender.send(row)));
        loop {
            let row = match rows.recv_timeout(MOMENT) {
                // Whoever sends nothing before they have an answer, gets it.
                Err(RecvTimeoutError::Timeout) => {
                    submit(self, &mut piece, &mut number)?;
                    self.settle_all()?;
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
                    return self.complain("", &error.to_string());
                }
                None => {
                    submit(self, &mut piece, &mut number)?;
                    return self.settle_all();
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
            // Whoever sends nothing before they have an answer, gets it.
            if !incoming.is_ready() || piece.is_full() {
                self.submit_lines(&mut piece)?;
            }
            if !incoming.is_ready() {
                self.settle_all()?;
            }
            let is_over = match incoming.fill() {
                Ok(is_there) => !is_there,
                Err(error) => {
                    self.submit_lines(&mut piece)?;
                    return self.complain(&number.to_string(), &error.to_string());
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
                return self.settle_all();
            }
        }
    }

    fn submit_lines(&mut self, piece: &mut Piece<(u64, Line)>) -> Result<(), Ended> {
        let lines = piece.take();
        if lines.is_empty() {
            return Ok(());
        }
        let (model, form) = (Arc::clone(&self.model), self.form);
        self.submit(move |solver, turns| answer_lines(&model, solver, turns, &lines, form))
    }

    fn open(&mut self, opened: Opened) -> Result<(), Ended> {
        opened.send(Ok(())).map_err(|_| Ended::Gone)?;
        match self.form {
            Form::Csv => self.send(csv_header(self.model.bundle().schema())),
            Form::Json => Ok(()),
        }
    }

    fn submit(
        &mut self,
        work: impl FnOnce(&mut Solver<'_>, &Turns<'_>) -> Told + Send + 'static,
    ) -> Result<(), Ended> {
        if self.pending.len() >= AHEAD * self.service.settings.threads {
            self.settle()?;
        }
        self.pending.push_back(self.service.workers.ask(&self.model, Urgency::Stream, &self.client, work));
        Ok(())
    }

    /// Sends the first piece that is not sent yet.
    fn settle(&mut self) -> Result<(), Ended> {
        let Some(piece) = self.pending.pop_front() else { return Ok(()) };
        match piece.blocking_recv() {
            Ok(told) => {
                self.rows += told.statuses.len();
                self.service.metrics.answered(self.model.name(), &told.statuses);
                if told.bytes.is_empty() { Ok(()) } else { self.send(told.bytes) }
            }
            Err(_) if !self.client.is_there() => Err(Ended::Gone),
            Err(_) => self.complain("", "something is wrong with the service"),
        }
    }

    fn settle_all(&mut self) -> Result<(), Ended> {
        while !self.pending.is_empty() {
            self.settle()?;
        }
        Ok(())
    }

    /// The last that is said: why there is no more.
    fn complain(&mut self, id: &str, message: &str) -> Result<(), Ended> {
        self.settle_all()?;
        let mut told = Told::default();
        told.add(
            &self.model,
            &unread(&self.model, id.to_string(), message.to_string()),
            self.form,
            false,
            false,
        );
        self.send(told.bytes)?;
        Err(Ended::Broken)
    }

    fn send(&mut self, bytes: Vec<u8>) -> Result<(), Ended> {
        self.runtime.block_on(self.out.send_data(bytes.into())).map_err(|_| Ended::Gone)?;
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        Ok(())
    }
}

/// What the rows of a table share.
struct Shared {
    header: Vec<String>,
    columns: Columns,
    asked: Asked,
}

impl Shared {
    fn answer(
        &self,
        model: &Model,
        solver: &mut Solver<'_>,
        turns: &Turns<'_>,
        rows: &[Batch],
        first: u64,
        form: Form,
    ) -> Told {
        let request = self.asked.request.clone();
        let desk = Desk::new(model.bundle(), &self.header, self.columns.clone(), request, false);
        let mut told = Told::default();
        for (row, number) in rows.iter().zip(first..) {
            if !turns.go_on() {
                break;
            }
            let person = desk.answer(solver, row, 0, number);
            told.add(model, &person, form, false, solver.is_stopped());
        }
        told
    }
}

/// What a line asks for, or what is wrong with it.
fn question(model: &Model, line: &Line) -> Result<Question, String> {
    let Some(bytes) = line.bytes() else { return Err(format!("the line has more than {MAX_LINE} bytes")) };
    let question = json::read(bytes).and_then(|value| Question::read(model, &value, 1));
    question.map_err(|refusal| refusal.message())
}

fn answer_lines(
    model: &Model,
    solver: &mut Solver<'_>,
    turns: &Turns<'_>,
    piece: &[(u64, Line)],
    form: Form,
) -> Told {
    let mut told = Told::default();
    for (number, line) in piece {
        if !turns.go_on() {
            break;
        }
        match question(model, line) {
            Ok(Question { rows, asked }) => {
                let person = answer(model, solver, &rows[0], *number, &asked);
                told.add(model, &person, form, asked.plot, solver.is_stopped());
            }
            Err(error) => told.add(model, &unread(model, number.to_string(), error), form, false, false),
        }
    }
    told
}

/// Somebody whose row cannot be read.
fn unread(model: &Model, id: String, error: String) -> Person<'static> {
    let bundle = model.bundle();
    let cells = vec![""; bundle.schema().features().len()];
    Person {
        id,
        cells,
        answer: Err(error),
        threshold: bundle.threshold(),
        time_us: None,
        warnings: Vec::new(),
    }
}
