//! `par inspect`: the contents of a model, and how it was made.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use par_data::Feature;
use par_data::schema::{Direction, Effort, Mutability, Step, Takes};
use par_model::card::Sample;
use par_model::classifier::Version;
use par_model::{Card, Config, Model};
use serde::Serialize;

use crate::aligned::{Align, Facts, aligned, grouped, percent};
use crate::fit::{CircuitFacts, ClassifierFacts};
use crate::{domain_text, model_file, output, schema_text};

#[derive(Args)]
pub(crate) struct Inspect {
    /// Made by `par fit`
    model: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(crate) fn run(self) -> Result<()> {
        let model = model_file::read(&self.model)?;
        let bytes = self.model.metadata().with_context(|| self.model.display().to_string())?.len();
        let contents = ModelContents::new(&model, bytes);
        if self.json { output::print_json(&contents) } else { output::print(&contents.text(&model)?) }
    }
}

#[derive(Serialize)]
struct ModelContents {
    bytes: u64,
    threshold: f64,
    features: Vec<FeatureFacts>,
    rules: Vec<RuleFacts>,
    /// The relations between features, rules among them, in words.
    relations: Vec<String>,
    /// The policies beside the classifier, in words.
    accept: Vec<String>,
    classifier: ClassifierFacts,
    /// Other versions of the classifier.
    versions: Vec<VersionFacts>,
    /// The classifier's own network, or its surrogate.
    network: Option<NetworkFacts>,
    accepted_circuit: CircuitFacts,
    denied_circuit: CircuitFacts,
    pool: usize,
    generator: NetworkFacts,
    card: Card,
    config: Config,
    schema: String,
}

#[derive(Serialize)]
struct FeatureFacts {
    name: String,
    kind: &'static str,
    codes: usize,
    coded_as: &'static str,
    /// Categories or numbers by code; for bins, their edges.
    contents: Vec<String>,
    immutable: bool,
    monotone: &'static str,
    bounds: Option<[f64; 2]>,
    allowed: Option<Vec<String>>,
    unit: Option<String>,
    /// What the schema says may happen to it.
    change: &'static str,
    step: Step,
    transitions: BTreeMap<String, Vec<String>>,
    forbid: BTreeMap<String, Vec<String>>,
    special: Vec<f64>,
    effort: Effort,
    takes: Option<Takes>,
    improves: Option<&'static str>,
    who: &'static str,
    #[serde(skip)]
    freedom: String,
    #[serde(skip)]
    details: Vec<String>,
}

#[derive(Serialize)]
struct RuleFacts {
    if_increases: String,
    must_increase: String,
}

#[derive(Serialize)]
struct VersionFacts {
    name: String,
    threshold: f64,
    sha256: String,
}

#[derive(Serialize)]
struct NetworkFacts {
    /// Widths of the layers.
    widths: Vec<usize>,
    parameters: usize,
}

impl VersionFacts {
    fn new(version: &Version) -> Self {
        let (name, sha256) = (version.name.clone(), version.classifier.hash());
        Self { name, threshold: version.threshold, sha256 }
    }
}

impl FeatureFacts {
    fn new(model: &Model, position: usize) -> Self {
        let feature = &model.schema().features()[position];
        let domain = &model.discretizer().domains()[position];
        let immutable = model.constraints().is_immutable(position);
        Self {
            name: feature.name.clone(),
            kind: feature.kind.name(),
            codes: domain.cardinality(),
            coded_as: domain_text::coded_as(domain),
            contents: domain_text::contents(domain),
            immutable,
            monotone: match feature.direction() {
                None => "none",
                Some(Direction::Increase) => "increasing",
                Some(Direction::Decrease) => "decreasing",
            },
            bounds: feature.bounds,
            allowed: feature.allowed.clone(),
            unit: feature.unit.clone(),
            change: feature.change.name(),
            step: feature.step,
            transitions: feature.transitions.clone(),
            forbid: feature.forbidden.clone(),
            special: feature.special.clone(),
            effort: feature.effort,
            takes: feature.takes,
            improves: feature.improves.map(Direction::name),
            who: feature.who.name(),
            freedom: freedom(feature, immutable),
            details: feature.changes_in_words(),
        }
    }
}

/// How a person may change it.
fn freedom(feature: &Feature, immutable: bool) -> String {
    let direction = match feature.change {
        Mutability::WithTime if immutable => return "with time".to_string(),
        Mutability::Follows if immutable => return "follows".to_string(),
        Mutability::Undecided if immutable => return "undecided".to_string(),
        _ if immutable => return "immutable".to_string(),
        Mutability::Increase => "rises only",
        Mutability::Decrease => "falls only",
        _ => "free",
    };
    match &feature.allowed {
        Some(allowed) => format!("{direction}, to {}", allowed.join(", ")),
        None => direction.to_string(),
    }
}

impl ModelContents {
    fn new(model: &Model, bytes: u64) -> Self {
        let card = model.card();
        let schema = model.schema();
        let name = |feature: usize| schema.features()[feature].name.clone();
        let shape = model.generator().shape();
        Self {
            bytes,
            threshold: model.threshold(),
            features: (0..schema.features().len())
                .map(|position| FeatureFacts::new(model, position))
                .collect(),
            rules: schema
                .rises()
                .map(|[effect, cause]| RuleFacts { if_increases: name(effect), must_increase: name(cause) })
                .collect(),
            relations: schema.relations_in_words(),
            accept: schema.accept_rules_in_words(),
            classifier: ClassifierFacts::new(model),
            versions: model.versions().iter().map(VersionFacts::new).collect(),
            network: model.classifier().network().map(|network| NetworkFacts {
                widths: network.widths().to_vec(),
                parameters: network.parameters().len(),
            }),
            accepted_circuit: CircuitFacts::new(model.accepted(), card.held_out[0]),
            denied_circuit: CircuitFacts::new(model.denied(), card.held_out[1]),
            pool: model.pool().len(),
            generator: NetworkFacts {
                widths: vec![shape.encoder, shape.embedding, shape.hidden[0], shape.hidden[1]],
                parameters: model.generator().parameters().len(),
            },
            card: card.clone(),
            config: model.config().clone(),
            schema: schema.source().to_string(),
        }
    }

    fn text(&self, model: &Model) -> Result<String> {
        let card = &self.card;
        let [accepted, denied] = &card.classes;
        let mut facts = Facts::default();
        facts.add("made by", format!("{}, seed {}", card.program, self.config.seed));
        facts.add("bytes", grouped(self.bytes));
        let Sample { read, learned_from } = card.sample_or_all();
        let sampled = match learned_from < read {
            true => format!(" of {} that were read", grouped(read)),
            false => String::new(),
        };
        facts.add(
            "training rows",
            format!("{}{sampled}; the model holds no copy of them", grouped(learned_from)),
        );
        facts.add("accepted", format!("{accepted}, {} rows", grouped(card.rows[0])));
        facts.add("denied", format!("{denied}, {} rows", grouped(card.rows[1])));
        facts.add("classifier", self.classifier.text());
        if !self.versions.is_empty() {
            let names: Vec<&str> = self.versions.iter().map(|version| version.name.as_str()).collect();
            facts.add("versions", format!("{}: {}", names.len(), names.join(", ")));
        }
        if let Some(network) = &self.network {
            facts.add("", self.network_text(network));
        }
        if let Some(agreement) = self.classifier.agreement_text() {
            facts.add("", agreement);
        }
        let share = |share: Option<f64>| share.map_or("unknown".to_string(), |share| format!("{share:.3}"));
        facts.add(
            "",
            format!("AUC {}, accuracy {} on the training rows", share(card.auc), share(card.accuracy)),
        );
        if let Some(r2) = card.held_out_r2 {
            facts.add("", format!("a regression, R² {r2:.3} on held-out rows"));
        }
        facts.add(
            "threshold",
            match model.goal() {
                Some(goal) => format!("{} {}", goal.side.words(), goal.amount(self.threshold, None)),
                None => format!("{:.4}", self.threshold),
            },
        );
        facts.add("accepted circuit", self.accepted_circuit.text());
        facts.add("denied circuit", self.denied_circuit.text());
        facts.add("accepted pool", format!("{} rows drawn from the circuit", grouped(self.pool)));
        self.add_generator(&mut facts);

        let mut text = format!("model\n{}\n{} features\n", facts.text(), grouped(self.features.len()));
        let lines: Vec<[String; 6]> = self
            .features
            .iter()
            .zip(model.discretizer().domains())
            .map(|(feature, domain)| {
                [
                    feature.name.clone(),
                    feature.kind.to_string(),
                    feature.freedom.clone(),
                    grouped(feature.codes),
                    feature.coded_as.to_string(),
                    domain_text::contents_line(domain),
                ]
            })
            .collect();
        let (left, right) = (Align::Left, Align::Right);
        text += &aligned([left, left, left, right, left, left], &lines);
        let detailed = self.features.iter().filter(|feature| !feature.details.is_empty());
        let details: Vec<[String; 2]> =
            detailed.map(|feature| [feature.name.clone(), feature.details.join(", ")]).collect();
        if !details.is_empty() {
            text += &format!("\nchanges\n{}", aligned([left, left], &details));
        }
        text += &schema_text::relations(model.schema());
        text += "\nconfiguration\n";
        let config = toml::to_string(&self.config).context("the configuration cannot be written as TOML")?;
        text.extend(
            config.lines().map(|line| if line.is_empty() { "\n".into() } else { format!("  {line}\n") }),
        );
        Ok(text)
    }

    fn network_text(&self, network: &NetworkFacts) -> String {
        let widths: Vec<String> = network.widths.iter().map(ToString::to_string).collect();
        let history = &self.card.classifier;
        let balanced = if history.balanced { ", classes balanced" } else { "" };
        format!(
            "layers of {}, {} parameters, {} epochs, the best is epoch {}{balanced}",
            widths.join(" → "),
            grouped(network.parameters),
            grouped(history.epochs.len()),
            grouped(history.best)
        )
    }

    fn add_generator(&self, facts: &mut Facts) {
        let [encoder, embedding, first, second] = self.generator.widths[..] else { return };
        let history = &self.card.generator;
        facts.add(
            "generator",
            format!(
                "neighbours as {encoder} → {embedding}, layers of {first} and {second}, {} parameters",
                grouped(self.generator.parameters)
            ),
        );
        let steps = history.points.last().map_or(0, |point| point.step);
        facts.add(
            "",
            format!(
                "{} examples, {} of them with a recourse to learn from, {} steps",
                grouped(history.examples),
                grouped(history.taught),
                grouped(steps)
            ),
        );
        if let Some(held_out) = history.points.last().and_then(|point| point.held_out) {
            facts.add(
                "",
                format!(
                    "on {} held-out factuals: {} accepted, {:.2} changes, {:.3} nats",
                    grouped(history.held_out),
                    percent(held_out.valid),
                    held_out.changes,
                    held_out.log_likelihood
                ),
            );
        }
    }
}
