//! The shares and means of a tally.

use par_model::Share;
use serde::Serialize;

use super::groups::Grouping;
use super::person::{BrokenWay, Outcome};
use super::tally::{Cost, CostSums, Counts, Histogram, Tally};

/// What a new model changes for the people of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// What differs between the models themselves, a sentence each.
    pub differences: Vec<String>,
    /// The score that the old model accepts, as it does surer ones.
    pub old_threshold: f64,
    /// The same of the new model.
    pub new_threshold: f64,
    /// Everybody.
    #[serde(flatten)]
    pub all: PeopleReport,
    /// People without a past answer, who are not compared.
    pub absent: u64,
    /// The first row that the old model cannot read, with its place.
    pub first_unread_by_old: Option<String>,
    /// The first row that the new model cannot read, with its place.
    pub first_unread_by_new: Option<String>,
    /// The scores of the old ways by the new model.
    pub scores: Histogram,
    /// The people of each group, in the order of the groupings.
    pub groups: Vec<GroupReport>,
    /// Those whose way breaks, the furthest from the threshold first.
    pub broken: Vec<BrokenWay>,
    /// How many more there are.
    pub broken_not_listed: u64,
}

/// The people of one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupReport {
    /// The feature or column.
    pub feature: String,
    /// The name of the group.
    pub group: String,
    /// Its people.
    #[serde(flatten)]
    pub people: PeopleReport,
}

/// What a new model changes for some people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeopleReport {
    /// How many there are.
    pub people: u64,
    /// How many have each pair of an old and a new outcome; pairs of nobody are left out.
    pub flow: Vec<Flow>,
    /// Denied by the old model and accepted by the new one, of those whom the old one denied and both can read.
    pub denied_to_accepted: Share,
    /// Accepted by the old model and denied by the new one, of those whom the old one accepted and both can read.
    pub accepted_to_denied: Share,
    /// What becomes of the first way of each person.
    pub ways: WaysReport,
    /// People who had a way, are denied and have none now, of those who had one and are read by the new model.
    pub newly_without: Share,
    /// People who were denied without a way and have one now, of those who had none and are read by the new model.
    pub newly_with: Share,
    /// Rows that the old model cannot read.
    pub unread_by_old: u64,
    /// Rows that the new model cannot read.
    pub unread_by_new: u64,
    /// What old and new ways cost those who have both.
    pub cost: Option<CostReport>,
    /// The same of those among them whose old way breaks.
    pub cost_of_broken: Option<CostReport>,
}

/// People by both outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// By the old model.
    pub old: Outcome,
    /// By the new one.
    pub new: Outcome,
    /// How many.
    pub people: u64,
}

/// What becomes of old ways.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaysReport {
    /// First ways that the new model accepts, of all first ways.
    pub kept: Share,
    /// People of whose ways the new model accepts at least one.
    pub any_kept: Share,
    /// Ways whose score does not reach the threshold.
    pub too_low: u64,
    /// Ways whose score does, but that break a policy of the new schema.
    pub breaks_policy: u64,
    /// Ways that the new model cannot read.
    pub unreadable: u64,
    /// How far the scores that are too low are from the threshold.
    pub short_by: Option<Shortfall>,
}

/// How far scores are from a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shortfall {
    /// The mean, in the unit of scores.
    pub mean: f64,
    /// The largest, in the unit of scores.
    pub largest: f64,
    /// The mean in log-odds.
    pub mean_log_odds: f64,
    /// The largest in log-odds.
    pub largest_log_odds: f64,
}

/// The mean costs of old and new ways of the same people, the old ones first. Effort and log-likelihood are by the new
/// model for both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CostReport {
    /// How many people.
    pub people: u64,
    /// Features that change.
    pub changes: [f64; 2],
    /// The new schema's effort, without weights of the request.
    pub effort: [f64; 2],
    /// Months, as each model counts them.
    pub months: [f64; 2],
    /// log p⁺ of the row by the new model's circuit of accepted people.
    pub log_likelihood: [f64; 2],
}

impl Diff {
    pub(super) fn new(
        differences: Vec<String>,
        [old_threshold, new_threshold]: [f64; 2],
        groupings: &[Grouping<'_>],
        tally: &Tally,
    ) -> Self {
        let broken = tally.all.too_low + tally.all.breaks_policy + tally.all.unreadable;
        let group = |((grouping, (_, name)), counts): (&(usize, (u32, String)), &Counts)| GroupReport {
            feature: groupings[*grouping].name.clone(),
            group: name.clone(),
            people: PeopleReport::new(counts),
        };
        let [first_unread_by_old, first_unread_by_new] = tally.first_unread.clone();
        Self {
            differences,
            old_threshold,
            new_threshold,
            all: PeopleReport::new(&tally.all),
            absent: tally.absent,
            first_unread_by_old,
            first_unread_by_new,
            scores: tally.scores.clone(),
            groups: tally.groups.iter().map(group).collect(),
            broken: tally.broken.clone(),
            broken_not_listed: broken - tally.broken.len() as u64,
        }
    }
}

impl PeopleReport {
    pub(super) fn new(counts: &Counts) -> Self {
        let read = |outcome| outcome != Outcome::Unreadable;
        let is = |wanted: Outcome| move |outcome| outcome == wanted;
        let flow = Outcome::ALL.into_iter().flat_map(|old| Outcome::ALL.map(|new| (old, new)));
        let flow = flow.map(|(old, new)| Flow { old, new, people: counts.flow[old as usize][new as usize] });
        let share = |old: &dyn Fn(Outcome) -> bool, new: &dyn Fn(Outcome) -> bool| {
            Share::new(counts.moved(old, new), counts.moved(old, read))
        };
        Self {
            people: counts.people(),
            flow: flow.filter(|flow| flow.people > 0).collect(),
            denied_to_accepted: share(&Outcome::is_denied, &is(Outcome::Accepted)),
            accepted_to_denied: share(&is(Outcome::Accepted), &Outcome::is_denied),
            ways: WaysReport::new(counts),
            newly_without: share(&is(Outcome::WithWay), &is(Outcome::WithoutWay)),
            newly_with: share(&is(Outcome::WithoutWay), &is(Outcome::WithWay)),
            unread_by_old: counts.moved(is(Outcome::Unreadable), |_| true),
            unread_by_new: counts.moved(|_| true, is(Outcome::Unreadable)),
            cost: CostReport::new(&counts.cost),
            cost_of_broken: CostReport::new(&counts.cost_of_broken),
        }
    }
}

impl WaysReport {
    fn new(counts: &Counts) -> Self {
        let Counts { kept, any_kept, too_low, breaks_policy, unreadable, short, .. } = counts;
        let all = kept + too_low + breaks_policy + unreadable;
        let mean = |place: usize| short[place].total / *too_low as f64;
        Self {
            kept: Share::new(*kept, all),
            any_kept: Share::new(*any_kept, all),
            too_low: *too_low,
            breaks_policy: *breaks_policy,
            unreadable: *unreadable,
            short_by: (*too_low > 0).then(|| Shortfall {
                mean: mean(0),
                largest: short[0].largest,
                mean_log_odds: mean(1),
                largest_log_odds: short[1].largest,
            }),
        }
    }
}

impl CostReport {
    fn new(sums: &CostSums) -> Option<Self> {
        let means = |cost: fn(&Cost) -> f64| [&sums.old, &sums.new].map(|of| cost(of) / sums.people as f64);
        (sums.people > 0).then(|| Self {
            people: sums.people,
            changes: means(|cost| cost.changes),
            effort: means(|cost| cost.effort),
            months: means(|cost| cost.months),
            log_likelihood: means(|cost| cost.log_likelihood),
        })
    }
}
