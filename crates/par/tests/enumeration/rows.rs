//! Every row that a person could become, by listing all combinations of candidates.

use par_data::{Candidates, Code, OwnRow, Reach, UNKNOWN};

use crate::meaning::{Asking, Meaning};
use crate::model::Made;
use crate::world::{Change, Relation, Value, World};

/// The most combinations that are listed.
const MOST: usize = 20_000;

/// A person of a world, and what they ask for.
pub(crate) struct Case<'a> {
    pub(crate) meaning: &'a Meaning<'a>,
    pub(crate) made: &'a Made,
    pub(crate) own: Vec<Value>,
    pub(crate) cells: Vec<String>,
    pub(crate) codes: Vec<u16>,
}

/// A legal row that keeps all policies.
#[derive(Debug)]
pub(crate) struct Row {
    /// The features that the person acts on.
    pub(crate) changed: Vec<usize>,
    pub(crate) effort: f64,
    pub(crate) months: u32,
    /// log p⁺, given what the person cannot change.
    pub(crate) conditional: f64,
    /// How rare its values are within their codes.
    pub(crate) rarity: f64,
    /// The lowest score of all that the request asks it to withstand.
    pub(crate) score: f64,
}

impl Row {
    /// log p⁺ of its values, given what the person cannot change.
    pub(crate) fn likelihood(&self) -> f64 {
        self.conditional + self.rarity
    }
}

impl Case<'_> {
    pub(crate) fn written(&self, values: &[Value]) -> Vec<String> {
        let features = self.meaning.world.features.iter();
        let cells = features.zip(values.iter().zip(self.own.iter().zip(&self.cells)));
        cells
            .map(
                |(feature, (value, (own, cell)))| {
                    if value == own { cell.clone() } else { feature.text(value) }
                },
            )
            .collect()
    }

    /// The score of a row, in a unit in which more is surer.
    pub(crate) fn score(&self, values: &[Value]) -> Result<f64, String> {
        let cells = self.written(values);
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let score = self.made.model.score(&cells).map_err(|error| format!("{cells:?}: {error}"))?;
        Ok(self.sureness(score))
    }

    /// The lowest score of a row that comes of actions, and of all that the request asks it to withstand.
    pub(crate) fn withstood(
        &self,
        asking: &Asking,
        lists: &[Vec<Value>],
        actions: &[(usize, Value)],
        values: &[Value],
    ) -> Result<f64, String> {
        let mut lowest = self.agreed_score(asking, values)?;
        for (feature, to) in actions.iter().filter(|_| asking.request.slack) {
            let Some(short) = self.step_short(*feature, to, &lists[*feature]) else { continue };
            let mut missed = values.to_vec();
            missed[*feature] = short;
            for (position, described) in self.meaning.world.features.iter().enumerate() {
                if described.change == Change::Follows {
                    missed[position] = self.own[position].clone();
                }
            }
            if self.meaning.compute(&self.own, &mut missed).is_some() {
                let is_kept = self.meaning.keeps_policies(&missed, asking);
                let score = if is_kept { self.agreed_score(asking, &missed)? } else { f64::NEG_INFINITY };
                lowest = lowest.min(score);
            }
        }
        Ok(lowest)
    }

    /// The score of a row that the deployed classifier and as many versions as the request asks for agree on.
    fn agreed_score(&self, asking: &Asking, values: &[Value]) -> Result<f64, String> {
        let model = &self.made.model;
        let deployed = self.score(values)?;
        let Some(share) = asking.request.robust else { return Ok(deployed) };
        let cells = self.written(values);
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let codes = model.discretizer().encode_row(&cells).map_err(|error| error.to_string())?.into_codes();
        let mut beyond = Vec::new();
        for version in model.versions() {
            let log_odds = version.classifier.log_odds(&cells, &codes).map_err(|error| error.to_string())?;
            beyond.push(log_odds - version.scale.log_odds(version.threshold));
        }
        beyond.sort_by(|a, b| b.total_cmp(a));
        let agreeing = (share * beyond.len() as f64).ceil() as usize;
        let wanted = asking.request.threshold.unwrap_or(model.threshold());
        let needed = model.scale().log_odds(model.threshold()).min(model.scale().log_odds(wanted));
        Ok(deployed.min(self.sureness(model.scale().score(needed + beyond[agreeing - 1]))))
    }

    /// The next candidate toward the person's own value, or that value; `None` for a change without steps.
    fn step_short(&self, feature: usize, to: &Value, list: &[Value]) -> Option<Value> {
        let code = |value: &Value| self.meaning.ordinary_code(feature, value).map(|code| code as i64);
        let (own, to_code) = (code(&self.own[feature])?, code(to)?);
        if !self.meaning.world.features[feature].is_ordered() {
            return None;
        }
        let (low, high) = (own.min(to_code), own.max(to_code));
        let distance = |value: &Value| {
            let numbers = value.number().zip(to.number()).map_or(0.0, |(one, other)| (one - other).abs());
            ((code(value).unwrap_or(own) - to_code).abs(), numbers)
        };
        let between = list[1..].iter().filter(|value| code(value).is_some_and(|at| low < at && at < high));
        let nearest = between.min_by(|a, b| {
            let ((codes, numbers), (its_codes, its_numbers)) = (distance(a), distance(b));
            codes.cmp(&its_codes).then(numbers.total_cmp(&its_numbers))
        });
        Some(nearest.unwrap_or(&self.own[feature]).clone())
    }

    /// Whether the search for a request reads values.
    pub(crate) fn reads_values(&self, asking: &Asking) -> bool {
        let model = &self.made.model;
        let asks = asking.request.robust.is_some();
        let mut versions = model.versions().iter().filter(|_| asks);
        model.classifier().reads_values() || versions.any(|version| version.classifier.reads_values())
    }

    /// A score of the model, in a unit in which more is surer.
    pub(crate) fn sureness(&self, score: f64) -> f64 {
        self.made.model.scale().sureness(score)
    }

    pub(crate) fn log_prob(&self, values: &[Value]) -> Result<f64, String> {
        let cells = self.written(values);
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let codes = self
            .made
            .model
            .discretizer()
            .encode_row(&cells)
            .map_err(|error| format!("{cells:?}: {error}"))?;
        Ok(self.made.accepted.log_prob(codes.codes()))
    }

    /// For each feature, whether the person cannot change it.
    fn given(&self, asking: &Asking) -> Vec<bool> {
        let World { features, relations, .. } = self.meaning.world;
        let fixed =
            |change: &Change| matches!(change, Change::Never | Change::Undecided | Change::WithTime(..));
        let mut given: Vec<bool> = (features.iter().enumerate())
            .map(|(feature, described)| {
                let is_locked = asking.request.locks.contains(&feature);
                fixed(&described.change) || is_locked && !matches!(described.change, Change::Follows)
            })
            .collect();
        // Chains of consequences are at most as long as there are features.
        for _ in 0..features.len() {
            for relation in relations {
                if let Relation::Follows { feature, sources, .. } = relation {
                    given[*feature] |= sources.iter().all(|source| given[*source]);
                }
            }
        }
        given
    }

    /// log p⁺ of codes, given those that the person cannot change.
    fn conditional_of(&self, codes: &[Code], asking: &Asking) -> f64 {
        let fixed: Vec<Code> = (codes.iter().zip(self.given(asking)))
            .map(|(code, given)| if given { *code } else { UNKNOWN })
            .collect();
        self.made.accepted.log_prob(codes) - self.made.accepted.log_prob(&fixed)
    }

    /// log p⁺ of values, given those that the person cannot change.
    pub(crate) fn conditional(&self, values: &[Value], asking: &Asking) -> Result<f64, String> {
        let cells = self.written(values);
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let encoded = self.made.model.discretizer().encode_row(&cells);
        Ok(self.conditional_of(encoded.map_err(|error| format!("{cells:?}: {error}"))?.codes(), asking))
    }

    /// The same of all rows of the pool, ascending.
    pub(crate) fn pool(&self, asking: &Asking) -> Vec<f64> {
        let rows = self.made.model.pool().rows().rows();
        let mut pool: Vec<f64> = rows.map(|codes| self.conditional_of(codes, asking)).collect();
        pool.sort_by(f64::total_cmp);
        pool
    }

    /// The values of each feature's candidates, the person's own first.
    pub(crate) fn lists(&self, asking: &Asking, reach: Reach) -> Vec<Vec<Value>> {
        let values = |list: Vec<(Value, f64)>| list.into_iter().map(|(value, _)| value).collect();
        self.candidates(asking, reach).into_iter().map(values).collect()
    }

    /// How rare the values of changes are within their codes; `None` if one is no candidate.
    pub(crate) fn rarity(&self, asking: &Asking, reach: Reach, changes: &[(usize, Value)]) -> Option<f64> {
        let lists = self.candidates(asking, reach);
        let rarity = |(feature, to): &(usize, Value)| {
            let found = lists[*feature][1..].iter().find(|(value, _)| value == to);
            found.map(|(_, rarity)| *rarity)
        };
        changes.iter().map(rarity).sum()
    }

    /// The values of each feature's candidates and how rare they are, the person's own first.
    fn candidates(&self, asking: &Asking, reach: Reach) -> Vec<Vec<(Value, f64)>> {
        let model = &self.made.model;
        let constraints = model.constraints().without(&asking.lifted);
        let cells: Vec<&str> = self.cells.iter().map(String::as_str).collect();
        let own = OwnRow::new(model.discretizer(), &cells, self.codes.clone());
        let candidates = constraints.candidates(&own, &asking.request.wishes_for(model), reach);
        (0..self.own.len()).map(|feature| self.list(&candidates, feature)).collect()
    }

    fn list(&self, candidates: &Candidates<'_>, feature: usize) -> Vec<(Value, f64)> {
        let mut values = vec![(self.own[feature].clone(), 0.0)];
        if candidates.is_free(feature) {
            values.extend(candidates.of(feature)[1..].iter().map(|candidate| {
                let value = match candidate.number.is_nan() {
                    true => Value::Category(usize::from(candidate.code)),
                    false => Value::Number(candidate.number),
                };
                (value, candidate.rarity)
            }));
        }
        values
    }

    /// What months are rounded up to: with clocks, at most twelve durations are told apart.
    pub(crate) fn round(&self, lists: &[Vec<Value>]) -> u32 {
        let is_clock = |feature: &usize| {
            let described = &self.meaning.world.features[*feature];
            let own = &self.own[*feature];
            matches!(described.change, Change::WithTime(..))
                && own.number().is_some()
                && !described.is_special(own)
        };
        let mut months = vec![0];
        for (feature, list) in lists.iter().enumerate() {
            months.extend(list[1..].iter().map(|to| self.meaning.months(feature, &list[0], to)));
        }
        let mut round = 1;
        while (0..lists.len()).any(|feature| is_clock(&feature)) {
            months.iter_mut().for_each(|months| *months = months.div_ceil(round) * round);
            months.sort_unstable();
            months.dedup();
            if months.len() <= 12 {
                break;
            }
            round = if round == 1 { 3 } else { 2 * round };
        }
        round
    }

    /// All legal rows that keep all policies; `None` if there are too many combinations.
    pub(crate) fn rows(&self, asking: &Asking, reach: Reach) -> Option<Result<Vec<Row>, String>> {
        let lists = self.candidates(asking, reach);
        let combinations = lists.iter().try_fold(1_usize, |all, list| all.checked_mul(list.len()));
        combinations.filter(|count| *count <= MOST)?;
        Some(self.combined(&lists, asking))
    }

    fn combined(&self, lists: &[Vec<(Value, f64)>], asking: &Asking) -> Result<Vec<Row>, String> {
        let values = |list: &Vec<(Value, f64)>| list.iter().map(|(value, _)| value.clone()).collect();
        let values: Vec<Vec<Value>> = lists.iter().map(values).collect();
        let round = self.round(&values);
        let mut places = vec![0; lists.len()];
        let mut rows = Vec::new();
        while let Some(next) = (0..lists.len()).find(|&at| places[at] + 1 < lists[at].len()) {
            places[next] += 1;
            places[..next].fill(0);
            let changed: Vec<usize> = (0..lists.len()).filter(|&feature| places[feature] > 0).collect();
            let actions: Vec<(usize, Value)> =
                changed.iter().map(|&feature| (feature, lists[feature][places[feature]].0.clone())).collect();
            let Some(outcome) = self.meaning.outcome(&self.own, &actions, asking, round) else { continue };
            if !self.meaning.keeps_policies(&outcome.values, asking) {
                continue;
            }
            rows.push(Row {
                score: self.withstood(asking, &values, &actions, &outcome.values)?,
                conditional: self.conditional(&outcome.values, asking)?,
                rarity: changed.iter().map(|&feature| lists[feature][places[feature]].1).sum(),
                changed,
                effort: outcome.effort,
                months: outcome.months,
            });
        }
        Ok(rows)
    }
}
