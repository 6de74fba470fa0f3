//! Work over many items: on all threads of the current pool with the feature `rayon`, on one thread without
//! it.
//!
//! Both return the same results, bit for bit: one for each item, in the order of the items, computed from
//! that item alone. Callers add results up in that order.

#[cfg(feature = "rayon")]
use rayon::prelude::*;

/// The result of `work` for every item, in the order of the items.
///
/// To stop at an error, let `work` return a `Result` and collect the results: that gives the first error in
/// order, on any number of threads.
///
/// ```
/// let halves = par_circuit::threads::map([4, 6, 7, 9], |number| match number % 2 {
///     0 => Ok(number / 2),
///     _ => Err(number),
/// });
/// assert_eq!(halves.into_iter().collect::<Result<Vec<i32>, i32>>(), Err(7));
/// ```
pub fn map<Items, Output>(items: Items, work: impl Fn(Items::Item) -> Output + Send + Sync) -> Vec<Output>
where
    Items: IntoIterator<Item: Send>,
    Output: Send,
{
    map_with(items, || (), |(), item| work(item))
}

/// As [`map`], with scratch memory: `scratch` is called at least once a thread, and `work` gets it for item
/// after item.
///
/// Which items share scratch memory depends on the threads, so a result must not depend on its contents.
pub fn map_with<Items, Scratch, Output>(
    items: Items,
    scratch: impl Fn() -> Scratch + Send + Sync,
    work: impl Fn(&mut Scratch, Items::Item) -> Output + Send + Sync,
) -> Vec<Output>
where
    Items: IntoIterator<Item: Send>,
    Output: Send,
{
    #[cfg(feature = "rayon")]
    {
        let items: Vec<Items::Item> = items.into_iter().collect();
        items.into_par_iter().map_init(scratch, work).collect()
    }
    #[cfg(not(feature = "rayon"))]
    {
        let mut scratch = scratch();
        items.into_iter().map(|item| work(&mut scratch, item)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_those_of_a_plain_loop_in_its_order() {
        let numbers: Vec<f64> = (0..10_000).map(|number| f64::from(number) / 7.0).collect();
        let root = |number: &f64| number.sqrt().sin();
        let expected: Vec<f64> = numbers.iter().map(root).collect();
        assert_eq!(map(&numbers, root), expected);
        let through_scratch = map_with(&numbers, Vec::new, |scratch: &mut Vec<f64>, number| {
            scratch.clear();
            scratch.push(root(number));
            scratch[0]
        });
        assert_eq!(through_scratch, expected);
    }

    #[test]
    fn every_item_may_be_written_to() {
        let mut numbers: Vec<usize> = (0..1000).collect();
        let lengths = map(numbers.chunks_mut(7).enumerate(), |(position, chunk)| {
            chunk.fill(position);
            chunk.len()
        });
        assert_eq!(lengths.iter().sum::<usize>(), 1000);
        assert!((0..1000).all(|number| numbers[number] == number / 7));
    }

    #[test]
    fn no_items_give_no_results() {
        assert_eq!(map([], |item: u8| item), [0; 0]);
    }
}
