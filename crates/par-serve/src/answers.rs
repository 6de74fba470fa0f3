//! `POST /v1/recourse`, and how rows are answered on the threads of [`crate::workers`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use par_answer::request::json::JsonRow;
use par_answer::table::RowAnswer;
use par_answer::write::AnswerJson;
use par_answer::{Answer, Solver};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::SemaphorePermit;
use tokio::time::{timeout, timeout_at};

use crate::Service;
use crate::models::ServedModel;
use crate::parameters::Query;
use crate::question::{Question, RequestOptions};
use crate::refusal::Refusal;
use crate::routes::{json, with_log_fields};
use crate::workers::{Client, RowTimer, Urgency};

/// Rows that a thread takes at once.
pub(crate) const ROWS_PER_JOB: usize = 16;

/// How long a request waits for admission. A client that is refused at once asks again at once, and a refusal costs a third of
/// an answer.
pub(crate) const ADMISSION_WAIT: Duration = Duration::from_millis(100);

/// An answer for every row, in their order.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Answers<'a> {
    /// The model that answered.
    model: &'a str,
    #[schemars(with = "Vec<AnswerBody>")]
    answers: Vec<Box<RawValue>>,
}

/// The answer to one person.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Answer")]
pub(crate) struct AnswerBody {
    #[serde(flatten)]
    answer: AnswerJson,
    /// What more changes buy, as SVG; present only if `plot` was asked for, null if there is nothing to draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    plot: Option<Option<String>>,
}

impl AnswerBody {
    pub(crate) fn new(model: &ServedModel, person: &RowAnswer<'_>, plot: bool) -> Self {
        Self { answer: person.json(model), plot: plot.then(|| frontier_plot(model, person)) }
    }
}

/// What more changes buy, as SVG.
fn frontier_plot(model: &ServedModel, person: &RowAnswer<'_>) -> Option<String> {
    let Ok(Answer::Found(found)) = &person.answer else { return None };
    let points: Vec<(usize, f64)> =
        found.frontier.iter().map(|point| (point.changes.len(), point.log_likelihood)).collect();
    Some(par_plot::frontier(&points, model.median_log_likelihood())?.svg().into_string())
}

/// Answers a row.
pub(crate) fn answer<'r>(
    solver: &mut Solver<'_>,
    row: &'r JsonRow,
    number: u64,
    options: &RequestOptions,
) -> RowAnswer<'r> {
    let id = row.id.clone().unwrap_or_else(|| number.to_string());
    RowAnswer::new(solver, id, row.cells.iter().map(String::as_str).collect(), &options.request)
}

/// `POST /v1/recourse`
pub(crate) async fn recourse(
    State(service): State<Arc<Service>>,
    query: Query,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let model = service.model(query.read()?.text("model"))?;
    let question = service.read(&model, &headers, body, Question::read).await?;
    let answers = service.answers(&model, question).await?;
    let rows = answers.len();
    Ok(with_log_fields(json(&Answers { model: model.name(), answers }), &model, rows))
}

impl Service {
    /// The answers to a question, in the order of its rows, each as JSON.
    pub(crate) async fn answers(
        &self,
        model: &Arc<ServedModel>,
        question: Question,
    ) -> Result<Vec<Box<RawValue>>, Refusal> {
        let ways = question.rows.len() * question.options.request.count;
        if ways > self.settings.max_rows {
            return Err(Refusal::TooManyWays { found: ways, limit: self.settings.max_rows });
        }
        let question = Arc::new(question);
        let job = |first: usize| {
            let (question, model) = (Arc::clone(&question), Arc::clone(model));
            move |solver: &mut Solver<'_>, timer: &RowTimer<'_>| {
                let mut answers = Vec::with_capacity(ROWS_PER_JOB);
                for (row, number) in question.rows.iter().zip(1..).skip(first).take(ROWS_PER_JOB) {
                    if !timer.start_row() {
                        break;
                    }
                    let person = answer(solver, row, number, &question.options);
                    let body = AnswerBody::new(&model, &person, question.options.plot);
                    answers
                        .push((to_raw_value(&body).expect("an answer has only text keys"), person.status()));
                }
                answers
            }
        };
        let jobs = self.run_jobs(model, question.rows.len(), job).await?;
        let (answers, statuses): (Vec<_>, Vec<_>) = jobs.into_iter().flatten().unzip();
        self.metrics.count_answers(model.name(), &statuses);
        Ok(answers)
    }

    /// A permit to be answered; requests get theirs in the order they came.
    async fn admit(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        if let Ok(permit) = self.admission.try_acquire() {
            return Ok(permit);
        }
        let permit = timeout(ADMISSION_WAIT, self.admission.acquire()).await;
        permit.ok().and_then(Result::ok).ok_or(Refusal::Overloaded)
    }

    /// Runs one job and returns its result.
    pub(crate) async fn run_job<T: Send + 'static>(
        &self,
        model: &Arc<ServedModel>,
        work: impl FnOnce(&mut Solver<'_>) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let mut work = Some(|solver: &mut Solver<'_>, _: &RowTimer<'_>| work(solver));
        let results = self.run_jobs(model, 1, |_| work.take().expect("one row is one job")).await?;
        Ok(results.into_iter().next().expect("one row is one job"))
    }

    /// Runs a job for every [`ROWS_PER_JOB`] rows and returns their results in order. `work` makes the job that begins at a row.
    pub(crate) async fn run_jobs<T, W>(
        &self,
        model: &Arc<ServedModel>,
        rows: usize,
        work: impl FnMut(usize) -> W,
    ) -> Result<Vec<T>, Refusal>
    where
        T: Send + 'static,
        W: FnOnce(&mut Solver<'_>, &RowTimer<'_>) -> T + Send + 'static,
    {
        // Only now that the body is read: a slow sender holds no permit.
        let _permit = self.admit().await?;
        let deadline = Instant::now() + self.settings.time;
        let urgency = if rows > 1 { Urgency::Many(deadline) } else { Urgency::One(deadline) };
        // Dropped with this future when the connection closes, which ends the work.
        let client = Client::default();
        let replies: Vec<_> = (0..rows)
            .step_by(ROWS_PER_JOB)
            .map(work)
            .map(|work| self.workers.ask(model, urgency, &client.watch(), work))
            .collect();
        // A search that ends at the deadline needs a moment to return.
        let latest = (deadline + self.settings.time / 4).into();
        let mut results = Vec::with_capacity(replies.len());
        for reply in replies {
            match timeout_at(latest, reply).await {
                Ok(Ok(result)) => results.push(result),
                // A job that has not begun by the deadline is dropped.
                Ok(Err(_)) if Instant::now() < deadline => return Err(Refusal::Broken),
                Ok(Err(_)) | Err(_) => return Err(Refusal::TooSlow),
            }
        }
        Ok(results)
    }
}
