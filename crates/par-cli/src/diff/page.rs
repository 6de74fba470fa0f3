//! A comparison as one self-contained HTML page.

use par_answer::diff::{CostReport, GroupReport};
use par_plot::page::{self, figure};
use par_plot::text::{decimal, grouped, share};
use par_plot::{Axis, Chart, Markup, Shape, Sign};

use super::DiffReport;
use super::text::{COSTS, broken_words, moved, now, outcomes, shortfall, why};

/// About as wide as a phone's screen, where charts are stacked.
const SIZE: (f64, f64) = (440.0, 280.0);

/// The page.
pub(super) fn html(report: &DiffReport<'_>) -> String {
    let mut page = page::head(&format!("{} → {}", report.old, report.new), "");
    page.add(&heading(report)).raw("<main>\n").add(&caveats(report));
    page.raw("<section>\n<h2>Decisions and ways</h2>\n<div class=\"charts\">\n");
    page.add(&flow(report)).add(&scores(report)).raw("</div>\n");
    page.add(&costs(report)).raw("</section>\n").add(&groups(report)).add(&people(report));
    page.raw("</main>\n</body>\n</html>\n");
    page.into_string()
}

fn heading(report: &DiffReport<'_>) -> Markup {
    let all = &report.diff.all;
    let mut heading = Markup::default();
    heading.raw("<header>\n<p class=\"over\">What a new model changes</p>\n");
    heading.element("<h1>", format!("{} → {}", report.old, report.new), "</h1>\n<p class=\"lead\">");
    let people = format!("the {} people of {}", grouped(all.people), report.table);
    let asked = match &report.ways_table {
        Some(ways) => format!("The new model is asked about {people}; the old answers are those of {ways}."),
        None => format!("Both models are asked about {people}."),
    };
    heading.text(format!("{asked} A way is kept if the new model accepts it as the old one wrote it."));
    heading.raw("</p>\n<dl class=\"tiles\">\n");
    let ways = &all.ways;
    tile(&mut heading, &format!("of {} ways are kept", grouped(ways.kept.of)), &share(ways.kept.share));
    tile(&mut heading, "ways break", &grouped(ways.kept.of - ways.kept.yes));
    tile(&mut heading, "people are newly without a way", &grouped(all.newly_without.yes));
    tile(&mut heading, "are newly denied", &grouped(all.accepted_to_denied.yes));
    tile(&mut heading, "are newly accepted", &grouped(all.denied_to_accepted.yes));
    heading.raw("</dl>\n</header>\n");
    heading
}

fn tile(page: &mut Markup, title: &str, value: &str) {
    page.element("<div><dt>", title, "</dt>").element("<dd>", value, "</dd></div>\n");
}

/// What differs between the models, and what could not be compared.
fn caveats(report: &DiffReport<'_>) -> Markup {
    let mut section = Markup::default();
    let caveats = report.caveats();
    if !caveats.is_empty() {
        section.raw("<section>\n<h2>Before you compare</h2>\n<ul>\n");
        for caveat in caveats {
            section.element("<li>", caveat, "</li>\n");
        }
        section.raw("</ul>\n</section>\n");
    }
    section
}

/// How many people have each pair of outcomes.
fn flow(report: &DiffReport<'_>) -> Markup {
    let outcomes = outcomes(&report.diff.all);
    let names = || outcomes.iter().map(|outcome| outcome.words());
    let axes =
        (Axis::names("by the new model", names()), Axis::names("by the old model", names()).reversed());
    let mut chart =
        Chart::new("How many people have each old and new outcome", (520.0, 320.0), axes.0, axes.1);
    for (row, &old) in outcomes.iter().enumerate() {
        for (column, &new) in outcomes.iter().enumerate() {
            let people = moved(&report.diff.all, old, new);
            let class = match (people, row.cmp(&column)) {
                (0, _) | (_, std::cmp::Ordering::Equal) => "better l0",
                (_, std::cmp::Ordering::Greater) => "better l2",
                (_, std::cmp::Ordering::Less) => "worse l2",
            };
            chart.cell(class, (column as f64, row as f64), &grouped(people));
        }
    }
    let caption = "People by what the old model and the new one say to them: blue where they fare better by the new \
                   one, orange where worse.";
    figure("<figure>", "From outcome to outcome", caption, &chart.svg())
}

/// The scores of old ways by the new model.
fn scores(report: &DiffReport<'_>) -> Markup {
    let (histogram, [_, model]) = (&report.diff.scores, report.models);
    let threshold = report.diff.new_threshold;
    let highest = histogram.counts.iter().max().copied().unwrap_or(0).max(1);
    let end = |bar: usize| histogram.low + bar as f64 * histogram.width;
    let filled: Vec<usize> = (0..histogram.counts.len()).filter(|&bar| histogram.counts[bar] > 0).collect();
    let ends = filled.iter().flat_map(|&bar| [end(bar), end(bar + 1)]).chain([threshold]);
    let label =
        if model.scale().is_number() { "predicted by the new model" } else { "probability by the new model" };
    let axes = (Axis::around(label, ends, 6), Axis::around("ways", [0.0, highest as f64], 4));
    let mut chart = Chart::new("The scores of the old ways by the new model", SIZE, axes.0, axes.1);
    for bar in filled {
        let (low, high) = (end(bar), end(bar + 1));
        let is_kept = model.scale().reaches(f64::midpoint(low, high), threshold);
        let room = 0.06 * histogram.width;
        let class = if is_kept { "exact" } else { "generate" };
        chart.bar(class, (low + room, high - room), histogram.counts[bar] as f64);
    }
    chart.vertical_line("dashed", threshold);
    chart.key("dashed", Sign::Line, &format!("threshold, {}", model.score_words(threshold)));
    chart.key("exact", Sign::Bar, "reaches the threshold").key("generate", Sign::Bar, "below");
    let ways = &report.diff.all.ways;
    let short = shortfall(model, ways).map_or(String::new(), |short| format!(" Short by {short}."));
    let caption =
        format!("What the new model thinks of the old ways. Broken: {}.{short}", broken_words(ways));
    figure("<figure>", "Old ways, new scores", &caption, &chart.svg())
}

fn costs(report: &DiffReport<'_>) -> Markup {
    let mut table = Markup::default();
    let Some(cost) = &report.diff.all.cost else { return table };
    let broken = report.diff.all.cost_of_broken.as_ref();
    table.raw("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th>mean cost, old way → new way</th>");
    let title = |of: &CostReport, who: &str| format!("{who}: {}", grouped(of.people));
    table.element("<th>", title(cost, "people with both ways"), "</th>");
    if let Some(broken) = broken {
        table.element("<th>", title(broken, "of them, with a broken old way"), "</th>");
    }
    table.raw("</tr></thead><tbody>\n");
    for (name, values, decimals) in COSTS {
        let pair = |of: &CostReport| values(of).map(|value| decimal(value, decimals)).join(" → ");
        table.element("<tr><th scope=\"row\">", name, "</th>").element("<td>", pair(cost), "</td>");
        if let Some(broken) = broken {
            table.element("<td>", pair(broken), "</td>");
        }
        table.raw("</tr>\n");
    }
    table.raw("</tbody></table></div>\n");
    table
}

/// The share of ways that are kept, by group.
fn groups(report: &DiffReport<'_>) -> Markup {
    let mut section = Markup::default();
    if report.diff.groups.is_empty() {
        return section;
    }
    section.raw(
        "<section>\n<h2>Ways kept, by group</h2>\n<p>The share of each group's ways that the new model ",
    );
    section.raw("accepts, with its 95 % interval (Wilson). Before each name, how many ways there are.</p>\n<div class=\"charts\">\n");
    for groups in report.diff.groups.chunk_by(|a, b| a.feature == b.feature) {
        section.add(&group_chart(groups));
    }
    section.raw("</div>\n</section>\n");
    section
}

fn group_chart(groups: &[GroupReport]) -> Markup {
    let feature = &groups[0].feature;
    let named = |group: &GroupReport| format!("{}: {}", grouped(group.people.ways.kept.of), group.group);
    let names = Axis::names("", groups.iter().map(named)).reversed();
    let height = 60.0 + 26.0 * groups.len() as f64;
    let description = format!("The share of ways that are kept, by {feature}");
    let mut chart = Chart::new(&description, (SIZE.0, height), Axis::shares("ways kept"), names);
    for (place, group) in groups.iter().enumerate() {
        let kept = &group.people.ways.kept;
        let (Some(value), Some([low, high])) = (kept.share, kept.interval) else { continue };
        chart.horizontal_interval("exact", (low, high), place as f64);
        let title = format!("{} of {}", grouped(kept.yes), grouped(kept.of));
        chart.mark("exact", Shape::Circle, (value, place as f64), &title);
    }
    let without: u64 = groups.iter().map(|group| group.people.newly_without.yes).sum();
    let caption = match without {
        0 => "Nobody is newly without a way.".to_string(),
        _ => {
            let newly = |group: &GroupReport| {
                let newly = &group.people.newly_without;
                (newly.yes > 0)
                    .then(|| format!("{} {} of {}", group.group, grouped(newly.yes), grouped(newly.of)))
            };
            let newly: Vec<String> = groups.iter().filter_map(newly).collect();
            format!("Newly without a way: {}.", newly.join(", "))
        }
    };
    figure("<figure>", feature, &caption, &chart.svg())
}

/// The people whose way breaks.
fn people(report: &DiffReport<'_>) -> Markup {
    let mut section = Markup::default();
    let listed = &report.diff.broken;
    if listed.is_empty() {
        return section;
    }
    section.raw("<section>\n<h2>People whose way breaks</h2>\n<p>");
    section.text(match report.diff.broken_not_listed {
        0 => "All of them, the furthest from the threshold first.".to_string(),
        more => format!(
            "The {} furthest from the threshold; there are {} more.",
            grouped(listed.len()),
            grouped(more)
        ),
    });
    section.raw("</p>\n<div class=\"cards\">\n");
    for way in listed {
        section.element("<article class=\"card\"><header><h3>", &way.id, "</h3>");
        section.element("<span class=\"badge open\">", way.now.words(), "</span></header>");
        section.raw("<ul class=\"changes\"><li><b>was told</b>").text(way.changes.join("; "));
        section.raw("</li><li><b>by the new model</b>").text(why(report.models, way));
        section.raw("</li><li><b>now</b>").text(now(way)).raw("</li></ul></article>\n");
    }
    section.raw("</div>\n</section>\n");
    section
}
