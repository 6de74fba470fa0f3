//! How good the answers are on the benchmark tables: `cargo bench -p par-recourse --bench folds -- FOLDER`.
//!
//! FOLDER holds adult, credit and gmsc as NAME.csv.gz and NAME.toml, with columns `fold` (0 to 4) and `subtest`
//! (1 for the rows sampled as factuals). Each fold's bundle is fitted on the rows outside it and asked about the
//! sampled rows in it. Figures are the mean and the sample standard deviation over folds. With `--paper` before
//! FOLDER, bundles are fitted by the paper's preset.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]
#![expect(clippy::approx_constant, reason = "a published figure is near one")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use par_data::{Batch, Schema, Table, TableOptions};
use par_recourse::classifier::Threshold;
use par_recourse::metrics::{MethodMetrics, evaluate};
use par_recourse::{Config, Evaluation, Recourse};

/// A table, the sense in which it is asked, and the paper's rows for it.
struct Case {
    table: &'static str,
    /// The class that counts as accepted; the schema's favourable one unless given.
    favourable: Option<&'static str>,
    bins: usize,
    threshold: f64,
    price: f64,
    /// NLL, sparsity and similarity that refine aims at.
    aims: [f64; 3],
    /// Validity in per cent, NLL, sparsity and similarity of PAR and PAR (+LS), table 1.
    published: Option<[[f64; 4]; 2]>,
}

const CASES: [Case; 4] = [
    Case {
        table: "adult",
        favourable: None,
        bins: 12,
        threshold: 0.5,
        price: 1.25,
        aims: [10.0, 3.0, 3.0],
        published: Some([[93.59, 11.76, 4.75, 9.23], [98.45, 11.27, 3.26, 6.43]]),
    },
    Case {
        table: "credit",
        favourable: None,
        bins: 10,
        threshold: 0.5,
        price: 1.0,
        aims: [17.8, 3.0, 2.5],
        published: Some([[95.44, 18.18, 6.92, 10.49], [100.0, 18.91, 3.59, 6.00]]),
    },
    Case {
        table: "gmsc",
        favourable: Some("1"),
        bins: 10,
        threshold: 0.06,
        price: 1.6,
        aims: [12.2, 2.2, 6.3],
        published: Some([[85.70, 16.96, 4.65, 11.86], [99.21, 15.13, 2.22, 6.28]]),
    },
    Case {
        table: "gmsc",
        favourable: Some("0"),
        bins: 10,
        threshold: 0.94,
        price: 1.4,
        aims: [12.4, 2.2, 5.0],
        published: None,
    },
];

const FOLDS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo passes `--bench` before the folder.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments.iter().find(|argument| !argument.starts_with("--")).map(PathBuf::from);
    let Some(folder) = folder else {
        println!(
            "name a folder with the benchmark tables: cargo bench -p par-recourse --bench folds -- FOLDER"
        );
        return Ok(());
    };
    for case in CASES {
        case.measure(&folder, arguments.iter().any(|argument| argument == "--paper"))?;
    }
    Ok(())
}

impl Case {
    fn measure(&self, folder: &Path, paper: bool) -> Result<(), Box<dyn Error>> {
        let schema = Schema::load(folder.join(format!("{}.toml", self.table)))?;
        let path = folder.join(format!("{}.csv.gz", self.table));
        let table = Table::open(path, &TableOptions::default())?;
        let columns = schema.columns(table.origin(), table.columns())?;
        let (fold, subtest) = (columns.fold.ok_or("no folds")?, columns.subtest.ok_or("no sample")?);
        let rows = table.batches(usize::MAX).next().ok_or("a table without rows")??;

        let mut config = if paper { Config::paper() } else { Config::default() };
        config.favourable = self.favourable.map(String::from);
        config.bins.bins = self.bins;
        config.classifier.threshold = Threshold::Fixed(self.threshold);
        if !paper {
            config.answers.price = self.price;
        }
        let price = config.answers.price;
        let method = Recourse::new(schema, config);
        let started = Instant::now();
        let mut evaluations = Vec::new();
        for own in 0..FOLDS {
            let is_own = |batch: &Batch, row: usize| batch.cell(row, fold) == own.to_string();
            let (mut training, mut test) = (rows.clone(), rows.clone());
            training.retain(|batch, row| !is_own(batch, row));
            test.retain(|batch, row| is_own(batch, row) && batch.cell(row, subtest) == "1");
            let bundle = method.fit_rows(&columns, || Ok([Ok(training.clone())]), &mut |_| {})?;
            let person = |row| columns.features.iter().map(|&column| test.cell(row, column)).collect();
            let people: Vec<Vec<&str>> = (0..test.rows()).map(person).collect();
            evaluations
                .push(evaluate(&bundle, &people).map_err(|(row, error)| format!("row {row}: {error}"))?);
        }
        self.print(&evaluations, price, started.elapsed().as_secs_f64());
        Ok(())
    }

    fn print(&self, evaluations: &[Evaluation], price: f64, seconds: f64) {
        let count = |of: fn(&Evaluation) -> usize| evaluations.iter().map(of).sum::<usize>();
        println!(
            "\n{}{}: {} bins, threshold {}, price {price} nats; {} factuals, {} denied, {} of them with a recourse; {seconds:.0} s",
            self.table,
            self.favourable.map_or(String::new(), |class| format!(", {class} favourable")),
            self.bins,
            self.threshold,
            count(|evaluation| evaluation.rows),
            count(|evaluation| evaluation.denied),
            count(|evaluation| evaluation.possible),
        );
        println!(
            "{:22} {:>14} {:>8} {:>8} {:>14} {:>14} {:>14} {:>12} {:>8} {:>8}",
            "", "validity %", "action.", "causal.", "NLL", "sparsity", "similarity", "gap", "proved", "µs"
        );
        for (place, name) in ["generate", "refine", "exact"].into_iter().enumerate() {
            let over_folds = |value: fn(&MethodMetrics) -> Option<f64>| -> Vec<f64> {
                evaluations.iter().filter_map(|evaluation| value(&evaluation.methods[place])).collect()
            };
            let spread = |value, scale: f64| {
                let (mean, deviation) = mean_and_deviation(&over_folds(value));
                format!("{:.2} ± {:.2}", scale * mean, scale * deviation)
            };
            let mean = |value, decimals| {
                let (mean, _) = mean_and_deviation(&over_folds(value));
                if mean.is_nan() { "–".to_string() } else { format!("{mean:.decimals$}") }
            };
            println!(
                "{name:22} {:>14} {:>8} {:>8} {:>14} {:>14} {:>14} {:>12} {:>8} {:>8}",
                spread(|method| method.validity.mean, 100.0),
                mean(|method| method.actionability.mean.map(|share| 100.0 * share), 2),
                mean(|method| method.causality.mean.map(|share| 100.0 * share), 2),
                spread(|method| method.nll.mean, 1.0),
                spread(|method| method.sparsity.mean, 1.0),
                spread(|method| method.similarity.mean, 1.0),
                format!("{} / {}", mean(|method| method.median_gap, 2), mean(|method| method.gap.mean, 2)),
                mean(|method| method.optimal.mean.map(|share| 100.0 * share), 1),
                mean(|method| method.time_us, 0),
            );
        }
        let [nll, sparsity, similarity] = self.aims;
        println!("{:22} {:>47} {sparsity:>14.2} {similarity:>14.2}", "aim for refine", format!("{nll:.2}"));
        for (name, published) in
            ["PAR, published", "PAR (+LS), published"].iter().zip(self.published.iter().flatten())
        {
            let [validity, nll, sparsity, similarity] = published;
            println!(
                "{name:22} {validity:>14.2} {:>32} {sparsity:>14.2} {similarity:>14.2}",
                format!("{nll:.2}")
            );
        }
    }
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 })
}
