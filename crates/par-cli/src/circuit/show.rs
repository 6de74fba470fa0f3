//! `par circuit show`: prints the contents of a circuit file.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use par_circuit::Circuit;
use serde::Serialize;

use crate::aligned::{Align, Facts, aligned, grouped};
use crate::circuit_file::{CircuitFile, Provenance};
use crate::variables::Variables;
use crate::{domain_text, output};

#[derive(Args)]
pub(crate) struct Show {
    /// Made by `par circuit fit`
    circuit: PathBuf,
    /// Print the circuit itself, one node a line
    #[arg(long, conflicts_with = "json")]
    text: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(crate) fn run(self) -> Result<()> {
        let CircuitFile { variables, provenance, circuit } = CircuitFile::read(&self.circuit)?;
        if self.text {
            return output::print_document(&circuit.to_text());
        }
        let contents = CircuitContents::new(&variables, provenance, &circuit);
        if self.json { output::print_json(&contents) } else { output::print(&contents.text(&variables)) }
    }
}

#[derive(Serialize)]
struct CircuitContents {
    nodes: usize,
    edges: usize,
    parameters: usize,
    header: bool,
    variables: Vec<Variable>,
    provenance: Provenance,
}

#[derive(Serialize)]
struct Variable {
    name: String,
    codes: usize,
    coded_as: &'static str,
    /// Categories or numbers by code; for bins, their edges.
    contents: Vec<String>,
}

impl CircuitContents {
    fn new(variables: &Variables, provenance: Provenance, circuit: &Circuit) -> Self {
        let pairs = variables.schema().features().iter().zip(variables.discretizer.domains());
        let variable = |(feature, domain): (&par_data::Feature, &par_data::Domain)| Variable {
            name: feature.name.clone(),
            codes: domain.cardinality(),
            coded_as: domain_text::coded_as(domain),
            contents: domain_text::contents(domain),
        };
        Self {
            nodes: circuit.nodes().len(),
            edges: circuit.edges(),
            parameters: circuit.parameters(),
            header: variables.header,
            variables: pairs.map(variable).collect(),
            provenance,
        }
    }

    fn text(&self, variables: &Variables) -> String {
        let Provenance { program, conditions, rows, config, .. } = &self.provenance;
        let mut made = Facts::default();
        made.add("nodes", grouped(self.nodes));
        made.add("edges", grouped(self.edges));
        made.add("parameters", grouped(self.parameters));
        made.add("made by", program);
        made.add("learner", format!("{}, seed {}", config.learner, config.seed));
        self.provenance.add_members(&mut made);
        made.add("rows", grouped(*rows));
        if !conditions.is_empty() {
            made.add("where", conditions.join(" and "));
        }
        self.provenance.add_held_out(&mut made);
        let rows: Vec<[String; 4]> = self
            .variables
            .iter()
            .zip(variables.discretizer.domains())
            .map(|(variable, domain)| {
                let Variable { name, codes, coded_as, .. } = variable;
                [name.clone(), grouped(*codes), (*coded_as).to_string(), domain_text::contents_line(domain)]
            })
            .collect();
        let sides = [Align::Left, Align::Right, Align::Left, Align::Left];
        format!(
            "circuit\n{}\n{} variables\n{}",
            made.text(),
            grouped(self.variables.len()),
            aligned(sides, &rows)
        )
    }
}
