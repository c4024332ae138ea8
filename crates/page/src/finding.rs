//! One finding, as it can be read without a script: what, who, where, with which values, and how to see it again.

use crate::Page;
use crate::html::Html;
use crate::seen::Seen;
use crate::story::Order;
use crate::text::{self, count, file_name};
use crate::words;
use interloper_report::read::{Event, Execution, Finding};

/// Renders a finding. `number` counts from one.
pub(crate) fn render(html: &mut Html, page: &Page, number: usize, finding: &Finding) {
    let told = page.story.told.get(number - 1);
    let best = told.and_then(|told| told.best());
    let id = format!("f{number}");
    let title = format!("f{number}-title");
    html.open("article", &[("class", "finding"), ("id", &id), ("aria-labelledby", &title), ("tabindex", "-1")]);
    head(html, page, number, &title, finding);
    accesses(html, page, finding, best);
    html.element("p", "consequence", &words::consequence(finding));
    replay(html, finding);
    let stage = format!("f{number}-stage");
    html.open("div", &[("class", "stage"), ("id", &stage)]).close("div");
    details(html, finding, best);
    html.close("article");
}

/// A verdict as a badge.
pub(crate) fn badge(html: &mut Html, verdict: &str) {
    let class = match verdict {
        "confirmed" => "badge confirmed",
        "feasible" => "badge feasible",
        "plausible" => "badge plausible",
        "possible" => "badge possible",
        "infeasible" => "badge infeasible",
        _ => "badge unknown",
    };
    html.element("span", class, &text::clipped(verdict, 40));
}

fn head(html: &mut Html, page: &Page, number: usize, title: &str, finding: &Finding) {
    html.raw("<header class=\"finding-head\"><p class=\"badges\">");
    if page.result.findings.len() > 1 {
        html.element("span", "ordinal", &format!("#{number}")).raw(" ");
    }
    badge(html, &finding.verdict);
    if let Some(harm) = &finding.harm {
        let class = if finding.is_benign() { "badge benign" } else { "badge harm" };
        html.raw(" ").element("span", class, &text::clipped(harm, 40));
    }
    html.raw(" ").element("span", "badge pattern", &text::clipped(&finding.pattern, 12));
    html.raw(" ").element("code", "id", &text::clipped(&finding.id, 64));
    html.raw("</p>");
    html.open("h2", &[("id", title)]).text(&words::claim(finding)).close("h2");
    if let Some(harm) = words::harm(finding) {
        let class = match (finding.is_benign(), &finding.execution) {
            (true, _) => "outcome benign",
            (false, Some(execution)) if execution.ended == execution.recorded && finding.harm.is_none() => "outcome",
            (false, _) => "outcome bad",
        };
        html.element("p", class, &harm);
    }
    if let Some(reason) = &finding.reason {
        html.raw("<p class=\"outcome\">").text("No further: ").text(&text::clipped(reason, 600)).raw("</p>");
    }
    html.raw("</header>");
}

/// The three accesses, the region's on one side and the other on the other.
fn accesses(html: &mut Html, page: &Page, finding: &Finding, best: Option<&Order>) {
    html.raw("<div class=\"triple\"><p class=\"who local\">");
    html.name("strong", "thread", &finding.region.thread);
    html.raw(" <span class=\"quiet\">");
    if let Some(region) = best.and_then(|order| order.region_name.as_deref()) {
        html.text("in ").name("code", "", region).text(", ");
    }
    html.text(words::authority(finding.step()));
    html.raw("</span></p><p class=\"who remote\">");
    html.name("strong", "thread", finding.remote_thread());
    html.raw(" <span class=\"quiet\">the interloper</span></p><ol>");
    for (role, event) in finding.events.iter().take(3).enumerate() {
        let seen = best.map(|order| order.seen[role]);
        access(html, page, role, event, &finding.variable.name, seen);
    }
    html.raw("</ol></div>");
}

fn access(html: &mut Html, page: &Page, role: usize, event: &Event, variable: &str, seen: Option<Seen>) {
    let class = ["access first", "access remote", "access second"][role];
    html.open("li", &[("class", class)]);
    html.raw("<p class=\"what\"><span class=\"mark\">").text(&format!("({})", role + 1)).raw("</span> ");
    html.name("span", "thread", &event.thread);
    let verb = match event.op.as_str() {
        "r" => "reads",
        "w" => "writes",
        _ => "reads and writes",
    };
    html.raw(" <strong>").text(verb).raw("</strong> ").name("code", "", variable);
    values(html, seen.unwrap_or_default());
    html.raw("</p>");
    if let Some(line) = page.sources.line(event.file.as_deref(), event.line) {
        html.raw("<pre class=\"line\"><code>").text(line.trim()).raw("</code></pre>");
    }
    html.raw("<p class=\"place\">");
    place(html, event.file.as_deref(), event.line, event.function.as_deref());
    html.raw("</p></li>");
}

fn values(html: &mut Html, seen: Seen) {
    let read = seen.read.map(|value| value_text(value, seen.size));
    let written = seen.written.map(|value| value_text(value, seen.size));
    let text = match (read, written) {
        (None, None) => return,
        (Some(read), None) => read,
        (None, Some(written)) => written,
        (Some(read), Some(written)) => format!("{read} → {written}"),
    };
    html.raw(" <span class=\"value\">").text(&text).raw("</span>");
    if let Some(recorded) = seen.recorded {
        html.raw(" <span class=\"quiet\">");
        html.text(&format!("({} when recorded)", value_text(recorded, seen.size))).raw("</span>");
    }
}

/// A value; what may well be a small negative number is also told as one.
fn value_text(value: u64, size: u32) -> String {
    const SMALL: i64 = -1_000_000;
    let signed = match size {
        1 => i64::from(value as u8 as i8),
        2 => i64::from(value as u16 as i16),
        4 => i64::from(value as u32 as i32),
        8 => value as i64,
        _ => 0,
    };
    if (SMALL..0).contains(&signed) { format!("{value} ({signed})") } else { value.to_string() }
}

/// A place in the source: the file's own name, and the whole path as a tooltip.
pub(crate) fn place(html: &mut Html, file: Option<&str>, line: Option<i64>, function: Option<&str>) {
    match (file, line) {
        (Some(file), line) => {
            let whole = text::name(file);
            let end = line.map_or(String::new(), |line| format!(":{line}"));
            html.open("span", &[("class", "path"), ("title", &whole)]);
            html.text(&text::short(file_name(&whole))).text(&end).close("span");
        }
        (None, Some(line)) => drop(html.text(&format!("line {line}"))),
        (None, None) => drop(html.text(if function.is_some() { "somewhere" } else { "an unknown place" })),
    }
    if let Some(function) = function {
        html.text(" in ").name("code", "", function);
    }
}

fn replay(html: &mut Html, finding: &Finding) {
    let Some(command) = &finding.replay else { return };
    html.raw("<div class=\"replay\"><span class=\"label\">Make it happen again</span> <code class=\"command\">");
    html.text(&text::clipped(command, 1_000)).raw("</code></div>");
}

fn details(html: &mut Html, finding: &Finding, best: Option<&Order>) {
    html.raw("<details class=\"more\"><summary>Region, locks and evidence</summary><dl>");
    let region = finding.step();
    let end = region.end.map_or("the end of the trace".to_owned(), |end| end.to_string());
    html.raw("<dt>Region</dt><dd>").text("of ").name("code", "", &region.thread);
    if let Some(name) = best.and_then(|order| order.region_name.as_deref()) {
        html.text(", ").name("code", "", name);
    }
    html.text(&format!(", {}: event {} to {end}", words::authority(region), region.begin));
    if finding.innermost.is_some() {
        html.text("; inside ").name("code", "", finding.region.name.as_deref().unwrap_or("another"));
        html.text(&format!(", {}", words::authority(&finding.region)));
    }
    html.raw("</dd>");
    html.raw("<dt>Accesses</dt><dd>");
    for (role, event) in finding.events.iter().take(3).enumerate() {
        let separator = if role > 0 { ", " } else { "" };
        html.text(&format!("{separator}({}) event {}", role + 1, event.index));
    }
    html.raw("</dd><dt>Locks</dt><dd>At some moment between (1) and (3) ");
    html.name("code", "", &region.thread).text(" holds ");
    locks(html, &finding.locks.region);
    html.text(", and ").name("code", "", finding.remote_thread()).text(" at (2) ");
    locks(html, &finding.locks.remote);
    html.raw(".</dd>");
    if let Some(witness) = &finding.witness {
        let least = if witness.least { "; none has fewer" } else { "" };
        let switches = count(witness.switches, "context switch", "context switches");
        html.raw("<dt>Witness</dt><dd>").text(&format!("a schedule of {switches}{least}")).raw("<br>");
        html.element("code", "schedule", &text::clipped(&witness.schedule, 4_000));
        if let Some(changed) = interloper_report::words::changed(&witness.changed) {
            html.raw("<br>").text(&changed);
        }
        html.raw("</dd>");
    }
    if let Some(execution) = &finding.execution {
        executed(html, execution);
    }
    if let Some(trace) = &finding.trace {
        html.raw("<dt>Positions</dt><dd>are those in ").name("code", "", trace).raw("</dd>");
    }
    html.raw("</dl></details>");
}

fn locks(html: &mut Html, locks: &[String]) {
    if locks.is_empty() {
        html.text("no lock");
    }
    for (at, lock) in locks.iter().take(20).enumerate() {
        html.text(if at > 0 { ", " } else { "" }).name("code", "", lock);
    }
}

fn executed(html: &mut Html, execution: &Execution) {
    html.raw("<dt>Executed</dt><dd>The program ").text(&text::name(&execution.ended));
    html.text("; the recorded run ").text(&text::name(&execution.recorded)).text(".");
    if let Some(trace) = &execution.trace {
        html.text(" Its trace: ").name("code", "", trace);
    }
    html.raw("</dd>");
    for (what, printed) in [("Standard output", &execution.stdout), ("Standard error", &execution.stderr)] {
        if !printed.is_empty() {
            html.element("dt", "", what).raw("<dd><pre class=\"output\">");
            // The first line's end would be dropped by a parser.
            html.text("\n").text(&text::output(printed)).raw("</pre></dd>");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::value_text;

    #[test]
    fn negative_numbers_are_recognised() {
        assert_eq!(value_text(u64::MAX, 8), "18446744073709551615 (-1)");
        assert_eq!(value_text(0xffff_fffe, 4), "4294967294 (-2)");
        assert_eq!(value_text(0xffff_fffe, 8), "4294967294");
        assert_eq!(value_text(200, 0), "200");
    }
}
