//! The answer of `generate`: the generator's proposals; if none can be offered, the person's row completed; and if that
//! cannot be offered either, what a walk comes to.

use par_model::generator::Conditioning;

use super::{Aim, Person, SearchResult, Solver};
use crate::complete::{Guide, preferences};
use crate::problem::{Row, SearchProblem};
use crate::refine::swap;
use crate::request::{Method, Request};

/// How a row is made where no proposal can be offered, the fastest first.
#[derive(Clone, Copy)]
enum Attempt {
    /// Change by change, by what each gains for what it costs.
    Completed,
    /// As the generator prefers, too: that leads to likelier rows and to more changes.
    Preferred,
    /// As `refine` walks, with a pass of the circuit around each row.
    Walked,
}

impl Attempt {
    const ALL: [Self; 3] = [Self::Completed, Self::Preferred, Self::Walked];
}

/// What a change costs beside its effort when a row is completed for little effort, in units of effort.
const CHANGE: f64 = 0.25;

impl Solver<'_> {
    /// The frontier of the proposals for the first aim that one of them solves. If there is none, that of completed
    /// rows, or of those that a walk comes to: within the budget, or beyond it if the request has none.
    ///
    /// # Paper
    /// The paper has one proposal, accepted or not, as does the conditioning `paper`. Departure: where no proposal can be
    /// offered, changes are made one by one until the classifier accepts, and where none of the rows that this leads to
    /// can be offered, most of them too unlikely, the first walk of the local search is made.
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
        let budgets = if most > budget { vec![budget, most] } else { vec![budget] };
        for aims in aims.chunk_by(|a, b| a.threshold == b.threshold) {
            let likeliest = person.problem(aims.last().expect("a chunk has an aim"), most, &[]);
            for attempt in Attempt::ALL {
                let rows = self.attempted(person, &likeliest, attempt);
                for (budget, aim) in
                    budgets.iter().flat_map(|&budget| aims.iter().map(move |aim| (budget, aim)))
                {
                    let search = self.offered(person, aim, budget, &rows);
                    if !search.frontier.solutions().is_empty() {
                        return (search, *aim);
                    }
                }
            }
        }
        (SearchResult::default(), last)
    }

    /// The person's row completed within a budget, by the first attempt that leads to an offer.
    pub(super) fn completed_within(&mut self, person: Person<'_>, aim: &Aim, budget: usize) -> Vec<Row> {
        let problem = person.problem(aim, budget, &[]);
        for attempt in [Attempt::Completed, Attempt::Preferred] {
            let rows = self.attempted(person, &problem, attempt);
            if !self.offered(person, aim, budget, &rows).frontier.solutions().is_empty() {
                return rows;
            }
        }
        Vec::new()
    }

    fn attempted(&mut self, person: Person<'_>, problem: &SearchProblem<'_>, attempt: Attempt) -> Vec<Row> {
        match attempt {
            Attempt::Completed => self.completed(problem, None),
            Attempt::Preferred => self.completed(problem, Some(&preferences(person.mask, person.logits))),
            Attempt::Walked => self.walked(problem),
        }
    }

    /// The frontier of those of some rows that may be offered, and are accepted as they are written.
    pub(super) fn offered(
        &mut self,
        person: Person<'_>,
        aim: &Aim,
        budget: usize,
        rows: &[Row],
    ) -> SearchResult {
        let problem = person.problem(aim, budget, &[]);
        let mut search = SearchResult::unproved(self.frontier_of(&problem, rows.iter().cloned()));
        self.verify(person, aim, &mut search);
        search
    }

    /// The person's row completed for little effort, and for a high likelihood.
    fn completed(&mut self, problem: &SearchProblem<'_>, preferences: Option<&[f64]>) -> Vec<Row> {
        let stop = self.stop;
        if self.is_stopped() {
            return Vec::new();
        }
        let easy = Guide { preferences, evaluator: None, price: CHANGE, effort: 1.0, stop };
        self.completer.start(problem);
        let easy = self.completer.complete(problem, easy);
        let likely = Guide {
            preferences,
            evaluator: Some(&mut self.evaluator),
            // Smaller changes, and more of them, lead to likelier rows.
            price: if preferences.is_some() { CHANGE } else { self.model.config().answers.price },
            effort: problem.objective.effort,
            stop,
        };
        let likely = self.completer.complete(problem, likely);
        easy.into_iter().chain(likely).collect()
    }

    /// What a walk comes to.
    fn walked(&mut self, problem: &SearchProblem<'_>) -> Vec<Row> {
        self.memory.most_passes = self.passes();
        let found = swap::reach(problem, &mut self.evaluator, &mut self.memory, self.stop);
        found.solutions().iter().map(|solution| solution.row.clone()).collect()
    }
}
