//! What the program learns from outside, and what may be something else the next time: it is logged, with where it
//! comes from. Whoever compares two runs finds the cause of a difference there.
//!
//! What is made the same in every run is not logged: time, random numbers, the processor's number. Nor is what
//! the program is started with (arguments, environment), which is the same for every run of a recording.
//!
//! *What is missed:* what the processor tells by instructions of its own (`rdtsc`, `rdrand`, `cpuid`), memory that
//! another process writes to, and the order in which signals come, for which there are notices.

use crate::call::Call;
use crate::log::{self, header};
use crate::sys::syscall;
use crate::thread::{Guarded, Thread, load};
use hashbrown::HashMap;
use interloper_wire::Kind;
use libc::c_int;
use rustc_hash::FxBuildHasher;

/// The keys of sources whose names are in the log already. Guarded by the token.
static KNOWN: Guarded<HashMap<Box<[u8]>, usize, FxBuildHasher>> = Guarded::new(HashMap::with_hasher(FxBuildHasher));

/// The program has been told a number of `size` bytes.
pub(crate) unsafe fn number(thread: &mut Thread, source: &str, value: u64, size: usize, pc: usize) {
    // SAFETY: as the caller's, who has the token.
    unsafe { append(thread, source.as_bytes(), size, value, pc) };
}

/// The program has been told something of `size` bytes that does not fit into a record.
pub(crate) unsafe fn structure(thread: &mut Thread, source: &str, size: usize, pc: usize) {
    debug_assert!(size > 8);
    // SAFETY: as the caller's, who has the token.
    unsafe { append(thread, source.as_bytes(), size, 0, pc) };
}

/// The program has read `len` bytes from a file to an address, if that is not negative.
///
/// Random numbers are put in the place of those that the system has. To be called before what was read is looked at.
pub(crate) unsafe fn from_file(call: &mut Call, file: c_int, address: usize, len: isize, pc: usize) {
    let Ok(len) = usize::try_from(len) else { return };
    let mut room = [0; ROOM];
    // SAFETY: a `Call` is proof of the token; the system has just filled the place in.
    unsafe {
        let name = name_of(file, &mut room);
        if is_random(name) {
            crate::random::fill(address as *mut _, len);
            return;
        }
        append(call, name, len, if len == 0 { 0 } else { load(address, len.min(8)) }, pc);
    }
}

/// Whether the file of this name is made of random numbers.
pub(crate) fn is_random(name: &[u8]) -> bool {
    matches!(name, b"/dev/urandom" | b"/dev/random")
}

unsafe fn append(thread: &mut Thread, source: &[u8], size: usize, first: u64, pc: usize) {
    // SAFETY: the caller has the token.
    unsafe {
        let known = KNOWN.get();
        let key = match known.get(source) {
            Some(key) => *key,
            None => {
                // Names of regions go by their addresses, which are never that low.
                let key = known.len() + 1;
                known.insert(source.into(), key);
                log::append_text(header(Kind::Text, key, 0), [], source);
                key
            }
        };
        thread.log(Kind::Input, key, pc, [size as u64, first]);
    }
}

/// How long the names of files may be; longer ones are cut.
const ROOM: usize = 1024;

/// What a file goes by: the same in every run, if it is the same.
fn name_of(file: c_int, room: &mut [u8; ROOM]) -> &[u8] {
    if file == 0 {
        return b"stdin";
    }
    let mut path = *b"/proc/self/fd/\0\0\0\0\0\0\0\0\0\0\0";
    write_number(&mut path[14..], file.unsigned_abs());
    // SAFETY: both live through the call, and the path ends with a zero byte.
    let len = unsafe { syscall!(libc::SYS_readlink, path.as_ptr(), room.as_mut_ptr(), ROOM) };
    let Some(len) = usize::try_from(len).ok() else { return b"file" };
    if room.starts_with(b"/proc/") {
        let len = without_own_numbers(room, len);
        return &room[..len];
    }
    let name = &room[..len];
    // Pipes, sockets and files without a name have numbers that are others in every run.
    if name.starts_with(b"pipe:") {
        return b"pipe";
    }
    if name.starts_with(b"socket:") {
        return b"socket";
    }
    if name.starts_with(b"/dev/pts/") || name == b"/dev/tty" {
        return b"terminal";
    }
    if name.ends_with(b" (deleted)") {
        return b"unnamed file";
    }
    name.strip_prefix(b"anon_inode:").unwrap_or(name)
}

/// Writes `self` in place of what this process goes by in `/proc`, and `thread` in place of a thread of it; how long the
/// path then is.
fn without_own_numbers(room: &mut [u8; ROOM], len: usize) -> usize {
    // SAFETY: no arguments.
    let process = unsafe { syscall!(libc::SYS_getpid) } as u32;
    let len = replace_number(room, len, b"/proc/".len(), b"self", |number| number == process);
    let task = b"/proc/self/task/";
    if room[..len].starts_with(task) { replace_number(room, len, task.len(), b"thread", |_| true) } else { len }
}

/// Writes a word in place of the number at this position, if there is one like that; how long the path then is.
fn replace_number(room: &mut [u8; ROOM], len: usize, at: usize, word: &[u8], is_it: impl Fn(u32) -> bool) -> usize {
    let digits = room[at..len].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&room[at..at + digits]).ok().and_then(|digits| digits.parse().ok());
    let new_len = len - digits + word.len();
    if !number.is_some_and(is_it) || new_len > ROOM {
        return len;
    }
    room.copy_within(at + digits..len, at + word.len());
    room[at..at + word.len()].copy_from_slice(word);
    new_len
}

/// Writes a number in decimal digits, for which there is room.
fn write_number(place: &mut [u8], number: u32) {
    let digits = number.checked_ilog10().unwrap_or(0) as usize + 1;
    let mut rest = number;
    for digit in place[..digits].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

/// Exports functions that tell a number of the system's. It is no reason to switch.
macro_rules! tells_number {
    ($($name:ident = $source:literal, $call:expr;)*) => {$(
        const _: () = {
            unsafe extern "C-unwind" fn implementation(pc: usize) -> libc::pid_t {
                // SAFETY: no arguments; a `Call` is proof of the token.
                unsafe {
                    let id = syscall!($call) as libc::pid_t;
                    if let Some(mut call) = Call::enter_quietly() {
                        number(&mut call, $source, u64::from(id.unsigned_abs()), size_of_val(&id), pc);
                    }
                    id
                }
            }
            crate::call::export_with_pc! { fn $name / 0 = implementation; }
        };
    )*};
}

tells_number! {
    getpid = "pid", libc::SYS_getpid;
    getppid = "pid", libc::SYS_getppid;
    gettid = "tid", libc::SYS_gettid;
}
