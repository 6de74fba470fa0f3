//! A ball of rows: those that differ from a centre in at most a given number of variables.

use crate::engine::{ByCount, COUNTS};
use crate::log_space::log_sum_exp;
use crate::{Allowed, Circuit, Code, Node, OPEN};

/// The rows within a number of changes of a centre. Each variable has its own list of codes that it may
/// change to.
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
    /// The ball of radius `changes` around `centre`. No variable may change until [`Ball::offer`] lists codes
    /// for it.
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

    /// Lets `variable` change to the given codes; its code at the centre is ignored.
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

    /// The centre.
    pub fn centre(&self) -> &[Code] {
        &self.centre
    }

    /// Sets one variable of the centre to `code`. The codes that it may change to stay.
    ///
    /// # Panics
    /// When it is not a code of the variable.
    pub fn move_to(&mut self, variable: usize, code: Code) {
        assert!(usize::from(code) < self.cardinalities[variable], "a code of variable {variable}");
        self.centre[variable] = code;
    }

    /// Whether `variable` may change to its alternatives, or stays at the centre.
    pub fn set_open(&mut self, variable: usize, open: bool) {
        self.open[variable] = open && !self.alternatives[variable].is_empty();
    }

    /// Whether a variable may change.
    pub fn is_open(&self, variable: usize) -> bool {
        self.open[variable]
    }

    /// The codes that a variable may change to; none while it is held.
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

    /// The smallest box around the ball: every variable may change at once.
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

/// For every number of changes, the largest sum of a value of `a` and one of `b` over all divisions of the
/// changes.
fn shared_out(a: &ByCount<f64>, b: &ByCount<f64>) -> ByCount<f64> {
    let any = a[COUNTS - 1] + b[COUNTS - 1];
    std::array::from_fn(|count| {
        let shares = (0..=count).map(|share| a[share] + b[count - share]);
        shares.fold(if count == COUNTS - 1 { any } else { f64::NEG_INFINITY }, f64::max)
    })
}
