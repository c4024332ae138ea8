//! Names as the source has them.
//!
//! Functions are given without parameters and return type: the line says which of several overloads it
//! is, and `bank::Account::withdraw` is what people say. Template arguments stay.

use std::fmt::{self, Write};

/// No longer name is built. Mangled names refer back to their own parts, so that a short one can stand
/// for gigabytes.
const MAX_LEN: usize = 16 * 1024;

/// The name that a linker symbol stands for. What is not mangled comes back as it is, without what
/// compilers and linkers append (`.part.0`, `@@VERSION`).
pub(crate) fn pretty(symbol: &str) -> String {
    demangle(symbol).unwrap_or_else(|| without_suffix(symbol).to_owned())
}

/// The name that a mangled symbol stands for, if it is one.
pub(crate) fn demangle(symbol: &str) -> Option<String> {
    if symbol.starts_with("_R") || is_legacy_rust(symbol) {
        let name = rustc_demangle::try_demangle(symbol).ok()?;
        let mut text = Bounded(String::new());
        write!(text, "{name:#}").ok()?;
        return Some(text.0);
    }
    if !symbol.starts_with("_Z") {
        return None;
    }
    let parsed = cpp_demangle::Symbol::new(without_suffix(symbol)).ok()?;
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let mut text = Bounded(String::new());
    parsed.structured_demangle(&mut text, &options).ok()?;
    Some(without_inner_parameters(&text.0))
}

/// The demangler leaves out parameters at the end only; those of functions that something is inside of
/// are still there: `next(int)::count`, `next(int) const::count`. Of lambdas it
/// says that they are `const`, of other functions not.
fn without_inner_parameters(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    // Where each open parenthesis is in `short`.
    let mut open = Vec::new();
    let mut rest = name;
    while let Some(at) = rest.find(['(', ')']) {
        let (before, from) = rest.split_at(at);
        short.push_str(before);
        rest = &from[1..];
        if from.starts_with('(') {
            open.push(short.len());
            short.push('(');
            continue;
        }
        short.push(')');
        let Some(start) = open.pop() else { continue };
        let behind = rest.strip_prefix(" const").unwrap_or(rest);
        let is_other = short[start..] == *"(anonymous namespace)" || short[..start].ends_with("decltype");
        if behind.starts_with("::") && !is_other {
            short.truncate(start);
            rest = behind;
        }
    }
    short.push_str(rest);
    let len = short.strip_suffix(" const").unwrap_or(&short).len();
    short.truncate(len);
    short
}

/// Rust once borrowed the names of C++, and added a hash: `_ZN4core3fmt17h0123456789abcdefE`.
fn is_legacy_rust(symbol: &str) -> bool {
    let Some(at) = symbol.rfind("17h") else { return false };
    let hash = symbol.as_bytes().get(at + 3..at + 20);
    symbol.starts_with("_ZN")
        && hash.is_some_and(|hash| hash[..16].iter().all(u8::is_ascii_hexdigit) && hash[16] == b'E')
}

fn without_suffix(symbol: &str) -> &str {
    match symbol.find(['.', '@']) {
        Some(at) if at > 0 => &symbol[..at],
        _ => symbol,
    }
}

/// Text up to [`MAX_LEN`].
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > MAX_LEN {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        for (symbol, name) in [
            ("main", "main"),
            ("withdraw.part.0", "withdraw"),
            ("calls.0", "calls"),
            ("pthread_create@@GLIBC_2.34", "pthread_create"),
            ("_ZN4bank7Account8withdrawEi", "bank::Account::withdraw"),
            ("_ZN4bank7Account8withdrawEi.cold", "bank::Account::withdraw"),
            ("_ZNK4bank7Account7balanceEv", "bank::Account::balance"),
            ("_ZN12_GLOBAL__N_16hiddenE", "(anonymous namespace)::hidden"),
            ("_ZZL7stat_fniE5calls", "stat_fn::calls"),
            ("_ZZN4bank3BoxIlE3getEvE4last", "bank::Box<long>::get::last"),
            ("_ZZNK3Box3getESt8functionIFviEEE4last", "Box::get::last"),
            ("_ZZN12_GLOBAL__N_14nextEvE5count", "(anonymous namespace)::next::count"),
            ("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()"),
            ("_Z5twiceIiET_S0_", "twice<int>"),
            ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_Znonsense", "_Znonsense"),
            (".hidden", ".hidden"),
            ("", ""),
        ] {
            assert_eq!(pretty(symbol), name, "{symbol}");
        }
    }

    #[test]
    fn a_name_that_doubles_itself_is_not_built() {
        // Each argument is a pair of the one before.
        let mut symbol = "_Z1fI1pIiiE".to_owned();
        for previous in ["S0_", "S1_", "S2_", "S3_", "S4_", "S5_", "S6_", "S7_", "S8_", "S9_", "SA_", "SB_", "SC_"] {
            symbol.push_str(&format!("1pI{previous}{previous}E"));
        }
        symbol.push_str("Evv");
        assert!(pretty(&symbol).len() <= MAX_LEN);
    }
}
