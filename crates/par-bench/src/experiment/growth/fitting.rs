//! The time of a fit, by stage.

use std::hint::black_box;
use std::time::Instant;

use par_circuit::Stop;
use par_fit::Stage;
use par_fit::pool::draw_pool;
use par_model::{Model, Target};

use super::super::clock;
use crate::figures::{Metric, Sheet};

/// Stages of a fit.
pub(super) const STAGES: [&str; 5] = ["read", "classifier", "circuits", "pool", "generator"];
const READ: usize = 0;
const CLASSIFIER: usize = 1;
const CIRCUITS: usize = 2;
const POOL: usize = 3;
const GENERATOR: usize = 4;

/// The duration of each stage of a fit.
pub(super) struct StageTimes {
    seconds: [f64; 5],
    since: Instant,
    /// The processor time of all threads, where the system tells: at the start, and until the end.
    clock: Option<f64>,
    processor: Option<f64>,
}

impl StageTimes {
    /// Starts the clock.
    pub(super) fn start() -> Self {
        Self { seconds: [0.0; 5], since: Instant::now(), clock: clock::process(), processor: None }
    }

    /// Adds the time since the last event to the stage of this one.
    pub(super) fn on(&mut self, stage: &Stage<'_>) {
        self.charge(match stage {
            Stage::Reading(_) | Stage::Read(_) => READ,
            Stage::Classifier(..) => CLASSIFIER,
            Stage::Circuit(..) => CIRCUITS,
            Stage::Pool(_) => POOL,
            _ => GENERATOR,
        });
    }

    /// Adds the time since the last event to the last stage.
    pub(super) fn end(&mut self) {
        self.charge(GENERATOR);
    }

    fn charge(&mut self, stage: usize) {
        self.seconds[stage] += self.since.elapsed().as_secs_f64();
        self.since = Instant::now();
        self.processor = self.clock.zip(clock::process()).map(|(before, now)| now - before);
    }

    /// Seconds over all stages.
    pub(super) fn all(&self) -> f64 {
        self.seconds.iter().sum()
    }

    /// Adds the stages of a fit. A threshold by Youden's J counts towards the circuits: it has no progress event.
    pub(super) fn write(
        &self,
        model: &Model,
        rows: usize,
        at: impl Fn(&str, &str) -> Metric,
        sheet: &mut Sheet,
    ) {
        let mut seconds = self.seconds;
        // The last event of circuits comes before the winner is trained on all rows, so the pool is timed again here.
        let config = model.config();
        let started = Instant::now();
        let typical = model.classifier().typical();
        let target = Target { classifier: &*typical, threshold: model.threshold(), scale: model.scale() };
        let pool = draw_pool(model.accepted(), target, &config.pool, config.seed, Stop::never());
        let pool = pool.expect("it is never stopped");
        let alone = started.elapsed().as_secs_f64().min(seconds[POOL]);
        seconds[CIRCUITS] += seconds[POOL] - alone;
        seconds[POOL] = alone;
        black_box(pool);
        for (name, seconds) in STAGES.into_iter().zip(seconds).chain([("all", self.all())]) {
            sheet.number("fit", at("seconds", name), seconds, rows);
        }
        if let Some(processor) = self.processor {
            sheet.number("fit", at("cpu_seconds", "all"), processor, rows);
        }
    }
}
