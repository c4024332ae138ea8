//! The page as a whole.

use crate::Page;
use crate::html::Html;
use crate::story::{MOST_FINDINGS, TraceName};
use crate::text::{self, count, grouped};
use crate::{data, finding, policy, serial, words};
use interloper_report::read::Result as Found;
use std::collections::BTreeSet;

/// Renders the page.
pub(crate) fn render(page: &Page) -> String {
    let script = policy::script();
    let policy = policy::policy(policy::STYLE, &script);
    let headline = words::headline(&page.result);
    let mut html = Html::default();
    html.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
    html.raw("\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n");
    html.raw("<title>").text(&headline).text(" – Interloper").raw("</title>\n");
    html.embedded("style", &[], policy::STYLE);
    html.raw("\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the findings</a>\n");
    header(&mut html, page, &headline);
    let shown = &page.result.findings[..page.result.findings.len().min(MOST_FINDINGS)];
    html.raw("<div class=\"layout\">\n");
    if shown.len() > 1 {
        list(&mut html, page);
    }
    html.raw("<main id=\"main\">\n");
    for (at, found) in shown.iter().enumerate() {
        finding::render(&mut html, page, at + 1, found);
        html.raw("\n");
    }
    if let Some(answer) = &page.result.serial {
        serial::cycle(&mut html, answer);
    }
    html.raw("<p id=\"nothing\" class=\"quiet\" hidden>No finding is like that. Loosen the filters.</p>\n");
    proof(&mut html, page);
    notes(&mut html, page);
    html.raw("</main>\n</div>\n<footer>Made by Interloper; needs nothing else, and loads nothing.</footer>\n");
    html.embedded("script", &[("type", "application/json"), ("id", "data")], &data::embedded(page));
    html.raw("\n");
    html.embedded("script", &[], &script);
    html.raw("\n</body>\n</html>\n");
    html.finish()
}

fn header(html: &mut Html, page: &Page, headline: &str) {
    let result = &page.result;
    let tone = match () {
        () if result.serial.as_ref().is_some_and(|serial| serial.serializable == Some(false)) => "bad",
        () if result.findings.iter().any(|finding| finding.rung() == 5 && !finding.is_benign()) => "bad",
        () if result.findings.iter().any(|finding| finding.rung() >= 1 && !finding.is_benign()) => "warn",
        () => "good",
    };
    html.open("header", &[("class", "top"), ("data-tone", tone)]);
    html.raw("<p class=\"brand\">Interloper</p>");
    html.element("h1", "", headline);
    html.element("p", "lead", &words::lead(result));
    html.raw("<p class=\"facts\">");
    if let Some(program) = &result.program {
        html.name("code", "command", &program.command.join(" "));
        html.text(&format!(" · run {} · ", count(program.runs, "time", "times")));
    } else {
        html.name("code", "", &page.name).text(" · ");
    }
    let trace = &result.trace;
    let facts = [
        count(trace.events, "event", "events"),
        count(trace.threads, "thread", "threads"),
        count(trace.locations, "location", "locations"),
        count(trace.locks, "lock", "locks"),
        count(trace.regions, "region", "regions"),
    ];
    html.text(&facts.join(" · ")).raw("</p></header>\n");
}

/// The findings as links; the script adds filters.
fn list(html: &mut Html, page: &Page) {
    html.raw("<nav aria-label=\"Findings\"><div id=\"filters\"></div><ol id=\"list\">");
    for (at, found) in page.result.findings.iter().take(MOST_FINDINGS).enumerate() {
        let href = format!("#f{}", at + 1);
        html.raw("<li>").open("a", &[("href", &href)]);
        html.element("span", "ordinal", &format!("#{}", at + 1)).raw(" ");
        finding::badge(html, &found.verdict);
        if let Some(harm) = &found.harm {
            let class = if found.is_benign() { "badge benign" } else { "badge harm" };
            html.raw(" ").element("span", class, &text::clipped(harm, 40));
        }
        html.raw("<span class=\"list-variable\">").name("code", "", &found.variable.name).raw("</span>");
        html.raw("<span class=\"list-threads\">").name("span", "", found.remote_thread());
        html.raw(" into ").name("span", "", &found.region.thread);
        html.text(&format!(" · {}", text::clipped(&found.pattern, 12))).raw("</span></a></li>");
    }
    html.raw("</ol></nav>\n");
}

/// What is and is not proved: of the verdicts that there are, and of the whole.
fn proof(html: &mut Html, page: &Page) {
    let result = &page.result;
    html.raw("<section class=\"proof\" aria-labelledby=\"proof-title\">");
    html.raw("<h2 id=\"proof-title\">What is and is not proved</h2>");
    if result.serial.is_some() {
        html.raw(
            "<p>The answer is about the order that was observed, and exact: regions are transactions, other \
                  events stand alone. Other schedules were not looked at.</p></section>",
        );
        return;
    }
    let there: BTreeSet<&str> = result.findings.iter().map(|finding| finding.verdict.as_str()).collect();
    let mut verdicts = words::VERDICTS.iter().filter(|(word, ..)| there.contains(word)).peekable();
    if verdicts.peek().is_some() {
        html.raw("<dl>");
        for (word, proved, not_proved) in verdicts {
            html.raw("<dt>");
            finding::badge(html, word);
            html.raw("</dt><dd><p><strong>Proved:</strong> ").text(proved);
            html.raw("</p><p><strong>Not proved:</strong> ").text(not_proved).raw("</p></dd>");
        }
        html.raw("</dl>");
    }
    html.raw("<ul>");
    for claim in claims(result) {
        html.element("li", "", &claim);
    }
    html.raw("</ul></section>\n");
}

fn claims(result: &Found) -> Vec<String> {
    let mut claims = Vec::new();
    if result.findings.is_empty() {
        claims.push(
            "Nothing found means: nothing among the accesses that were recorded, in whatever order the model allows. It \
             does not mean that the program is free of violations."
                .to_owned(),
        );
    }
    if result.counts.infeasible > 0 {
        claims.push(format!(
            "{} ruled out: that is a proof about the recorded events, not about paths that the program did not take.",
            count(result.counts.infeasible, "candidate is", "candidates are"),
        ));
    }
    let memory = if result.memory_model.is_empty() { "sequentially consistent" } else { &result.memory_model };
    claims.push(format!("All of it is for {} memory; weak memory is not looked at.", text::clipped(memory, 80)));
    claims.push(
        "What is meant to be atomic is a guess, except where the source marks it: a function or a critical section \
         counts as one step."
            .to_owned(),
    );
    match &result.explored {
        Some(explored) if explored.exhausted => claims.push(
            "Other paths were explored until no read could be led elsewhere, for this input. Try-locks, timeouts and \
             what comes from outside were not led anywhere."
                .to_owned(),
        ),
        Some(explored) => claims.push(format!(
            "{} led off the recorded path; other paths may hold more.",
            count(explored.runs, "run was", "runs were"),
        )),
        None => claims.push("Only the recorded path was looked at; other paths may hold more.".to_owned()),
    }
    claims.push("One variable at a time: violations over several variables are not looked for.".to_owned());
    claims
}

/// How the program ended, run for run, and what else one should know.
fn notes(html: &mut Html, page: &Page) {
    let outcomes = page.result.explored.as_ref().map_or(&[][..], |explored| &explored.outcomes);
    if outcomes.len() > 1 {
        html.raw("<section class=\"outcomes\" aria-labelledby=\"outcomes-title\">");
        html.raw("<h2 id=\"outcomes-title\">Ends that the program came to</h2><table><thead><tr>");
        html.raw(
            "<th scope=\"col\">Runs</th><th scope=\"col\">Ended</th><th scope=\"col\">Printed</th></tr></thead><tbody>",
        );
        for outcome in outcomes.iter().take(50) {
            html.raw("<tr><td>").number(outcome.times).raw("</td><td>").text(&text::name(&outcome.ended));
            html.raw("</td><td><pre>").text("\n").text(&text::clipped(&text::output(&outcome.stdout), 600));
            html.raw("</pre></td></tr>");
        }
        html.raw("</tbody></table></section>\n");
    }
    let notes = all_notes(page);
    if !notes.is_empty() {
        html.raw("<section class=\"notes\" aria-labelledby=\"notes-title\"><h2 id=\"notes-title\">Notes</h2><ul>");
        for note in notes {
            html.element("li", "", &text::clipped(&note, 1_000));
        }
        html.raw("</ul></section>\n");
    }
}

fn all_notes(page: &Page) -> Vec<String> {
    let mut notes = page.result.notes.clone();
    notes.extend(page.notes.iter().cloned());
    let story = &page.story;
    let hidden = page.result.findings.len().saturating_sub(MOST_FINDINGS);
    if hidden > 0 {
        notes.push(format!(
            "{} not on this page, which shows the first {}; the JSON form of the result has all",
            count(hidden as u64, "finding is", "findings are"),
            grouped(MOST_FINDINGS as u64),
        ));
    }
    let listed = |names: &[TraceName]| {
        let shown: Vec<String> = names.iter().take(5).map(ToString::to_string).collect();
        let more = names.len().saturating_sub(5);
        shown.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
    };
    if !story.missing.is_empty() {
        notes.push(format!("without lanes, since it cannot be read: {}", listed(&story.missing)));
    }
    if !story.foreign.is_empty() {
        notes.push(format!("without lanes, since it is not what the result speaks of: {}", listed(&story.foreign)));
    }
    if story.left_out > 0 {
        notes.push(format!(
            "{} left out: there is more than a page should hold",
            count(story.left_out as u64, "order of events was", "orders of events were"),
        ));
    }
    if story.without_arrows > 0 {
        notes.push(format!(
            "{} without arrows between the threads: there are more than a page should hold",
            count(story.without_arrows as u64, "order is", "orders are"),
        ));
    }
    let changed: Vec<&str> =
        page.sources.files().filter(|(_, excerpt)| excerpt.is_changed).map(|(name, _)| name).take(5).collect();
    if !changed.is_empty() {
        notes.push(format!(
            "changed since the result was made, so that lines may not be those that ran: {}",
            changed.join(", "),
        ));
    }
    notes
}
