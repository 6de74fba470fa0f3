//! A comparison as text for a terminal.

use par_answer::diff::{BrokenWay, CostReport, Flow, Outcome, PeopleReport, Verdict, WaysReport};
use par_answer::words;
use par_model::{Model, Share};
use par_plot::text::{decimal, wrapped};

use super::DiffReport;
use crate::aligned::{Align, Facts, aligned, grouped, printable};

pub(super) fn text(report: &DiffReport<'_>) -> String {
    let mut text = printable(&format!("{} → {}, {}", report.old, report.new, report.table)) + "\n";
    for caveat in report.caveats() {
        text += &wrapped(&format!("note: {caveat}"), "  ", 110);
    }
    text += "\n";
    text += &facts(report);
    text += "\npeople, by the old model (rows) and by the new one (columns)\n";
    text += &flow(&report.diff.all);
    text += &costs(&report.diff.all);
    text += &groups(report);
    text += &broken(report);
    if let (Some(least), false) = (report.least, report.keeps_enough()) {
        text += &format!("\ntoo few ways are kept: expected a share of at least {least}\n");
    }
    text
}

fn facts(report: &DiffReport<'_>) -> String {
    let all = &report.diff.all;
    let [old, new] = report.models;
    let mut facts = Facts::default();
    facts.add("people", grouped(all.people));
    let thresholds = [old.score_words(report.diff.old_threshold), new.score_words(report.diff.new_threshold)];
    facts.add("threshold", thresholds.join(" → "));
    facts.add("denied → accepted", share(&all.denied_to_accepted));
    facts.add("accepted → denied", share(&all.accepted_to_denied));
    facts.add("ways kept", share(&all.ways.kept));
    if all.ways.any_kept != all.ways.kept {
        facts.add("any way kept", share(&all.ways.any_kept));
    }
    facts.add("ways broken", broken_words(&all.ways));
    if let Some(short) = shortfall(new, &all.ways) {
        facts.add("short by", short);
    }
    facts.add("newly without a way", share(&all.newly_without));
    facts.add("newly with a way", share(&all.newly_with));
    facts.text()
}

/// `15 of 53, 28.3 % (18.0 to 41.6 %)`.
pub(super) fn share(share: &Share) -> String {
    let counts = format!("{} of {}", grouped(share.yes), grouped(share.of));
    match (share.share, share.interval) {
        (Some(value), Some([low, high])) => {
            format!("{counts}, {:.1} % ({:.1} to {:.1} %)", 100.0 * value, 100.0 * low, 100.0 * high)
        }
        _ => counts,
    }
}

/// How many ways break, and why.
pub(super) fn broken_words(ways: &WaysReport) -> String {
    let WaysReport { too_low, breaks_policy, unreadable, .. } = ways;
    let reasons = [
        (*too_low, "below the threshold"),
        (*breaks_policy, "against a policy"),
        (*unreadable, "cannot be read by the new model"),
    ];
    let reasons = reasons.into_iter().filter(|(count, _)| *count > 0);
    let reasons: Vec<String> = reasons.map(|(count, why)| format!("{} {why}", grouped(count))).collect();
    if reasons.is_empty() { "0".to_string() } else { reasons.join(", ") }
}

/// How far broken ways are from the threshold, in words.
pub(super) fn shortfall(model: &Model, ways: &WaysReport) -> Option<String> {
    let short = ways.short_by.as_ref()?;
    Some(format!(
        "{} on average, {} at most; in log-odds {:.2} and {:.2}",
        model.score_words(short.mean),
        model.score_words(short.largest),
        short.mean_log_odds,
        short.largest_log_odds
    ))
}

/// The number of people with a pair of outcomes.
pub(super) fn moved(people: &PeopleReport, old: Outcome, new: Outcome) -> u64 {
    let is_pair = |flow: &&Flow| (flow.old, flow.new) == (old, new);
    people.flow.iter().find(is_pair).map_or(0, |flow| flow.people)
}

/// All outcomes; without that of rows that cannot be read, if there are none.
pub(super) fn outcomes(people: &PeopleReport) -> Vec<Outcome> {
    let occurs = |outcome: &Outcome| {
        *outcome != Outcome::Unreadable || people.unread_by_old + people.unread_by_new > 0
    };
    Outcome::ALL.into_iter().filter(occurs).collect()
}

fn flow(people: &PeopleReport) -> String {
    let outcomes = outcomes(people);
    let titles = outcomes.iter().map(|outcome| outcome.words().to_string());
    let mut lines: Vec<Vec<String>> = vec![std::iter::once(String::new()).chain(titles).collect()];
    for &old in &outcomes {
        let counts = outcomes.iter().map(|&new| grouped(moved(people, old, new)));
        lines.push(std::iter::once(old.words().to_string()).chain(counts).collect());
    }
    aligned([Align::Left, Align::Right], &lines)
}

/// A measure of costs: its name, its values, and how many decimals are shown.
pub(super) type CostMeasure = (&'static str, fn(&CostReport) -> [f64; 2], usize);

pub(super) const COSTS: [CostMeasure; 4] = [
    ("changes", |cost| cost.changes, 2),
    ("effort, by the new model", |cost| cost.effort, 2),
    ("months, by each model", |cost| cost.months, 1),
    ("log-likelihood, by the new model", |cost| cost.log_likelihood, 2),
];

fn costs(people: &PeopleReport) -> String {
    let Some(cost) = &people.cost else {
        return "\nnobody has both an old and a new way, so there are no costs to compare\n".to_string();
    };
    let broken = people.cost_of_broken.as_ref();
    let title = |of: &CostReport, who: &str| format!("{who}, {}", grouped(of.people));
    let mut header = vec!["mean cost, old → new".to_string(), title(cost, "both ways")];
    header.extend(broken.map(|broken| title(broken, "old way broken")));
    let mut lines = vec![header];
    for (name, values, decimals) in COSTS {
        let pair = |of: &CostReport| values(of).map(|value| decimal(value, decimals)).join(" → ");
        let mut line = vec![name.to_string(), pair(cost)];
        line.extend(broken.map(pair));
        lines.push(line);
    }
    format!("\n{}", aligned([Align::Left, Align::Right], &lines))
}

fn groups(report: &DiffReport<'_>) -> String {
    let mut text = String::new();
    for groups in report.diff.groups.chunk_by(|a, b| a.feature == b.feature) {
        let titles = ["people", "denied → accepted", "accepted → denied", "ways kept", "newly without a way"];
        let titles = titles.map(String::from);
        let mut lines = vec![[vec![groups[0].feature.clone()], titles.to_vec()].concat()];
        for group in groups {
            let people = &group.people;
            let counts = |share: &Share| format!("{} of {}", grouped(share.yes), grouped(share.of));
            lines.push(vec![
                group.group.clone(),
                grouped(people.people),
                counts(&people.denied_to_accepted),
                counts(&people.accepted_to_denied),
                share(&people.ways.kept),
                counts(&people.newly_without),
            ]);
        }
        text += &format!("\n{}", aligned([Align::Left, Align::Right], &lines));
    }
    text
}

fn broken(report: &DiffReport<'_>) -> String {
    let listed = &report.diff.broken;
    if listed.is_empty() {
        return String::new();
    }
    let mut text = "\npeople whose way breaks, the furthest from the threshold first\n".to_string();
    for way in listed {
        let lines = [
            format!("  {}: {}", way.id, why(report.models, way)),
            format!("    was told  {}", way.changes.join("; ")),
            format!("    now       {}", now(way)),
        ];
        lines.iter().for_each(|line| text += &(printable(line) + "\n"));
    }
    if report.diff.broken_not_listed > 0 {
        text += &format!("  and {} more\n", grouped(report.diff.broken_not_listed));
    }
    text
}

/// Why a way breaks, in words.
pub(super) fn why([old, new]: [&Model; 2], way: &BrokenWay) -> String {
    let because = way.because.as_deref().unwrap_or_default();
    let was = way.old_score.map_or(String::new(), |score| format!("{} → ", old.score_words(score)));
    let scores = way.new_score.map_or(String::new(), |score| format!("{was}{}", new.score_words(score)));
    match (way.verdict, way.short_by) {
        (Verdict::TooLow, Some(by)) => {
            let log_odds = way.short_by_log_odds.unwrap_or_default();
            format!("{scores}, short by {}, in log-odds {log_odds:.2}", new.score_words(by))
        }
        (Verdict::BreaksPolicy, _) => format!("{scores}, against a policy: {because}"),
        _ => format!("the new model cannot read it: {because}"),
    }
}

/// What the new model tells somebody whose way breaks, in words.
pub(super) fn now(way: &BrokenWay) -> String {
    match (way.now, way.new_effort, way.new_months) {
        (Outcome::WithWay, Some(effort), Some(months)) => {
            format!("{} ({})", way.new_changes.join("; "), words::cost(effort, months))
        }
        (outcome, ..) => outcome.words().to_string(),
    }
}
