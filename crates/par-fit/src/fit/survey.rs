//! One pass over a table: what all of its rows tell, and a sample of them to learn from.

use par_circuit::Stop;
use par_data::{Batch, Columns, DomainSurvey, Label, RowSample};
use rayon::prelude::*;

use super::{ModelBuilder, Part, Stage};
use crate::error::Error;

pub(super) struct Survey {
    pub(super) domains: DomainSurvey,
    pub(super) sample: RowSample,
    /// How many rows the label accepts and denies; `None` without labels.
    pub(super) classes: Option<[usize; 2]>,
}

/// What a batch adds to a survey.
struct BatchSurvey {
    domains: DomainSurvey,
    classes: Option<[usize; 2]>,
}

impl Survey {
    /// Reads all rows; as many batches as there are threads are surveyed at a time.
    pub(super) fn read(
        builder: &ModelBuilder,
        columns: &Columns,
        label: Option<&Label>,
        batches: impl IntoIterator<Item = Result<Batch, par_data::Error>>,
        progress: &mut dyn FnMut(Stage<'_>),
        stop: Stop<'_>,
    ) -> Result<Self, Error> {
        let (schema, config) = (&builder.schema, &builder.config);
        let empty = DomainSurvey::new(schema, &config.bins)?;
        let survey_batch = |batch: &Batch| -> Result<BatchSurvey, Error> {
            let mut domains = empty.clone();
            domains.add(schema, columns, batch)?;
            let classes = label.map(|label| {
                let classes = schema.classes(columns, batch)?;
                let accepted = classes.iter().filter(|class| label.wants(**class)).count();
                Ok::<_, par_data::Error>([accepted, classes.len() - accepted])
            });
            Ok(BatchSurvey { domains, classes: classes.transpose()? })
        };
        let mut all = Self {
            domains: empty.clone(),
            sample: RowSample::new(config.sample, builder.seed(Part::Sample)),
            classes: label.map(|_| [0, 0]),
        };
        let mut batches = batches.into_iter();
        loop {
            stop.check()?;
            let group: Vec<_> = batches.by_ref().take(rayon::current_num_threads()).collect();
            if group.is_empty() {
                return Ok(all);
            }
            let surveys: Vec<_> =
                group.par_iter().map(|batch| batch.as_ref().ok().map(survey_batch)).collect();
            // In the order of the table, so that the first error is reported.
            for (batch, survey) in group.into_iter().zip(surveys) {
                let (batch, Some(survey)) = (batch?, survey) else { continue };
                let BatchSurvey { domains, classes } = survey?;
                all.domains.merge(schema, columns, domains)?;
                all.sample.add(&batch);
                if let (Some(own), Some(classes)) = (&mut all.classes, classes) {
                    own.iter_mut().zip(classes).for_each(|(count, rows)| *count += rows);
                }
            }
            progress(Stage::Reading(all.sample.read()));
        }
    }
}
