//! The rows around a row: those that differ from it in a few variables.

use crate::engine::{ByCount, COUNTS};
use crate::log_space::log_sum_exp;
use crate::{Allowed, Circuit, Code, Node, OPEN};

/// The rows within a number of changes of a centre, where each variable that may change has its own
/// codes to change to.
///
/// ```
/// use par_circuit::Ball;
///
/// let mut ball = Ball::new(&[2, 3], vec![0, 1], 1);
/// ball.offer(1, &[0, 1, 2]);
/// assert_eq!(ball.alternatives(1), [0, 2]);
/// assert!(ball.contains(&[0, 2]) && !ball.contains(&[1, 1]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ball {
    cardinalities: Vec<usize>,
    centre: Vec<Code>,
    alternatives: Vec<Vec<Code>>,
    open: Vec<bool>,
    /// How many variables may differ from the centre.
    pub changes: usize,
}

impl Ball {
    /// The rows within `changes` changes of `centre`, none of whose variables may change as yet.
    ///
    /// # Panics
    /// When `centre` is not a row of these variables; [`OPEN`] is a code of every variable.
    pub fn new(cardinalities: &[usize], centre: Vec<Code>, changes: usize) -> Self {
        assert_eq!(centre.len(), cardinalities.len(), "one code a variable");
        let fits = |(&code, &cardinality): (&Code, &usize)| usize::from(code) < cardinality || code == OPEN;
        assert!(centre.iter().zip(cardinalities).all(fits), "every code is below its cardinality");
        let width = centre.len();
        Self {
            cardinalities: cardinalities.to_vec(),
            centre,
            alternatives: vec![Vec::new(); width],
            open: vec![false; width],
            changes,
        }
    }

    /// Lets `variable` change to the given codes; its own among them is passed over.
    ///
    /// # Panics
    /// When one is not a code of the variable.
    pub fn offer(&mut self, variable: usize, codes: &[Code]) {
        let cardinality = self.cardinalities[variable];
        let fit = codes.iter().all(|&code| usize::from(code) < cardinality);
        assert!(fit, "codes of variable {variable} are below {cardinality}");
        let own = self.centre[variable];
        let others = codes.iter().copied().filter(|&code| code != own);
        self.alternatives[variable] = others.collect();
        self.open[variable] = !self.alternatives[variable].is_empty();
    }

    /// The row that changes are counted from.
    pub fn centre(&self) -> &[Code] {
        &self.centre
    }

    /// Moves the centre to `code` in one variable. What it may change to stays.
    ///
    /// # Panics
    /// When it is not a code of the variable.
    pub fn move_to(&mut self, variable: usize, code: Code) {
        assert!(usize::from(code) < self.cardinalities[variable], "a code of variable {variable}");
        self.centre[variable] = code;
    }

    /// Lets a variable change to its alternatives, or holds it at the centre.
    pub fn set_open(&mut self, variable: usize, open: bool) {
        self.open[variable] = open && !self.alternatives[variable].is_empty();
    }

    /// Whether a variable may change.
    pub fn is_open(&self, variable: usize) -> bool {
        self.open[variable]
    }

    /// What a variable may change to; nothing while it is held.
    pub fn alternatives(&self, variable: usize) -> &[Code] {
        if self.open[variable] { &self.alternatives[variable] } else { &[] }
    }

    /// Number of categories of each variable.
    pub fn cardinalities(&self) -> &[usize] {
        &self.cardinalities
    }

    /// Whether the row is within the ball.
    pub fn contains(&self, row: &[Code]) -> bool {
        let changed = |&variable: &usize| row[variable] != self.centre[variable];
        row.len() == self.centre.len()
            && (0..row.len()).filter(changed).count() <= self.changes
            && (0..row.len())
                .filter(changed)
                .all(|variable| self.alternatives(variable).contains(&row[variable]))
    }

    /// The box that the ball fills when every variable may change at once.
    ///
    /// # Panics
    /// When a code of the centre is [`OPEN`].
    pub fn hull(&self) -> Allowed {
        let mut hull = Allowed::all(&self.cardinalities);
        for (variable, &own) in self.centre.iter().enumerate() {
            let mut codes = self.alternatives(variable).to_vec();
            codes.push(own);
            hull.restrict(variable, &codes);
        }
        hull
    }
}

impl Circuit {
    /// The bounds of [`Evaluator::ball_bounds`](crate::Evaluator::ball_bounds) in double precision and log space.
    pub(crate) fn log_ball_bounds(&self, ball: &Ball) -> ByCount<f64> {
        let mut value: Vec<ByCount<f64>> = Vec::with_capacity(self.nodes().len());
        for node in self.nodes() {
            value.push(match node {
                Node::Leaf { variable, probabilities } => {
                    let own = match ball.centre[*variable] {
                        OPEN => 1.0,
                        code => probabilities[usize::from(code)],
                    };
                    let others = ball.alternatives(*variable).iter();
                    let most = others.map(|&code| probabilities[usize::from(code)]).fold(own, f64::max);
                    std::array::from_fn(|count| if count == 0 { own.ln() } else { most.ln() })
                }
                Node::Product { children } => {
                    children.iter().fold([0.0; COUNTS], |sum, child| shared_out(&sum, &value[child.index()]))
                }
                Node::Sum { children, weights } => std::array::from_fn(|count| {
                    let terms = children.iter().zip(weights);
                    log_sum_exp(terms.map(|(child, weight)| weight.ln() + value[child.index()][count]))
                }),
            });
        }
        *value.last().expect("a circuit has a root")
    }
}

/// The largest sum when two parts share out the changes.
fn shared_out(a: &ByCount<f64>, b: &ByCount<f64>) -> ByCount<f64> {
    let any = a[COUNTS - 1] + b[COUNTS - 1];
    std::array::from_fn(|count| {
        let shares = (0..=count).map(|share| a[share] + b[count - share]);
        shares.fold(if count == COUNTS - 1 { any } else { f64::NEG_INFINITY }, f64::max)
    })
}
