//! How the runtime begins and ends.
//!
//! Whether there is a recorder is found out at the first opportunity, which may be a call of `malloc` long before
//! anything of the program runs. What the recorder wants done begins with this library's constructor, which comes
//! before the program's own, and ends with its destructor, which comes after them.

use crate::clock;
use crate::current::{current, set_current};
use crate::log::{self, header};
use crate::memory::CONTROL;
use crate::scheduler;
use crate::shadow;
use crate::sync::threads;
use crate::sys::{self, syscall};
use crate::thread::Guarded;
use interloper_wire::{CLAIM_AT, Kind, Notice, RecordHeader, SETTINGS_LEN, SegmentEnd, Settings, VARIABLE};
use libc::{c_int, c_void};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering::*};

/// Nothing is known yet.
const UNKNOWN: u8 = 0;
/// There is no recorder, or not for this process.
const OFF: u8 = 1;
/// There is one, and the shared file is mapped.
const ON: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
static SETTINGS: Guarded<Option<Settings>> = Guarded::new(None);
/// On which processors the program may run; it is kept on one.
static PROCESSORS: Guarded<[u64; 16]> = Guarded::new([0; 16]);

/// Where the program's own code is: not that of libraries.
static PROGRAM: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// Whether a place is in the program's own code.
#[inline]
pub(crate) fn is_programs(place: usize) -> bool {
    place >= PROGRAM[0].load(Relaxed) && place < PROGRAM[1].load(Relaxed)
}

/// Whether this process is being recorded.
#[inline]
pub(crate) fn is_recording() -> bool {
    match STATE.load(Relaxed) {
        UNKNOWN => attach(),
        state => state == ON,
    }
}

/// Looks for a recorder.
#[cold]
fn attach() -> bool {
    let settings = control_file().and_then(map_control);
    // SAFETY: the program has one thread yet.
    unsafe { *SETTINGS.get() = settings };
    STATE.store(if settings.is_some() { ON } else { OFF }, Relaxed);
    settings.is_some()
}

/// The number of the shared file, from the environment. That of libc may not be there yet, so the kernel's is
/// read, in pieces, with nothing but system calls.
fn control_file() -> Option<usize> {
    // SAFETY: the buffers live through the calls.
    unsafe {
        let file = syscall!(libc::SYS_open, c"/proc/self/environ".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC, 0);
        if file < 0 {
            return None;
        }
        let mut found = None;
        let mut entry = [0u8; VARIABLE.len() + 1 + 16];
        let mut len = 0;
        let mut buffer = [0u8; 512];
        'reading: loop {
            let read = syscall!(libc::SYS_read, file, buffer.as_mut_ptr(), buffer.len());
            if read <= 0 {
                break;
            }
            for &byte in &buffer[..read as usize] {
                if byte != 0 {
                    if len < entry.len() {
                        entry[len] = byte;
                        len += 1;
                    }
                    continue;
                }
                if let Some(value) = entry[..len].strip_prefix(VARIABLE.as_bytes())
                    && let Some(digits) = value.strip_prefix(b"=")
                {
                    found = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
                    break 'reading;
                }
                len = 0;
            }
        }
        syscall!(libc::SYS_close, file);
        found
    }
}

fn map_control(file: usize) -> Option<Settings> {
    let mut start = [0u8; 256];
    const _: () = assert!(SETTINGS_LEN >= 256);
    // SAFETY: the buffer lives through the call; what is mapped is a file of the recorder's, at a place that is free.
    unsafe {
        let read = syscall!(libc::SYS_pread64, file, start.as_mut_ptr(), start.len(), 0);
        let settings = Settings::from_bytes(start.get(..usize::try_from(read).ok()?)?)?;
        let flags = libc::MAP_SHARED | libc::MAP_FIXED_NOREPLACE;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let place = syscall!(libc::SYS_mmap, CONTROL, settings.file_len, protection, flags, file, 0);
        if place as usize != CONTROL {
            sys::complain("interloper: the recorder's memory cannot be mapped; the program runs unrecorded\n");
            return None;
        }
        // The first process that gets here is recorded, its children are not.
        let claim = &*((CONTROL + CLAIM_AT) as *const AtomicU32);
        if claim.swap(1, AcqRel) != 0 {
            syscall!(libc::SYS_munmap, CONTROL, settings.file_len);
            return None;
        }
        // Mapped is enough; the program shall find the files it expects, and no others.
        syscall!(libc::SYS_close, file);
        Some(settings)
    }
}

/// This library's constructor.
extern "C" fn begin() {
    if !is_recording() {
        return;
    }
    // SAFETY: the program has one thread yet.
    unsafe {
        let Some(settings) = SETTINGS.get() else { return };
        log::begin(settings);
        clock::begin(settings.start_time);
        if !shadow::begin(settings) {
            scheduler::notice(Notice::NoShadow, [0; 3], b"");
            STATE.store(OFF, Relaxed);
            return;
        }
        let main = &mut *threads::new_thread();
        (main.stack_end, main.stack_top) = main_stack();
        main.inside = 1;
        scheduler::begin(settings, main);
        shadow::meet(main);
        threads::begin(main);
        crate::random::begin(settings.seed);
        log_modules();
        let words = [0, 0, main.stack_top as u64, main.stack_end as u64];
        log::append(header(Kind::Thread, 0, 0), words);
        log::append(header(Kind::Start, 0, 0), []);
        libc::pthread_atfork(None, None, Some(in_child));
        stay_on_one_processor();
        set_current(main);
        main.inside = 0;
    }
}

/// This library's destructor.
extern "C" fn end() {
    let thread = current();
    if thread.is_null() || STATE.load(Relaxed) != ON {
        return;
    }
    // SAFETY: the running thread, which has the token.
    unsafe { end_log(&mut *thread) };
}

/// The last thing that is logged; the program may still go on for a moment.
pub(crate) unsafe fn end_log(thread: &mut crate::thread::Thread) {
    // SAFETY: the running thread, which has the token.
    unsafe {
        thread.inside = 1;
        thread.settle();
        scheduler::before_end(thread);
        let record = RecordHeader { aux: SegmentEnd::Finished as u16, ..header(Kind::End, 0, 0) };
        log::append(record, [thread.steps()]);
        set_current(std::ptr::null_mut());
        STATE.store(OFF, Relaxed);
    }
}

// SAFETY: functions that take nothing, as the loader expects.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

// SAFETY: as above.
#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;

/// Called by the constructors of instrumented modules; ours has run by then.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_init() {}

unsafe extern "C" {
    static __libc_stack_end: *const c_void;
}

/// Where the first thread's stack ends, and its top.
fn main_stack() -> (usize, usize) {
    let mut limit = [0u64; 2];
    // SAFETY: the kernel fills in two words; glibc sets the variable before anything else.
    unsafe {
        syscall!(libc::SYS_getrlimit, libc::RLIMIT_STACK, limit.as_mut_ptr());
        // Not the end of the mapping: what is above depends on the length of the environment.
        let top = __libc_stack_end as usize;
        let len = usize::try_from(limit[0]).unwrap_or(usize::MAX).min(1 << 30);
        (top - len, top)
    }
}

/// Handing the token over is cheaper on one processor than between two. Nobody runs at the same time anyway.
unsafe fn stay_on_one_processor() {
    // SAFETY: the buffers live through the calls.
    unsafe {
        let all = PROCESSORS.get();
        let len = syscall!(libc::SYS_sched_getaffinity, 0, size_of_val(all), all.as_mut_ptr());
        let mut processor = 0u32;
        let got = syscall!(libc::SYS_getcpu, &raw mut processor, 0, 0);
        if len > 0 && got == 0 && (processor as usize) < 64 * all.len() {
            let mut one = [0u64; 16];
            one[processor as usize / 64] = 1 << (processor % 64);
            syscall!(libc::SYS_sched_setaffinity, 0, size_of_val(&one), one.as_ptr());
        }
    }
}

/// On which processors the program believes that it may run.
pub(crate) fn processors() -> [u64; 16] {
    // SAFETY: not changed after the beginning.
    unsafe { *PROCESSORS.get() }
}

/// In the child of a fork: it is not recorded, and may run where it likes.
unsafe extern "C" fn in_child() {
    if STATE.swap(OFF, Relaxed) == ON {
        set_current(std::ptr::null_mut());
        let all = processors();
        // SAFETY: the buffer lives through the call.
        unsafe { syscall!(libc::SYS_sched_setaffinity, 0, size_of_val(&all), all.as_ptr()) };
    }
}

/// Logs which modules are loaded where, of those that were not logged before.
pub(crate) unsafe fn log_modules() {
    static LOGGED: Guarded<Vec<usize>> = Guarded::new(Vec::new());
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, _data: *mut c_void) -> c_int {
        // SAFETY: the loader passes valid data; the caller of `log_modules` has the token.
        unsafe {
            let info = &*info;
            let logged = LOGGED.get();
            let (mut low, mut high) = (usize::MAX, 0);
            for number in 0..usize::from(info.dlpi_phnum) {
                let part = &*info.dlpi_phdr.add(number);
                if part.p_type == libc::PT_LOAD {
                    let start = info.dlpi_addr as usize + part.p_vaddr as usize;
                    low = low.min(start);
                    high = high.max(start + part.p_memsz as usize);
                }
            }
            if low < high && !logged.contains(&low) {
                logged.push(low);
                let name = std::ffi::CStr::from_ptr(info.dlpi_name).to_bytes();
                let mut path = [0u8; 4000];
                let name = if name.is_empty() {
                    if PROGRAM[1].load(Relaxed) == 0 {
                        PROGRAM[0].store(low, Relaxed);
                        PROGRAM[1].store(high, Relaxed);
                    }
                    let len = syscall!(libc::SYS_readlink, c"/proc/self/exe".as_ptr(), path.as_mut_ptr(), path.len());
                    &path[..usize::try_from(len).unwrap_or(0)]
                } else {
                    name
                };
                let record = header(Kind::Module, info.dlpi_addr as usize, 0);
                log::append_text(record, [low as u64, high as u64], name);
            }
        }
        0
    }
    // SAFETY: the visitor is of the right type.
    unsafe { libc::dl_iterate_phdr(Some(visit), std::ptr::null_mut()) };
}
