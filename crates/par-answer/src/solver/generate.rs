//! The answer of `generate`: the generator's proposals, or if none can be offered, the person's row completed.

use par_model::generator::Conditioning;

use super::{Aim, Person, SearchResult, Solver};
use crate::complete::{Guide, preferences};
use crate::problem::{Row, SearchProblem};
use crate::request::{Method, Request};

/// What a change costs beside its effort when a row is completed for little effort, in units of effort.
const CHANGE: f64 = 0.25;

impl Solver<'_> {
    /// The frontier of the proposals for the first aim that one of them solves. If there is none, that of completed
    /// rows: within the budget, or beyond it if the request has none.
    ///
    /// # Paper
    /// The paper has one proposal, accepted or not, as does the conditioning `paper`. Departure: where no proposal can be
    /// offered, changes are made one by one until the classifier accepts.
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
            // The generator's preferences lead to likelier rows and to more changes, so that they come second.
            for is_guided in [false, true] {
                let preferences = is_guided.then(|| preferences(person.mask, person.logits));
                let likeliest = aims.last().expect("a chunk has an aim");
                let completed = self.completed(&person.problem(likeliest, most, &[]), preferences.as_deref());
                for (budget, aim) in
                    [budget, most].into_iter().flat_map(|budget| aims.iter().map(move |aim| (budget, aim)))
                {
                    let problem = person.problem(aim, budget, &[]);
                    let frontier = self.frontier_of(&problem, completed.iter().cloned());
                    let mut search = SearchResult::unproved(frontier);
                    self.verify(person, aim, &mut search);
                    if !search.frontier.solutions().is_empty() {
                        return (search, *aim);
                    }
                }
            }
        }
        (SearchResult::default(), last)
    }

    /// The person's row completed for little effort, and for a high likelihood.
    pub(super) fn completed(&mut self, problem: &SearchProblem<'_>, preferences: Option<&[f64]>) -> Vec<Row> {
        let easy = Guide { preferences, evaluator: None, price: CHANGE, effort: 1.0 };
        self.completer.start(problem);
        let easy = self.completer.complete(problem, easy);
        let likely = Guide {
            preferences,
            evaluator: Some(&mut self.evaluator),
            // Smaller changes, and more of them, lead to likelier rows.
            price: if preferences.is_some() { CHANGE } else { self.model.config().answers.price },
            effort: problem.objective.effort,
        };
        let likely = self.completer.complete(problem, likely);
        easy.into_iter().chain(likely).collect()
    }
}
