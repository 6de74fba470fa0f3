//! A ball of rows: those that differ from a centre in at most a given number of variables.

use crate::{Allowed, Code, OPEN};

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
