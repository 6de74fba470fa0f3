//! From rows to what their people are told, on the threads that answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use par_recourse::desk::{Described, Person, csv_lines};
use par_recourse::{Answer, Solver};
use serde::Serialize;
use tokio::sync::SemaphorePermit;
use tokio::time::{timeout, timeout_at};

use crate::Service;
use crate::models::Model;
use crate::question::{Asked, Question, Row};
use crate::refusal::Refusal;
use crate::workers::{Client, Turns, Urgency};

/// Rows that a thread takes at once.
pub(crate) const PIECE: usize = 16;

/// How long a place is waited for. Somebody who is refused at once asks again at once, and to refuse costs a third of an answer.
pub(crate) const MOMENT: Duration = Duration::from_millis(100);

/// What some people are told.
#[derive(Default)]
pub(crate) struct Told {
    /// One after the other: as JSON with a line's end between them, or as lines of CSV.
    pub(crate) bytes: Vec<u8>,
    /// What became of each.
    pub(crate) statuses: Vec<&'static str>,
}

/// How people are told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    Csv,
}

impl Told {
    /// Adds a person. `search_ended` says that their time was over before the search was.
    pub(crate) fn add(
        &mut self,
        model: &Model,
        person: &Person<'_>,
        form: Form,
        plot: bool,
        search_ended: bool,
    ) {
        let bundle = model.bundle();
        let is_searched = matches!(person.answer, Ok(Answer::Found(_) | Answer::NotFound(_)));
        let search_ended = search_ended && is_searched;
        match form {
            Form::Csv => self.bytes.extend(csv_lines(bundle.schema(), std::slice::from_ref(person))),
            Form::Json => {
                let described = person.described(bundle);
                let written = if plot || search_ended {
                    let plot = plot.then(|| plotted(model, person));
                    serde_json::to_writer(&mut self.bytes, &WithMore { described, plot, search_ended })
                } else {
                    serde_json::to_writer(&mut self.bytes, &described)
                };
                written.expect("a person has only text keys");
                self.bytes.push(b'\n');
            }
        }
        self.statuses.push(person.status());
    }
}

/// What only the service says of a person.
#[derive(Serialize)]
struct WithMore {
    #[serde(flatten)]
    described: Described,
    /// Where it is asked for: what more changes buy, unless there is nothing to draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    plot: Option<Option<String>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    search_ended: bool,
}

/// What more changes buy, as SVG.
fn plotted(model: &Model, person: &Person<'_>) -> Option<String> {
    let Ok(Answer::Found(found)) = &person.answer else { return None };
    let points: Vec<(usize, f64)> =
        found.frontier.iter().map(|point| (point.changes, point.log_likelihood)).collect();
    Some(par_plot::frontier(&points, model.usual())?.svg().into_string())
}

/// Answers a row.
pub(crate) fn answer<'r>(
    model: &Model,
    solver: &mut Solver<'_>,
    row: &'r Row,
    number: u64,
    asked: &Asked,
) -> Person<'r> {
    let cells: Vec<&str> = row.cells.iter().map(String::as_str).collect();
    let answer = solver.answer(&cells, &asked.request).map_err(|error| error.to_string());
    let threshold = asked.request.threshold.unwrap_or(model.bundle().threshold());
    let id = row.id.clone().unwrap_or_else(|| number.to_string());
    let warnings = model.bundle().warnings(&cells);
    Person { id, cells, answer, threshold, time_us: None, warnings }
}

impl Service {
    /// The answers to a question, in the order of its rows, each as JSON.
    pub(crate) async fn answers(&self, model: &Arc<Model>, question: Question) -> Result<Told, Refusal> {
        let ways = question.rows.len() * question.asked.request.count;
        if ways > self.settings.max_rows {
            return Err(Refusal::TooManyWays { found: ways, limit: self.settings.max_rows });
        }
        let question = Arc::new(question);
        let of_piece = |question: &Arc<Question>, first: usize| {
            let (question, model) = (Arc::clone(question), Arc::clone(model));
            move |solver: &mut Solver<'_>, turns: &Turns<'_>| {
                let mut told = Told::default();
                for (row, number) in question.rows.iter().zip(1..).skip(first).take(PIECE) {
                    if !turns.go_on() {
                        break;
                    }
                    let person = answer(&model, solver, row, number, &question.asked);
                    told.add(&model, &person, Form::Json, question.asked.plot, solver.is_stopped());
                }
                told
            }
        };
        let mut told = Told::default();
        for piece in self.pieces(model, question.rows.len(), |first| of_piece(&question, first)).await? {
            told.bytes.extend(piece.bytes);
            told.statuses.extend(piece.statuses);
        }
        self.metrics.answered(model.name(), &told.statuses);
        Ok(told)
    }

    /// A place among those who are answered, in the order they came.
    async fn admitted(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        if let Ok(place) = self.admission.try_acquire() {
            return Ok(place);
        }
        let place = timeout(MOMENT, self.admission.acquire()).await;
        place.ok().and_then(Result::ok).ok_or(Refusal::Overloaded)
    }

    /// What some work comes to.
    pub(crate) async fn one<T: Send + 'static>(
        &self,
        model: &Arc<Model>,
        work: impl FnOnce(&mut Solver<'_>) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let mut work = Some(|solver: &mut Solver<'_>, _: &Turns<'_>| work(solver));
        let pieces = self.pieces(model, 1, |_| work.take().expect("one row is one piece")).await?;
        Ok(pieces.into_iter().next().expect("one row is one piece"))
    }

    /// What `work` makes of each piece of so many rows, in their order.
    pub(crate) async fn pieces<T, W>(
        &self,
        model: &Arc<Model>,
        rows: usize,
        work: impl FnMut(usize) -> W,
    ) -> Result<Vec<T>, Refusal>
    where
        T: Send + 'static,
        W: FnOnce(&mut Solver<'_>, &Turns<'_>) -> T + Send + 'static,
    {
        // Only now, so that nobody who is slow to send keeps others out.
        let _admitted = self.admitted().await?;
        let deadline = Instant::now() + self.settings.time;
        let urgency = if rows > 1 { Urgency::Many(deadline) } else { Urgency::One(deadline) };
        // Dropped with this future when the connection is, and then the work ends.
        let client = Client::default();
        let replies: Vec<_> = (0..rows)
            .step_by(PIECE)
            .map(work)
            .map(|work| self.workers.ask(model, urgency, &client.watch(), work))
            .collect();
        // A search that has to end at the deadline needs a moment to say so.
        let patience = (deadline + self.settings.time / 4).into();
        let mut pieces = Vec::with_capacity(replies.len());
        for reply in replies {
            match timeout_at(patience, reply).await {
                Ok(Ok(piece)) => pieces.push(piece),
                // Work that has not begun by the deadline is not done.
                Ok(Err(_)) if Instant::now() < deadline => return Err(Refusal::Broken),
                Ok(Err(_)) | Err(_) => return Err(Refusal::TooSlow),
            }
        }
        Ok(pieces)
    }
}
