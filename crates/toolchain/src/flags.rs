//! The options that instrument a program without losing accesses.
//!
//! # What is claimed
//!
//! Compilers merge, move and drop accesses before they instrument them. That is sound for data races,
//! since a merged access races when the original did, but fatal for atomicity: a violation needs *two*
//! accesses of one thread. With these options every pair of accesses that `-O0` instruments is
//! instrumented at every level, at sites of their own; `tests/probe.rs` counts them.
//!
//! gcc instruments in the middle of its pipeline, so the passes that come before and touch accesses are
//! switched off one by one, and the user's `-O` stands otherwise. clang instruments at the end of its
//! pipeline, and the first pass of it (early CSE), which cannot be switched off, already merges
//! loads; so clang compiles with `-O0`.
//!
//! # What is missed
//!
//! - Reads whose value nobody uses.
//! - Two bit-fields of one word compared in one condition: read once.
//! - gcc: a structure passed or returned by value, and `__builtin_memset` and its like with a small
//!   constant size, when the source uses those names (libstdc++ does, in `std::fill` of bytes).
//! - A source that defines `_FORTIFY_SOURCE` itself: the same, for `memset` and `strcpy`.
//! - gcc: entry and exit of a function that was inlined, since that comes before instrumentation.
//! - clang: a C99 `inline` function that is nowhere declared `extern` may lack a definition at `-O0`.

use crate::choice::Family;

/// Keeps gcc's hands off accesses before it instruments them.
///
/// Leaving out any one of the first three groups shows in `tests/probe.rs` with gcc 12 at some level.
const GCC_KEEP_ACCESSES: &[&str] = &[
    // Merge two reads, or a write and a read after it, or drop a write that is overwritten.
    "-fno-tree-fre",
    "-fno-tree-pre",
    "-fno-tree-dse",
    "-fno-tree-dominator-opts",
    "-fno-code-hoisting",
    // Move an access to where it stands for several, or for another: past a merge, into a twin of the
    // function, into the caller.
    "-fno-tree-sink",
    "-fno-tree-cselim",
    "-fno-crossjumping",
    "-fno-ipa-icf",
    "-fno-ipa-sra",
    // Takes a structure apart and accesses it in pieces.
    "-fno-tree-sra",
    // Do the same work in shapes that the probe does not have, or in other versions of gcc: move an access
    // out of a loop, widen several into one, replace one by a copy.
    "-fno-tree-loop-im",
    "-fno-store-merging",
    "-fno-tree-vectorize",
    "-fno-ssa-phiopt",
    "-fno-tree-copy-prop",
];

/// C++ may assume that loops end; gcc 10 and later then drops one that only waits for a variable.
const GCC_KEEP_LOOPS: &str = "-fno-finite-loops";

/// gcc 11 and later warns that ThreadSanitizer does not understand fences, which breaks builds with
/// `-Werror`. Ours does.
const GCC_FENCES_ARE_FINE: &str = "-Wno-tsan";

/// Functions that gcc expands in place, out of sight of its own instrumentation.
///
/// Not among them are `strlen`, `strcmp` and `memcmp`: they would no longer be constant expressions,
/// which valid programs rely on, and other options keep gcc from expanding those.
const GCC_LIBRARY_CALLS: &[&str] = &[
    "-fno-builtin-memcpy",
    "-fno-builtin-memmove",
    "-fno-builtin-memset",
    "-fno-builtin-mempcpy",
    "-fno-builtin-bzero",
    "-fno-builtin-bcopy",
    "-fno-builtin-strcpy",
    "-fno-builtin-stpcpy",
    "-fno-builtin-strncpy",
    "-fno-builtin-stpncpy",
    "-fno-builtin-strcat",
    "-fno-builtin-strncat",
    "-fno-optimize-strlen",
    "--param=builtin-string-cmp-inline-length=0",
];

/// What gcc's own driver may not see: asked for thread sanitizing, it links its own runtime. The
/// compiler proper and the preprocessor (`-E`) get it by these specs instead. Each text ends in a blank,
/// since gcc joins what follows to it.
pub(crate) const GCC_SPECS: &str = "*cc1_options:\n+ -fsanitize=thread \n\n*cpp_options:\n+ -fsanitize=thread \n\n";

const CLANG_KEEP_ACCESSES: &[&str] = &[
    "-O0",
    "-fsanitize=thread",
    // Off by default, as a read before a write of the same place says nothing new about races.
    "-mllvm",
    "-tsan-instrument-read-before-write=1",
];

/// Options for the preprocessor.
///
/// The fortified versions of `memset` and its like are expanded in place even when the plain ones are
/// not; hence no `_FORTIFY_SOURCE`, in the one form that wins over `-D` and `-Wp,-D` alike.
pub(crate) const PREPROCESS: &[&str] = &["-D__INTERLOPER__=1", "-Wp,-U_FORTIFY_SOURCE"];

/// Options for the compiler proper, beyond those for the preprocessor, when it is to instrument.
pub(crate) fn instrument(family: Family, branches: bool) -> Vec<&'static str> {
    // With link-time optimization the merging passes run there, on options of their own.
    let mut flags = vec!["-fno-omit-frame-pointer", "-fno-lto"];
    match family {
        Family::Gcc { major } => {
            flags.extend(GCC_KEEP_ACCESSES);
            if major >= 10 {
                flags.push(GCC_KEEP_LOOPS);
            }
            if major >= 11 {
                flags.push(GCC_FENCES_ARE_FINE);
            }
            flags.extend(GCC_LIBRARY_CALLS);
        }
        Family::Clang => flags.extend(CLANG_KEEP_ACCESSES),
    }
    if branches {
        flags.push(match family {
            Family::Gcc { .. } => "-fsanitize-coverage=trace-pc",
            Family::Clang => "-fsanitize-coverage=trace-pc-guard",
        });
    }
    flags
}

/// Options that link our runtime before anything else, since calls to the C library are seen only where
/// it comes first. It is not "needed" by a program whose libraries alone are instrumented, hence the
/// state around it.
pub(crate) const LINK_FIRST: &[&str] = &["-Wl,--push-state,--no-as-needed", "-linterloper_rt", "-Wl,--pop-state"];
