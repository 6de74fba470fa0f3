//! The spanning tree of variables with the largest mutual information (Chow and Liu, 1968).

use super::columns::ColumnMajor;
use crate::{Stop, Stopped, threads};

/// A rooted tree over all variables.
pub(crate) struct ChowLiuTree {
    /// Parents before children.
    order: Vec<usize>,
    children: Vec<Vec<usize>>,
}

impl ChowLiuTree {
    /// The spanning tree with the largest sum of mutual information among the rows, rooted where its depth is
    /// least.
    pub(crate) fn learn(columns: &ColumnMajor, rows: &[u32], stop: Stop<'_>) -> Result<Self, Stopped> {
        let width = columns.width();
        let information = threads::map(0..width, |first| {
            let information = |second: usize| {
                stop.check()?;
                Ok(columns.joint_counts(first, second, rows).mutual_information())
            };
            (0..first).map(information).collect()
        });
        let information: Vec<Vec<f64>> = information.into_iter().collect::<Result<_, Stopped>>()?;
        let neighbours = spanning_tree(&information);
        let rooted = (0..width).map(|root| Self::rooted(&neighbours, root));
        Ok(rooted.min_by_key(|(_, depth)| *depth).expect("at least one variable").0)
    }

    /// The tree with the given root, and its depth.
    fn rooted(neighbours: &[Vec<usize>], root: usize) -> (Self, usize) {
        let mut children = neighbours.to_vec();
        let mut depths = vec![0; neighbours.len()];
        let mut order = vec![root];
        let mut next = 0;
        while let Some(&variable) = order.get(next) {
            next += 1;
            for &child in &children[variable].clone() {
                children[child].retain(|&other| other != variable);
                depths[child] = depths[variable] + 1;
                order.push(child);
            }
        }
        let depth = depths.into_iter().max().unwrap_or(0);
        (Self { order, children }, depth)
    }

    /// All variables, children before parents.
    pub(crate) fn bottom_up(&self) -> impl Iterator<Item = usize> {
        self.order.iter().rev().copied()
    }

    pub(crate) fn children(&self, variable: usize) -> &[usize] {
        &self.children[variable]
    }

    pub(crate) fn is_root(&self, variable: usize) -> bool {
        self.order[0] == variable
    }
}

/// The neighbours of each variable in the spanning tree with the largest sum, by Prim's algorithm;
/// `weights[a][b]` is given for `b < a`.
fn spanning_tree(weights: &[Vec<f64>]) -> Vec<Vec<usize>> {
    let weight = |a: usize, b: usize| if b < a { weights[a][b] } else { weights[b][a] };
    let mut neighbours = vec![Vec::new(); weights.len()];
    // Every variable outside the tree, with its strongest neighbour inside.
    let mut outside: Vec<(usize, usize)> = (1..weights.len()).map(|variable| (variable, 0)).collect();
    let strongest = |outside: &[(usize, usize)]| {
        let weight = |position: usize| weight(outside[position].0, outside[position].1);
        (0..outside.len()).max_by(|&a, &b| weight(a).total_cmp(&weight(b)).then(b.cmp(&a)))
    };
    while let Some(position) = strongest(&outside) {
        let (variable, inside) = outside.remove(position);
        neighbours[variable].push(inside);
        neighbours[inside].push(variable);
        for (other, nearest) in &mut outside {
            if weight(*other, variable) > weight(*other, *nearest) {
                *nearest = variable;
            }
        }
    }
    neighbours
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dataset;

    #[test]
    fn a_chain_of_copies_is_found_and_rooted_in_its_middle() {
        // Bits b0 b1 b2 where b1 differs from b0 in one row of eight, and b2 from b1 in another.
        let rows = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 0]];
        let rows = Dataset::new(vec![2; 3], rows.concat()).expect("rows");
        let tree = ChowLiuTree::learn(&ColumnMajor::new(&rows), &[0, 1, 2, 3, 4, 5, 6, 7], Stop::never());
        let tree = tree.expect("never stopped");
        assert!(tree.is_root(1));
        assert_eq!(tree.children(1).len(), 2);
        assert_eq!(tree.bottom_up().last(), Some(1));
    }
}
