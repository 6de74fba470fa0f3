//! The sums of leaves of all rows with one or two changes.
//!
//! A leaf that needs one change adds its gain to that change, and takes it back for pairs whose second change leaves the
//! leaf. A leaf that needs two changes adds its gain to the pair.

use par_circuit::Ball;

use super::pruned::{BallCodes, Node, Pruned};

impl Pruned {
    /// The lowest and the highest sum of leaves of the rows with at most `changes` changes, one or two.
    pub(super) fn exact_extremes(&self, ball: &Ball, changes: usize) -> [f64; 2] {
        let mut gains = Gains::new(self, ball, changes);
        let mut centre = 0.0;
        for root in self.roots() {
            gains.centre = gains.centre_leaf(root);
            centre += gains.centre;
            gains.visit(root, changes);
        }
        self.widened(gains.extremes().map(|gain| centre + gain))
    }
}

/// The gains of changes: what they add to the sum of leaves.
struct Gains<'a> {
    nodes: &'a [Node],
    ball: BallCodes,
    changes: usize,
    /// Where the codes of each feature start; closed features have none.
    offsets: Vec<usize>,
    /// The gain of every code.
    single: Vec<f64>,
    /// The gain of every pair of codes beyond their single gains, `[code][code]`, the lower feature first.
    both: Vec<f64>,
    /// The centre's leaf in the current tree.
    centre: f64,
    /// For every feature, the codes that lead to the current node.
    alive: Vec<u64>,
    /// The features of which some codes do not lead there.
    cut: Vec<usize>,
    /// The features that have to change to get there.
    changed: Vec<usize>,
}

impl<'a> Gains<'a> {
    fn new(pruned: &'a Pruned, ball: &Ball, changes: usize) -> Self {
        let ball = pruned.codes_of(ball);
        let mut end = 0;
        let mut offset = |(&count, &others): (&usize, &u64)| {
            let offset = end;
            end += if others == 0 { 0 } else { count };
            offset
        };
        let offsets = pruned.counts().iter().zip(&ball.others).map(&mut offset).collect();
        let alive = ball.own.iter().zip(&ball.others).map(|(own, others)| own | others).collect();
        Self {
            nodes: pruned.nodes(),
            ball,
            changes,
            offsets,
            single: vec![0.0; end],
            both: vec![0.0; if changes == 2 { end * end } else { 0 }],
            centre: 0.0,
            alive,
            cut: Vec::new(),
            changed: Vec::new(),
        }
    }

    fn centre_leaf(&self, root: usize) -> f64 {
        let mut node = root;
        loop {
            match self.nodes[node] {
                Node::Leaf(value) => return value,
                Node::Branch { feature, no, yes } => {
                    node = if self.ball.own[feature as usize] & yes != 0 { node + 1 } else { no as usize };
                }
                Node::Either { .. } => unreachable!("exact extremes are only taken without `Either` nodes"),
            }
        }
    }

    /// Adds the gains of all leaves below a node that at most `changes` further changes reach.
    fn visit(&mut self, node: usize, changes: usize) {
        let (feature, no, yes) = match self.nodes[node] {
            Node::Leaf(value) => return self.add_leaf(value - self.centre),
            Node::Branch { feature, no, yes } => (feature as usize, no as usize, yes),
            Node::Either { .. } => unreachable!("exact extremes are only taken without `Either` nodes"),
        };
        let (own, before) = (self.ball.own[feature], self.alive[feature]);
        for (alive, child) in [(before & yes, node + 1), (before & !yes, no)] {
            if alive == before {
                self.visit(child, changes);
                return;
            }
            let change = usize::from(before & own != 0 && alive & own == 0);
            if alive == 0 || change > changes {
                continue;
            }
            let is_first_cut = before == own | self.ball.others[feature];
            if is_first_cut {
                self.cut.push(feature);
            }
            if change == 1 {
                self.changed.push(feature);
            }
            self.alive[feature] = alive;
            self.visit(child, changes - change);
            if change == 1 {
                self.changed.pop();
            }
            if is_first_cut {
                self.cut.pop();
            }
        }
        self.alive[feature] = before;
    }

    /// Adds the gain of the current leaf to the changes that lead to it.
    fn add_leaf(&mut self, gain: f64) {
        match self.changed[..] {
            [feature] => {
                let codes = self.alive[feature];
                bits(codes).for_each(|code| self.single[self.offsets[feature] + code] += gain);
                if self.changes == 2 {
                    for place in 0..self.cut.len() {
                        let other = self.cut[place];
                        if other != feature {
                            let away = self.ball.others[other] & !self.alive[other];
                            self.add_pairs([(feature, codes), (other, away)], -gain);
                        }
                    }
                }
            }
            [a, b] => self.add_pairs([(a, self.alive[a]), (b, self.alive[b])], gain),
            _ => {}
        }
    }

    #[inline]
    fn add_pairs(&mut self, mut pair: [(usize, u64); 2], gain: f64) {
        pair.sort_unstable();
        let [(a, of_a), (b, of_b)] = pair;
        for code in bits(of_a) {
            let line = (self.offsets[a] + code) * self.single.len();
            let line = &mut self.both[line + self.offsets[b]..];
            bits(of_b).for_each(|other| line[other] += gain);
        }
    }

    /// The lowest and the highest gain of any permitted changes, or of none.
    fn extremes(&self) -> [f64; 2] {
        // Codes that are no change get ±∞, so that they are never the extreme.
        let mut never = [vec![f64::INFINITY; self.single.len()], vec![f64::NEG_INFINITY; self.single.len()]];
        let open = (0..self.offsets.len()).filter(|&feature| self.ball.others[feature] != 0);
        let changes =
            open.flat_map(|feature| bits(self.ball.others[feature]).map(move |code| (feature, code)));
        for (feature, code) in changes.clone() {
            let place = self.offsets[feature] + code;
            never.iter_mut().for_each(|gains| gains[place] = self.single[place]);
        }
        let [low, high] = never;
        let mut extremes = [0.0_f64; 2];
        let width = self.single.len();
        for (feature, code) in changes {
            let place = self.offsets[feature] + code;
            let own = self.single[place];
            extremes = [extremes[0].min(own), extremes[1].max(own)];
            if self.changes == 2 {
                let next = self.offsets.get(feature + 1).copied().unwrap_or(width);
                let both = &self.both[place * width..][..width];
                for other in next..width {
                    let gain = own + both[other];
                    extremes[0] = extremes[0].min(low[other] + gain);
                    extremes[1] = extremes[1].max(high[other] + gain);
                }
            }
        }
        extremes
    }
}

/// The positions of the set bits.
#[inline]
fn bits(mut word: u64) -> impl Iterator<Item = usize> + Clone {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        bit
    })
}
