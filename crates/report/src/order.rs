//! In which order findings are told: the most harmful first, and what has one cause together.

use crate::result::{Finding, Verdict};

/// Kinds of harm, the worst first.
pub const HARMS: [&str; 6] = ["crash", "hang", "assert", "exit", "output", "state"];

/// Where a finding stands: the lower, the earlier it is to be looked at.
pub fn rank(finding: &Finding) -> u8 {
    let ended_otherwise = finding.execution.as_ref().is_some_and(|execution| execution.ended != execution.recorded);
    let verdict = match finding.verdict {
        Verdict::Confirmed if ended_otherwise => 0,
        Verdict::Confirmed => 1,
        Verdict::Feasible => 2,
        Verdict::Plausible => 3,
        Verdict::Possible => 4,
        Verdict::Unknown => 5,
        Verdict::Infeasible => 6,
    };
    match finding.harm {
        Some("benign") => u8::MAX,
        Some(harm) => HARMS.iter().position(|known| *known == harm).unwrap_or(HARMS.len()) as u8,
        None => HARMS.len() as u8 + 1 + verdict,
    }
}

/// Puts the most harmful first, and else keeps the order.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(rank);
}

/// Findings about one variable in one kind of region, the most harmful first, in groups of which the most harmful
/// comes first, too.
pub(crate) fn groups(findings: &[Finding]) -> Vec<Vec<&Finding>> {
    let mut groups: Vec<Vec<&Finding>> = Vec::new();
    let mut places = rustc_hash::FxHashMap::default();
    for finding in findings {
        let region = &finding.region;
        let local = finding.events.first().and_then(|event| event.function.as_deref());
        let cause = (&finding.variable.name, region.source, region.name.as_deref().or(local));
        let at = *places.entry(cause).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[at].push(finding);
    }
    for group in &mut groups {
        group.sort_by_key(|finding| rank(finding));
    }
    groups.sort_by_key(|group| group.iter().map(|finding| rank(finding)).min());
    groups
}

#[cfg(test)]
mod tests {
    use super::{groups, rank};
    use crate::result::{Finding, Verdict};
    use crate::testing;

    fn finding(variable: &str, verdict: Verdict, harm: Option<&'static str>) -> Finding {
        let mut finding = Finding { verdict, harm, ..testing::finding() };
        finding.variable.name = variable.to_owned();
        finding
    }

    #[test]
    fn harm_goes_before_verdicts_and_benign_comes_last() {
        let confirmed = |harm| finding("x", Verdict::Confirmed, harm);
        let order = [
            confirmed(Some("crash")),
            confirmed(Some("hang")),
            confirmed(Some("state")),
            confirmed(None),
            finding("x", Verdict::Feasible, None),
            finding("x", Verdict::Unknown, None),
            finding("x", Verdict::Infeasible, None),
            confirmed(Some("benign")),
        ];
        assert!(order.iter().map(rank).is_sorted_by(|one, next| one < next));
    }

    #[test]
    fn one_cause_is_one_group() {
        let findings = [
            finding("x", Verdict::Feasible, None),
            finding("y", Verdict::Feasible, None),
            finding("x", Verdict::Confirmed, Some("crash")),
        ];
        let names: Vec<Vec<_>> = groups(&findings)
            .iter()
            .map(|group| group.iter().map(|f| (f.variable.name.as_str(), f.verdict)).collect())
            .collect();
        assert_eq!(names, [vec![("x", Verdict::Confirmed), ("x", Verdict::Feasible)], vec![("y", Verdict::Feasible)]]);
    }
}
