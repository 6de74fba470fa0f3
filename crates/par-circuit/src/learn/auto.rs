//! Trains several circuits, scores them on held-out rows, and mixes those that together score best.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::base_rates::BaseRates;
use super::columns::ColumnMajor;
use super::em::{self, EmConfig, Fitted};
use super::{HcltConfig, LearnConfig, LearnSpnConfig, Learned, Learner, hclt, learn_spn};
use crate::log_space::log_sum_exp;
use crate::{Circuit, Dataset, Stop, Stopped, threads};

/// One circuit that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its settings, in words.
    pub name: String,
    /// Edges of the circuit; of the largest where each fold has its own.
    pub edges: usize,
    /// Mean log-probability of the held-out rows.
    pub held_out: f64,
    /// Its weight in the chosen mixture; 0 when it is not a member.
    pub weight: f64,
}

/// All settings of one trial.
#[derive(Clone, Debug, PartialEq)]
struct TrialConfig {
    structure: StructureConfig,
    em: EmConfig,
    seed: u64,
}

#[derive(Clone, Debug, PartialEq)]
enum StructureConfig {
    LearnSpn(LearnSpnConfig),
    Hclt(HcltConfig),
}

/// A structure, before its parameters are fitted.
enum Structure {
    LearnSpn(learn_spn::CountTree),
    Hclt(hclt::GroupTrees),
}

/// TrainingRows rows, in the forms that learners need.
struct TrainingRows {
    rows: Dataset,
    columns: ColumnMajor,
    rates: BaseRates,
}

impl TrainingRows {
    fn new(rows: Dataset, stop: Stop<'_>) -> Result<Self, Stopped> {
        stop.check()?;
        let columns = ColumnMajor::new(&rows);
        stop.check()?;
        Ok(Self { columns, rates: BaseRates::new(&rows), rows })
    }

    fn structure(
        &self,
        structure: &StructureConfig,
        seed: u64,
        stop: Stop<'_>,
    ) -> Result<Structure, Stopped> {
        let Self { rows, columns, rates } = self;
        Ok(match structure {
            StructureConfig::LearnSpn(config) => {
                let learned = learn_spn::CountTree::learn(columns, rows.len(), rates, config, seed, stop)?;
                Structure::LearnSpn(learned)
            }
            StructureConfig::Hclt(config) => {
                Structure::Hclt(hclt::GroupTrees::learn(columns, rows.len(), rates, config, seed, stop)?)
            }
        })
    }

    fn fit(
        &self,
        structure: &Structure,
        valid: Option<&Dataset>,
        em: &EmConfig,
        seed: u64,
        stop: Stop<'_>,
    ) -> Result<Fitted, Stopped> {
        let Self { rows, columns, rates } = self;
        let start = match structure {
            Structure::LearnSpn(structure) => structure.circuit(columns, rates, em.leaf_prior),
            Structure::Hclt(forest) => forest.circuit(rows, columns, rates, em, seed, stop)?,
        };
        em::fit(start, rows, valid, rates, em, stop)
    }
}

impl TrialConfig {
    fn name(&self) -> String {
        let structure = match &self.structure {
            StructureConfig::LearnSpn(config) => {
                format!("learnspn, {} rows, {} columns", config.min_rows, config.min_columns)
            }
            StructureConfig::Hclt(HcltConfig { states, groups: 1 }) => {
                format!("hclt, {}", counted(*states, "state"))
            }
            StructureConfig::Hclt(HcltConfig { states, groups }) => {
                format!("hclt, {}, {}", counted(*groups, "group"), counted(*states, "state"))
            }
        };
        format!("{structure}, leaf prior {}, seed {}", self.em.leaf_prior, self.seed)
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A circuit trained on every fold.
struct Trained {
    config: TrialConfig,
    folds: Vec<Fitted>,
    /// Log-probability of every held-out row, under the circuit of the fold that holds it out.
    held_out: Vec<f64>,
}

impl Trained {
    fn score(&self) -> f64 {
        mean(&self.held_out)
    }

    fn edges(&self) -> usize {
        self.folds.iter().map(|fitted| fitted.circuit.edges()).sum()
    }
}

/// Below this many rows, [`FOLDS`] parts are held out in turn; from it on, one part is.
const FEW_ROWS: usize = 2000;

/// Parts of few rows; each is held out once.
const FOLDS: usize = 5;

/// The share of many rows that is held out.
const HELD_OUT_SHARE: f64 = 0.1;

/// Rows to train on, and held-out rows.
struct Fold {
    training: TrainingRows,
    valid: Dataset,
}

impl Fold {
    fn new(rows: Dataset, valid: Dataset, stop: Stop<'_>) -> Result<Self, Stopped> {
        Ok(Self { training: TrainingRows::new(rows, stop)?, valid })
    }
}

struct Folds {
    folds: Vec<Fold>,
    /// Whether the held-out rows were taken from the training rows.
    internal: bool,
}

impl Folds {
    fn new(rows: &Dataset, valid: Option<&Dataset>, seed: u64, stop: Stop<'_>) -> Result<Self, Stopped> {
        // With fewer rows than folds, the training rows are also the held-out rows.
        let all = (rows.len() < FOLDS).then_some(rows);
        if let Some(valid) = valid.or(all) {
            let fold = Fold::new(rows.clone(), valid.clone(), stop)?;
            return Ok(Self { folds: vec![fold], internal: false });
        }
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let (folds, part) = if rows.len() < FEW_ROWS {
            (FOLDS, rows.len().div_ceil(FOLDS))
        } else {
            (1, (rows.len() as f64 * HELD_OUT_SHARE) as usize)
        };
        let fold = |fold: usize| {
            let (start, end) = (fold * part, ((fold + 1) * part).min(rows.len()));
            let kept = [&order[..start], &order[end..]].concat();
            Fold::new(rows.select(&kept), rows.select(&order[start..end]), stop)
        };
        let held_out = (0..folds).filter(|fold| fold * part < rows.len());
        Ok(Self { folds: held_out.map(fold).collect::<Result<_, Stopped>>()?, internal: true })
    }

    fn structures(
        &self,
        structure: &StructureConfig,
        seed: u64,
        stop: Stop<'_>,
    ) -> Result<Vec<Structure>, Stopped> {
        let structures = threads::map(&self.folds, |fold| fold.training.structure(structure, seed, stop));
        structures.into_iter().collect()
    }

    fn train(
        &self,
        config: TrialConfig,
        structures: &[Structure],
        stop: Stop<'_>,
    ) -> Result<Trained, Stopped> {
        let TrialConfig { em, seed, .. } = &config;
        let pairs = self.folds.iter().zip(structures);
        let fit =
            |(fold, structure): (&Fold, _)| fold.training.fit(structure, Some(&fold.valid), em, *seed, stop);
        let folds: Vec<Fitted> = threads::map(pairs, fit).into_iter().collect::<Result<_, Stopped>>()?;
        let mut held_out = Vec::new();
        for (fitted, fold) in folds.iter().zip(&self.folds) {
            held_out.extend(fitted.circuit.log_probs_until(&fold.valid, stop)?);
        }
        Ok(Trained { config, folds, held_out })
    }
}

pub(super) fn learn(
    rows: &Dataset,
    valid: Option<&Dataset>,
    config: &LearnConfig,
    progress: &mut dyn FnMut(&Trial),
    stop: Stop<'_>,
) -> Result<Learned, Stopped> {
    let folds = Folds::new(rows, valid, config.seed, stop)?;
    let mut search = TrialSearch { folds: &folds, config, progress, stop, trained: Vec::new() };
    match config.learner {
        Learner::LearnSpn => {
            search.choose_prior(&StructureConfig::LearnSpn(config.learn_spn.clone()))?;
        }
        Learner::Hclt => {
            search.choose_prior(&StructureConfig::Hclt(config.hclt.clone()))?;
        }
        Learner::Auto => search.try_all(rows)?,
    }
    let (members, held_out) = search.choose()?;
    let mut trials: Vec<Trial> = search.trained.iter().map(trial).collect();
    for &(member, weight) in &members {
        trials[member].weight = weight;
    }
    let circuits = |&(member, weight): &(usize, f64)| {
        Ok((weight, final_circuits(&search.trained[member], rows, &folds, stop)?))
    };
    let parts: Vec<(f64, Vec<Circuit>)> = members.iter().map(circuits).collect::<Result<_, Stopped>>()?;
    let parts: Vec<(f64, &Circuit)> = parts
        .iter()
        .flat_map(|(weight, circuits)| {
            let share = weight / circuits.len() as f64;
            circuits.iter().map(move |circuit| (share, circuit))
        })
        .collect();
    let circuit = Circuit::mixture(&parts).expect("the weights of a mixture sum to one");
    Ok(Learned { circuit, held_out, trials })
}

fn trial(trained: &Trained) -> Trial {
    let edges = trained.folds.iter().map(|fitted| fitted.circuit.edges()).max().unwrap_or(0);
    Trial { name: trained.config.name(), edges, held_out: trained.score(), weight: 0.0 }
}

/// The circuits of a member: those of all folds, which together have seen every row; or, where one part was
/// held out, one trained again on all rows for as many passes as scored best.
fn final_circuits(
    trained: &Trained,
    rows: &Dataset,
    folds: &Folds,
    stop: Stop<'_>,
) -> Result<Vec<Circuit>, Stopped> {
    Ok(match trained.folds.as_slice() {
        [fitted] if folds.internal => {
            let TrialConfig { structure, em, seed } = &trained.config;
            let em = EmConfig { max_passes: fitted.passes, ..em.clone() };
            let training = TrainingRows::new(rows.clone(), stop)?;
            let structure = training.structure(structure, *seed, stop)?;
            vec![training.fit(&structure, None, &em, *seed, stop)?.circuit]
        }
        fitted => fitted.iter().map(|fitted| fitted.circuit.clone()).collect(),
    })
}

/// Leaf priors are tried in steps of this factor.
const PRIOR_STEP: f64 = 5.0;

/// Steps up or down from the configured leaf prior, at most.
const PRIOR_STEPS: usize = 3;

/// A mixture or a larger circuit must gain at least this share of the held-out log-likelihood.
const WORTHWHILE: f64 = 0.001;

struct TrialSearch<'a> {
    folds: &'a Folds,
    config: &'a LearnConfig,
    progress: &'a mut dyn FnMut(&Trial),
    stop: Stop<'a>,
    trained: Vec<Trained>,
}

impl TrialSearch<'_> {
    /// Trains one trial; returns its score.
    fn try_one(&mut self, structure: StructureConfig, em: &EmConfig, seed: u64) -> Result<f64, Stopped> {
        let structures = self.folds.structures(&structure, seed, self.stop)?;
        self.try_structures(TrialConfig { structure, em: em.clone(), seed }, &structures)
    }

    fn try_structures(&mut self, config: TrialConfig, structures: &[Structure]) -> Result<f64, Stopped> {
        let trained = self.folds.train(config, structures, self.stop)?;
        (self.progress)(&trial(&trained));
        let score = trained.score();
        self.trained.push(trained);
        Ok(score)
    }

    /// Tries a structure with the configured leaf prior, then with smaller ones while they score better, and
    /// if none does, with larger ones; returns the best settings and their score.
    fn choose_prior(&mut self, structure: &StructureConfig) -> Result<(EmConfig, f64), Stopped> {
        let config = self.config;
        let seed = config.seed;
        let structures = self.folds.structures(structure, seed, self.stop)?;
        let mut try_prior = |leaf_prior: f64| {
            let em = EmConfig { leaf_prior, ..config.em.clone() };
            self.try_structures(TrialConfig { structure: structure.clone(), em, seed }, &structures)
        };
        let configured = config.em.leaf_prior;
        let mut best = (configured, try_prior(configured)?);
        let smaller = |prior: f64| prior / PRIOR_STEP;
        let larger = |prior: f64| prior * PRIOR_STEP;
        for next in [&smaller as &dyn Fn(f64) -> f64, &larger] {
            for _ in 0..PRIOR_STEPS {
                let prior = next(best.0);
                let score = try_prior(prior)?;
                if score <= best.1 {
                    break;
                }
                best = (prior, score);
            }
            if best.0 != configured {
                break;
            }
        }
        Ok((EmConfig { leaf_prior: best.0, ..config.em.clone() }, best.1))
    }

    fn try_all(&mut self, rows: &Dataset) -> Result<(), Stopped> {
        let tree = |groups: usize, states: usize| StructureConfig::Hclt(HcltConfig { states, groups });
        let seed = self.config.seed;

        let (em, mut before) = self.choose_prior(&tree(1, 8))?;
        for states in [16, 32, 64].into_iter().take_while(|&states| affordable(rows, 1, states)) {
            let score = self.try_one(tree(1, states), &em, seed)?;
            if score < before + WORTHWHILE * before.abs() {
                break;
            }
            before = score;
        }

        let (em, _) = self.choose_prior(&StructureConfig::LearnSpn(LearnSpnConfig::default()))?;
        self.try_one(StructureConfig::LearnSpn(LearnSpnConfig::fine()), &em, seed)?;

        let sensible = |&(groups, states): &(usize, usize)| {
            rows.len() >= ROWS_PER_GROUP * groups && affordable(rows, groups, states)
        };
        let mut grouped = [(3, 4), (4, 8), (10, 8), (20, 4), (100, 1)].into_iter().filter(sensible);
        if let Some((groups, states)) = grouped.next() {
            let (em, _) = self.choose_prior(&tree(groups, states))?;
            for (groups, states) in grouped {
                self.try_one(tree(groups, states), &em, seed)?;
            }
        }

        // If a mixture scores better than one circuit, its members are trained twice more with other seeds.
        let (members, _) = self.choose()?;
        if members.len() > 1 {
            let members: Vec<TrialConfig> =
                members.iter().map(|&(member, _)| self.trained[member].config.clone()).collect();
            for run in 1..=2 {
                for TrialConfig { structure, em, .. } in &members {
                    self.try_one(structure.clone(), em, seed.wrapping_add(run))?;
                }
            }
        }
        Ok(())
    }

    fn best(&self) -> usize {
        let score = |&trial: &usize| self.trained[trial].score();
        (0..self.trained.len()).max_by(|a, b| score(a).total_cmp(&score(b))).expect("something was tried")
    }

    /// The members of the best mixture with their weights, and its held-out score.
    ///
    /// It starts with the smallest circuit that scores about as well as the best one, and adds the trial that
    /// improves it most, while the gain is worthwhile.
    fn choose(&self) -> Result<(Vec<(usize, f64)>, f64), Stopped> {
        let best = self.best();
        if self.config.learner != Learner::Auto {
            return Ok((vec![(best, 1.0)], self.trained[best].score()));
        }
        let score = |trial: usize| self.trained[trial].score();
        let worthwhile = WORTHWHILE * score(best).abs();
        let as_good = (0..self.trained.len()).filter(|&trial| score(trial) >= score(best) - worthwhile);
        let smallest =
            |trials: &mut dyn Iterator<Item = usize>| trials.min_by_key(|&t| self.trained[t].edges());
        let within = |&trial: &usize| self.trained[trial].edges() <= self.config.max_edges;
        let first = smallest(&mut as_good.filter(within)).or_else(|| smallest(&mut (0..self.trained.len())));
        let mut members = vec![first.expect("something was tried")];
        let mut score = self.trained[members[0]].score();
        let mut weights = vec![1.0];
        loop {
            let edges: usize = members.iter().map(|&member| self.trained[member].edges()).sum();
            let grown = (0..self.trained.len())
                .filter(|trial| !members.contains(trial))
                .filter(|&trial| edges + self.trained[trial].edges() <= self.config.max_edges)
                .map(|trial| {
                    let grown = [members.as_slice(), &[trial]].concat();
                    let (weights, score) = self.weigh(&grown)?;
                    Ok((score, grown, weights))
                });
            let grown = grown.collect::<Result<Vec<_>, Stopped>>()?;
            let grown = grown.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
            match grown {
                Some((better, grown, new)) if better > score + WORTHWHILE * score.abs() => {
                    (score, members, weights) = (better, grown, new);
                }
                _ => break,
            }
        }
        Ok((members.into_iter().zip(weights).collect(), score))
    }

    /// The weights of a mixture of trials that maximise the likelihood of the held-out rows, and its score.
    fn weigh(&self, members: &[usize]) -> Result<(Vec<f64>, f64), Stopped> {
        const ROUNDS: usize = 50;
        let held_out: Vec<&[f64]> = members.iter().map(|&m| self.trained[m].held_out.as_slice()).collect();
        let rows = held_out[0].len();
        let mut weights = vec![1.0 / members.len() as f64; members.len()];
        let mut score = 0.0;
        for _ in 0..ROUNDS {
            self.stop.check()?;
            // A prior of one row, spread evenly, keeps every weight positive.
            let mut counts = vec![1.0 / members.len() as f64; members.len()];
            score = 0.0;
            for row in 0..rows {
                let terms = weights.iter().zip(&held_out).map(|(weight, scores)| weight.ln() + scores[row]);
                let total = log_sum_exp(terms.clone());
                score += total;
                counts.iter_mut().zip(terms).for_each(|(count, term)| *count += (term - total).exp());
            }
            let total: f64 = counts.iter().sum();
            weights = counts.into_iter().map(|count| count / total).collect();
        }
        Ok((weights, score / rows as f64))
    }
}

/// Rows of a group, at least, for a tree of its own.
const ROWS_PER_GROUP: usize = 50;

/// Edges times rows of a trial, at most: minutes on two cores.
const DEAREST: f64 = 1e9;

fn affordable(rows: &Dataset, groups: usize, states: usize) -> bool {
    (rows.len() * rows.width()) as f64 * (groups * states * states) as f64 <= DEAREST
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
