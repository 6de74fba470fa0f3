//! The generator's own answer: its proposals, and if none can be offered, completed ones.

use par_model::generator::Conditioning;

use super::{Aim, Person, SearchResult, Solver};
use crate::complete::Guide;
use crate::problem::Row;
use crate::request::{Method, Request};

/// How much the gain of a change counts beside the generator's preference: little for likelier rows, much for fewer
/// changes.
const GREEDS: [f64; 2] = [1.0, 4.0];

impl Solver<'_> {
    /// The frontier of the first aim that a proposal reaches, otherwise a completed proposal: within the budget, then
    /// beyond it, where the request has none.
    ///
    /// # Paper
    /// The paper has one proposal, accepted or not. Departure: a denied one is changed further until it is accepted.
    pub(super) fn generate(&mut self, person: Person<'_>, request: &Request) -> (SearchResult, Aim) {
        let budget = self.budget(person, request);
        let aims = self.aims(person.plausibility, request);
        let last = *aims.last().expect("a request has an aim");
        for aim in &aims {
            let search = self.search(person, aim, budget, &[], Method::Generate);
            if !search.frontier.solutions().is_empty() {
                return (search, *aim);
            }
        }
        if self.model.config().generator.conditioning == Conditioning::Paper {
            return (SearchResult::default(), last);
        }
        let most = if request.budget.is_none() { person.candidates.free_features() } else { budget };
        for aims in aims.chunk_by(|a, b| a.threshold == b.threshold) {
            let completed = self.completed(person, &aims[0], most);
            for budget in [budget, most] {
                for aim in aims {
                    let search = self.search_durations(person, aim, |solver, duration| {
                        let problem = person.problem(aim, duration, budget, &[]);
                        SearchResult::unproved(solver.frontier_of(&problem, completed[duration].iter().cloned()))
                    });
                    if !search.frontier.solutions().is_empty() {
                        return (search, *aim);
                    }
                }
            }
        }
        (SearchResult::default(), last)
    }

    /// For each duration, rows that are completed for an aim.
    fn completed(&mut self, person: Person<'_>, aim: &Aim, budget: usize) -> Vec<Vec<Row>> {
        let complete = |duration: usize| {
            let problem = person.problem(aim, duration, budget, &[]);
            let own = problem.own();
            let first = person.proposals.chunks_exact(own.codes.len()).next();
            let first = first.and_then(|codes| problem.row(codes)).filter(|row| *row != own);
            let mut rows: Vec<Row> = Vec::new();
            for start in first.iter().chain([&own]) {
                for greed in GREEDS {
                    let guide = Guide::Generator(person.preferences);
                    let row = self.completer.complete(&problem, start.clone(), guide, greed);
                    rows.extend(row.filter(|row| !rows.contains(row)));
                }
            }
            rows
        };
        (0..person.candidates.durations().len()).map(complete).collect()
    }
}
