//! Functions of single inputs, each made of another by one step.

use crate::model::{Source, Step};
use crate::tensor::Element;

/// All that were made, those that the model needs and those on the way to them.
#[derive(Default)]
pub(crate) struct Sources {
    origins: Vec<Origin>,
}

enum Origin {
    Input(usize),
    Step(u32, Step),
}

impl Sources {
    /// An input as it is.
    pub(crate) fn input(&mut self, place: usize) -> Element {
        Element::Source(self.push(Origin::Input(place)))
    }

    /// A source with one more step.
    pub(crate) fn step(&mut self, source: u32, step: Step) -> u32 {
        self.push(Origin::Step(source, step))
    }

    /// The last step of a source, and what it was taken from.
    pub(crate) fn last(&self, source: u32) -> Option<(u32, &Step)> {
        match &self.origins[source as usize] {
            Origin::Input(_) => None,
            Origin::Step(from, step) => Some((*from, step)),
        }
    }

    /// The steps of a source, the last first.
    fn steps(&self, source: u32) -> impl Iterator<Item = (u32, &Step)> {
        std::iter::successors(self.last(source), |(from, _)| self.last(*from))
    }

    /// How much there is to copy of a source.
    pub(crate) fn size(&self, source: u32) -> usize {
        self.steps(source).map(|(_, step)| size(step)).sum::<usize>() + 1
    }

    /// A source as the model has it.
    pub(crate) fn source(&self, source: u32) -> Source {
        let mut steps: Vec<Step> = self.steps(source).map(|(_, step)| step.clone()).collect();
        steps.reverse();
        let first = self.steps(source).last().map_or(source, |(from, _)| from);
        let Origin::Input(input) = self.origins[first as usize] else {
            unreachable!("every source begins with an input")
        };
        Source { input, steps }
    }

    fn push(&mut self, origin: Origin) -> u32 {
        self.origins.push(origin);
        u32::try_from(self.origins.len() - 1).expect("no more sources than pieces")
    }
}

/// How much there is to copy of a step.
pub(crate) fn size(step: &Step) -> usize {
    match step {
        Step::Lookup(pairs, _) => 1 + pairs.len(),
        Step::LookupText(pairs, _) => 1 + pairs.iter().map(|(text, _)| 2 + text.len() / 16).sum::<usize>(),
        Step::EqualsText(text) => 2 + text.len() / 16,
        _ => 1,
    }
}
