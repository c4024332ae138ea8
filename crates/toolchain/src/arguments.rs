//! What a compiler command line asks for.
//!
//! Only as much is understood as decides what to add: which stage is the last, whether anything is
//! compiled, and the few options that bear on instrumentation. Options are those of gcc and clang
//! together; an option unknown here is taken for one without a separate value, and at worst its value
//! for an input of the linker.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// The last stage that a command line runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// None: it asks the compiler about itself (`--version`, `-print-…`, `-v`), or is a mistake that
    /// the compiler should report in its own words.
    Nothing,
    /// `-E`, `-M`, `-MM`.
    Preprocess,
    /// `-c`, `-S`, `-fsyntax-only`, or headers only: anything short of the linker.
    Compile,
    /// The linker.
    Link,
}

/// What was found out about a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) stage: Stage,
    /// Some input is C, C++ or Objective-C, preprocessed or not.
    pub(crate) has_source: bool,
    /// Debug information is asked for, and not revoked after.
    pub(crate) debug: bool,
    /// The last word on `-fsanitize=thread`, if any was said.
    pub(crate) thread_sanitizer: Option<bool>,
    /// An option that makes a static program.
    pub(crate) static_link: Option<&'static str>,
    /// An option that asks for code that is not for x86-64.
    pub(crate) other_architecture: Option<&'static str>,
    /// The default libraries are not wanted (`-nostdlib`, `-nodefaultlibs`, `-r`), so neither is ours.
    pub(crate) bare_link: bool,
    /// Where further options can go: before a `--`, which makes everything after it an input.
    pub(crate) options_end: usize,
    /// Arguments that our own options replace: their place, and what is left of them.
    pub(crate) replaced: Vec<(usize, Option<OsString>)>,
}

impl Request {
    /// The arguments it was made of, without what our own options replace, and split where further
    /// options can go.
    pub(crate) fn without_replaced(&self, arguments: &[OsString]) -> (Vec<OsString>, Vec<OsString>) {
        let mut before = Vec::with_capacity(arguments.len());
        let mut replaced = self.replaced.iter().peekable();
        for (at, argument) in arguments[..self.options_end].iter().enumerate() {
            match replaced.next_if(|(place, _)| *place == at) {
                Some((_, left)) => before.extend(left.clone()),
                None => before.push(argument.clone()),
            }
        }
        (before, arguments[self.options_end..].to_vec())
    }
}

/// Looks through arguments whose response files have been expanded.
pub(crate) fn understand(arguments: &[OsString]) -> Request {
    let mut request = Request {
        stage: Stage::Nothing,
        has_source: false,
        debug: false,
        thread_sanitizer: None,
        static_link: None,
        other_architecture: None,
        bare_link: false,
        options_end: arguments.len(),
        replaced: Vec::new(),
    };
    let (mut preprocess, mut compile_only) = (false, false);
    let (mut inputs, mut headers) = (0, 0);
    let mut language = None;
    let mut input = |name: &[u8], language: Option<Input>, request: &mut Request| {
        inputs += 1;
        let kind = language.unwrap_or_else(|| Input::of_file(name));
        headers += usize::from(kind == Input::Header);
        request.has_source |= matches!(kind, Input::Source | Input::Header);
    };

    let mut rest = arguments.iter().enumerate();
    while let Some((at, argument)) = rest.next() {
        let argument = argument.as_bytes();
        if !argument.starts_with(b"-") || argument == b"-" {
            input(argument, language, &mut request);
            continue;
        }
        match argument {
            b"--" => {
                request.options_end = at;
                rest.by_ref().for_each(|(_, name)| input(name.as_bytes(), language, &mut request));
                break;
            }
            b"-E" | b"-M" | b"-MM" | b"--preprocess" => preprocess = true,
            b"-c" | b"-S" | b"-fsyntax-only" | b"--compile" | b"--assemble" => compile_only = true,
            b"-static" | b"--static" => request.static_link = Some("-static"),
            b"-static-pie" => request.static_link = Some("-static-pie"),
            b"-m32" => request.other_architecture = Some("-m32"),
            b"-mx32" => request.other_architecture = Some("-mx32"),
            b"-m64" => request.other_architecture = None,
            b"-nostdlib" | b"-nodefaultlibs" | b"-r" => request.bare_link = true,
            b"-x" => language = rest.next().and_then(|(_, name)| Input::of_language(name.as_bytes())),
            _ if argument.starts_with(b"-x") => language = Input::of_language(&argument[2..]),
            // A library alone is something to link, too.
            b"-l" => {
                rest.next();
                input(b"", Some(Input::Object), &mut request);
            }
            _ if argument.starts_with(b"-l") => input(b"", Some(Input::Object), &mut request),
            _ if argument.starts_with(b"-g") => note_debug(argument, &mut request),
            _ if argument.starts_with(b"-fsanitize=") || argument.starts_with(b"-fno-sanitize=") => {
                note_sanitizer(at, argument, &mut request);
            }
            // A stripped program cannot be described.
            b"-s" => request.replaced.push((at, None)),
            _ if takes_value(argument) => drop(rest.next()),
            _ => {}
        }
    }

    if inputs > 0 {
        request.stage = if preprocess {
            Stage::Preprocess
        } else if compile_only || headers == inputs {
            Stage::Compile
        } else {
            Stage::Link
        };
    }
    request
}

/// What an input is, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Source,
    /// To be precompiled: a source, but never linked.
    Header,
    /// Not compiled by a compiler that instruments.
    Other,
    Object,
}

impl Input {
    fn of_file(name: &[u8]) -> Input {
        let base = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
        let Some(dot) = base.iter().rposition(|&byte| byte == b'.') else {
            return if base == b"-" { Input::Source } else { Input::Object };
        };
        match &base[dot + 1..] {
            b"c" | b"i" | b"ii" | b"cc" | b"cp" | b"cxx" | b"cpp" | b"CPP" | b"c++" | b"C" | b"m" | b"mi" | b"mm"
            | b"M" | b"mii" | b"cppm" | b"ixx" => Input::Source,
            b"h" | b"hh" | b"H" | b"hp" | b"hxx" | b"hpp" | b"HPP" | b"h++" | b"tcc" => Input::Header,
            b"s" | b"S" | b"sx" => Input::Other,
            _ => Input::Object,
        }
    }

    /// By the value of `-x`; none for `none`, after which names decide again.
    fn of_language(name: &[u8]) -> Option<Input> {
        match name {
            b"none" => None,
            b"assembler" | b"assembler-with-cpp" => Some(Input::Other),
            _ if name.ends_with(b"-header") => Some(Input::Header),
            _ => Some(Input::Source),
        }
    }
}

fn note_debug(argument: &[u8], request: &mut Request) {
    match &argument[2..] {
        b"0" | b"gdb0" => request.debug = false,
        // These say how debug information is to look, not whether there is any.
        b"split-dwarf" | b"pubnames" | b"gnu-pubnames" => {}
        rest if rest.starts_with(b"no-") || rest.starts_with(b"z") || rest.starts_with(b"cc-") => {}
        rest if rest.starts_with(b"record-") || rest.starts_with(b"column-") || rest.starts_with(b"as-") => {}
        _ => request.debug = true,
    }
}

/// Takes `thread` out of what is asked for as well: gcc would link its own runtime.
fn note_sanitizer(at: usize, argument: &[u8], request: &mut Request) {
    let on = argument.starts_with(b"-fsanitize=");
    let list = argument.splitn(2, |&byte| byte == b'=').nth(1).unwrap_or_default();
    let names = || list.split(|&byte| byte == b',');
    if names().any(|name| name == b"thread" || (name == b"all" && !on)) {
        request.thread_sanitizer = Some(on);
        if on {
            let others: Vec<&[u8]> = names().filter(|&name| name != b"thread").collect();
            let left = (!others.is_empty()).then(|| [b"-fsanitize=", &others.join(&b',')[..]].concat());
            request.replaced.push((at, left.map(OsString::from_vec)));
        }
    }
}

/// Options whose value is the next argument when nothing is joined to them.
fn takes_value(option: &[u8]) -> bool {
    const WITH_VALUE: &[&str] = &[
        "--param",
        "--sysroot",
        "--target",
        "--output",
        "--include",
        "-A",
        "-B",
        "-D",
        "-G",
        "-I",
        "-L",
        "-MF",
        "-MJ",
        "-MQ",
        "-MT",
        "-R",
        "-T",
        "-Tbss",
        "-Tdata",
        "-Ttext",
        "-U",
        "-V",
        "-Xanalyzer",
        "-Xassembler",
        "-Xclang",
        "-Xlinker",
        "-Xpreprocessor",
        "-arch",
        "-aux-info",
        "-b",
        "-dumpbase",
        "-dumpbase-ext",
        "-dumpdir",
        "-e",
        "-gcc-toolchain",
        "-h",
        "-idirafter",
        "-imacros",
        "-imultilib",
        "-include",
        "-include-pch",
        "-iprefix",
        "-iquote",
        "-isysroot",
        "-isystem",
        "-ivfsoverlay",
        "-iwithprefix",
        "-iwithprefixbefore",
        "-mllvm",
        "-o",
        "-serialize-diagnostics",
        "-target",
        "-u",
        "-wrapper",
        "-z",
    ];
    WITH_VALUE.iter().any(|known| known.as_bytes() == option)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Request {
        understand(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_last_stage_is_told() {
        let cases = [
            ("", Stage::Nothing),
            ("--version", Stage::Nothing),
            ("-v", Stage::Nothing),
            ("-print-search-dirs", Stage::Nothing),
            ("-o a.c", Stage::Nothing),
            ("-Wl,--version", Stage::Nothing),
            ("a.c", Stage::Link),
            ("a.o -o a", Stage::Link),
            ("-shared a.o -o a.so", Stage::Link),
            ("-lfoo", Stage::Link),
            ("-l foo", Stage::Link),
            ("-c a.c", Stage::Compile),
            ("a.c -S", Stage::Compile),
            ("-fsyntax-only a.c", Stage::Compile),
            ("a.h", Stage::Compile),
            ("-x c++-header a.hpp -o a.gch", Stage::Compile),
            ("a.h a.c", Stage::Link),
            ("-E -", Stage::Preprocess),
            ("-c -E a.c", Stage::Preprocess),
            ("-MM a.c", Stage::Preprocess),
            ("-MD -MF a.d -c a.c", Stage::Compile),
            ("-x c -", Stage::Link),
            ("-c -- a.c", Stage::Compile),
        ];
        for (line, stage) in cases {
            assert_eq!(of(line).stage, stage, "{line}");
        }
    }

    #[test]
    fn sources_are_told_from_what_is_only_linked() {
        let cases = [
            ("a.c", true),
            ("dir.d/a.cpp", true),
            ("-", true),
            ("a.o b.a c.so d.so.1 script", false),
            ("-c a.S", false),
            ("-x c conf", true),
            ("-xc++ conf", true),
            ("-x c a.txt -x none b.o", true),
            ("-x assembler-with-cpp a.c", false),
            ("-include a.c -I b.c -o c.c -Xlinker d.c -MF e.c x.o", false),
            ("x.o -- a.c", true),
        ];
        for (line, has_source) in cases {
            assert_eq!(of(line).has_source, has_source, "{line}");
        }
    }

    #[test]
    fn debug_information_is_noticed() {
        let cases = [
            ("-g a.c", true),
            ("-ggdb3 a.c", true),
            ("-gdwarf-4 a.c", true),
            ("-g -g0 a.c", false),
            ("-gsplit-dwarf a.c", false),
            ("-gz -gno-column-info a.c", false),
            ("-o -g a.c", false),
            ("a.c", false),
        ];
        for (line, debug) in cases {
            assert_eq!(of(line).debug, debug, "{line}");
        }
    }

    #[test]
    fn what_bears_on_instrumentation_is_noticed() {
        assert_eq!(of("-fsanitize=undefined,thread a.c").thread_sanitizer, Some(true));
        assert_eq!(of("-fsanitize=thread -fno-sanitize=all a.c").thread_sanitizer, Some(false));
        assert_eq!(of("-fno-sanitize=thread -fsanitize=thread a.c").thread_sanitizer, Some(true));
        assert_eq!(of("-fsanitize=address a.c").thread_sanitizer, None);
        assert_eq!(of("-static a.c").static_link, Some("-static"));
        assert_eq!(of("-Xlinker -static a.c").static_link, None);
        assert_eq!(of("-m32 a.c").other_architecture, Some("-m32"));
        assert_eq!(of("-m32 -m64 a.c").other_architecture, None);
        assert!(of("-r a.o b.o").bare_link && of("-nostdlib a.o").bare_link);
        assert!(!of("-nostartfiles a.o").bare_link);
    }

    #[test]
    fn options_go_before_the_double_dash() {
        assert_eq!(of("-c -- a.c").options_end, 1);
        assert_eq!(of("-o -- a.c").options_end, 3);
    }

    #[test]
    fn what_we_replace_is_taken_out() {
        let left = |line: &str| {
            let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let (before, after) = understand(&arguments).without_replaced(&arguments);
            let text = |words: Vec<OsString>| words.join(" ".as_ref()).into_string().expect("UTF-8");
            (text(before), text(after))
        };
        let pair = |before: &str, after: &str| (before.to_owned(), after.to_owned());
        assert_eq!(left("-s -fsanitize=thread a.c"), pair("a.c", ""));
        assert_eq!(left("-fsanitize=undefined,thread a.c"), pair("-fsanitize=undefined a.c", ""));
        assert_eq!(left("-fsanitize=undefined -shared a.c"), pair("-fsanitize=undefined -shared a.c", ""));
        assert_eq!(left("-Xlinker -s -o -fsanitize=thread"), pair("-Xlinker -s -o -fsanitize=thread", ""));
        assert_eq!(left("-s -c -- -s"), pair("-c", "-- -s"));
    }
}
