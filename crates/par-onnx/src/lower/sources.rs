//! Functions of single inputs; each adds one step to another.

use crate::classifier::{Source, Step};
use crate::tensor::Element;

/// All sources, including intermediate ones that the classifier does not need.
#[derive(Default)]
pub(crate) struct Sources {
    origins: Vec<SourceOrigin>,
}

enum SourceOrigin {
    Input(usize),
    Step(u32, Step),
}

impl Sources {
    /// The source of an input without steps.
    pub(crate) fn input(&mut self, place: usize) -> Element {
        Element::Source(self.push(SourceOrigin::Input(place)))
    }

    /// A source with one more step.
    pub(crate) fn step(&mut self, source: u32, step: Step) -> u32 {
        self.push(SourceOrigin::Step(source, step))
    }

    /// The last step of a source, and the source before it.
    pub(crate) fn last(&self, source: u32) -> Option<(u32, &Step)> {
        match &self.origins[source as usize] {
            SourceOrigin::Input(_) => None,
            SourceOrigin::Step(from, step) => Some((*from, step)),
        }
    }

    /// The steps of a source, the last first.
    fn steps(&self, source: u32) -> impl Iterator<Item = (u32, &Step)> {
        std::iter::successors(self.last(source), |(from, _)| self.last(*from))
    }

    /// The memory of a copy of a source, in pieces.
    pub(crate) fn size(&self, source: u32) -> usize {
        self.steps(source).map(|(_, step)| size(step)).sum::<usize>() + 1
    }

    /// A source as the classifier holds it.
    pub(crate) fn source(&self, source: u32) -> Source {
        let mut steps: Vec<Step> = self.steps(source).map(|(_, step)| step.clone()).collect();
        steps.reverse();
        let first = self.steps(source).last().map_or(source, |(from, _)| from);
        let SourceOrigin::Input(input) = self.origins[first as usize] else {
            unreachable!("every source begins with an input")
        };
        Source { input, steps }
    }

    fn push(&mut self, origin: SourceOrigin) -> u32 {
        self.origins.push(origin);
        u32::try_from(self.origins.len() - 1).expect("no more sources than pieces")
    }
}

/// The memory of a copy of a step, in pieces.
pub(crate) fn size(step: &Step) -> usize {
    match step {
        Step::Lookup(pairs, _) => 1 + pairs.len(),
        Step::LookupText(pairs, _) => 1 + pairs.iter().map(|(text, _)| 2 + text.len() / 16).sum::<usize>(),
        Step::EqualsText(text) => 2 + text.len() / 16,
        _ => 1,
    }
}
