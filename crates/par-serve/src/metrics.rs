//! `GET /metrics`: requests, answers, reloads and times, for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};

use crate::Service;

/// Upper ends of the buckets of durations, in seconds.
const BUCKETS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0, 10.0];

/// Counts since the service started.
#[derive(Default)]
pub(crate) struct Metrics(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    /// By route and status.
    requests: BTreeMap<(&'static str, u16), u64>,
    /// By route.
    durations: BTreeMap<&'static str, Durations>,
    /// By model and status.
    answers: BTreeMap<(String, &'static str), u64>,
    /// By model and success.
    reloads: BTreeMap<(String, bool), u64>,
}

#[derive(Default)]
struct Durations {
    /// One for each bucket, and one for longer durations.
    counts: [u64; BUCKETS.len() + 1],
    seconds: f64,
}

impl Metrics {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request. `route` is that of an endpoint, or the one that stands for all other addresses.
    pub(crate) fn count_request(&self, route: &'static str, status: u16, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BUCKETS.partition_point(|end| *end < seconds);
        let mut counts = self.lock();
        *counts.requests.entry((route, status)).or_default() += 1;
        let durations = counts.durations.entry(route).or_default();
        durations.counts[bucket] += 1;
        durations.seconds += seconds;
    }

    /// Counts answers.
    pub(crate) fn count_answers(&self, model: &str, statuses: &[&'static str]) {
        let mut counts = self.lock();
        for status in statuses {
            *counts.answers.entry((model.to_string(), status)).or_default() += 1;
        }
    }

    /// Counts a model file that was read again, with success or not.
    pub(crate) fn count_reload(&self, model: &str, is_loaded: bool) {
        *self.lock().reloads.entry((model.to_string(), is_loaded)).or_default() += 1;
    }
}

/// `GET /metrics`
pub(crate) async fn metrics(State(service): State<Arc<Service>>) -> Response {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], service.exposition()).into_response()
}

impl Service {
    /// All metrics in the text format of Prometheus.
    fn exposition(&self) -> String {
        let mut text = Exposition::default();
        let counts = self.metrics.lock();
        text.family("par_requests_total", "counter", "Requests, by route and status.");
        for ((route, status), count) in &counts.requests {
            text.line(&format!("par_requests_total{{route={route:?},status=\"{status}\"}}"), *count as f64);
        }
        text.family("par_request_seconds", "histogram", "How long requests take, by route.");
        for (route, durations) in &counts.durations {
            let mut below = 0;
            for (end, count) in BUCKETS.iter().zip(&durations.counts) {
                below += count;
                text.line(
                    &format!("par_request_seconds_bucket{{route={route:?},le=\"{end}\"}}"),
                    below as f64,
                );
            }
            let all: u64 = durations.counts.iter().sum();
            text.line(&format!("par_request_seconds_bucket{{route={route:?},le=\"+Inf\"}}"), all as f64);
            text.line(&format!("par_request_seconds_sum{{route={route:?}}}"), durations.seconds);
            text.line(&format!("par_request_seconds_count{{route={route:?}}}"), all as f64);
        }
        text.family("par_answers_total", "counter", "Answers, by model and what they are.");
        for ((model, status), count) in &counts.answers {
            text.line(&format!("par_answers_total{{model={model:?},status=\"{status}\"}}"), *count as f64);
        }
        text.family("par_reloads_total", "counter", "Model files read again, by model and outcome.");
        for ((model, is_loaded), count) in &counts.reloads {
            let outcome = if *is_loaded { "loaded" } else { "refused" };
            text.line(&format!("par_reloads_total{{model={model:?},outcome=\"{outcome}\"}}"), *count as f64);
        }
        drop(counts);
        if let Some(logs) = &self.settings.logs {
            text.family("par_log_lines_dropped_total", "counter", "Log lines that could not be written.");
            text.line("par_log_lines_dropped_total", logs.dropped() as f64);
        }
        text.family("par_model_loaded_seconds", "gauge", "When each model was read, in seconds since 1970.");
        for model in self.models.all() {
            let name = model.name();
            text.line(&format!("par_model_loaded_seconds{{model={name:?}}}"), model.loaded() as f64);
        }
        let in_flight = self.in_flight.load(Ordering::Relaxed);
        let admitted = self.settings.max_requests - self.admission.available_permits();
        let streams = self.settings.max_streams - self.streams.available_permits();
        let connections = self.connections.load(Ordering::Relaxed);
        for (name, help, value) in [
            ("par_requests_in_flight", "Questions that are being read or answered.", in_flight),
            ("par_requests_admitted", "Questions that are being answered or wait for it.", admitted),
            ("par_streams", "Streams that are under way.", streams),
            ("par_connections", "Connections that are open.", connections),
            ("par_queued", "Pieces of work that no thread has begun.", self.workers.queued()),
        ] {
            text.family(name, "gauge", help);
            text.line(name, value as f64);
        }
        text.0
    }
}

/// Counts one until it is dropped.
pub(crate) struct CountGuard<'a>(&'a AtomicUsize);

impl<'a> CountGuard<'a> {
    pub(crate) fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for CountGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The text format of Prometheus.
#[derive(Default)]
struct Exposition(String);

impl Exposition {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}").expect("memory can be written to");
    }

    fn line(&mut self, name: &str, value: f64) {
        writeln!(self.0, "{name} {value}").expect("memory can be written to");
    }
}
