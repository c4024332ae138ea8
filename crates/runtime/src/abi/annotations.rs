//! What programs say about themselves: regions meant to be atomic, locks of their own making.
//!
//! Fibers are accepted, but not told apart: all of a thread's fibers are that thread, and its functions are only
//! known as far as stack pointers tell.

use crate::call::Call;
use crate::log::{self, header};
use crate::sync::mutex::log_lock;
use crate::thread::Guarded;
use interloper_wire::{Kind, LockArg};
use libc::{c_char, c_int, c_uint, c_void};

/// Names of regions whose text is in the log already, by address. Guarded by the token.
static NAMED: Guarded<Vec<usize>> = Guarded::new(Vec::new());

unsafe fn region(kind: Kind, name: *const c_char, pc: usize) {
    let Some(mut call) = Call::enter_quietly() else { return };
    // SAFETY: a `Call` is proof of the token; the name is a string literal.
    unsafe {
        let named = NAMED.get();
        if !name.is_null() && !named.contains(&(name as usize)) {
            named.push(name as usize);
            let text = std::ffi::CStr::from_ptr(name).to_bytes();
            log::append_text(header(Kind::Text, name as usize, 0), [], text);
        }
        call.log(kind, name as usize, pc, []);
    }
}

unsafe extern "C" fn region_begin(name: *const c_char, pc: usize) {
    // SAFETY: as the program's call.
    unsafe { region(Kind::RegionBegin, name, pc) };
}

unsafe extern "C" fn region_end(name: *const c_char, pc: usize) {
    // SAFETY: as the program's call.
    unsafe { region(Kind::RegionEnd, name, pc) };
}

const READ_LOCK: c_uint = 1 << 3;
const TRY_LOCK: c_uint = 1 << 4;
const TRY_LOCK_FAILED: c_uint = 1 << 5;

fn lock_arg(flags: c_uint) -> u8 {
    (if flags & READ_LOCK != 0 { LockArg::SHARED } else { 0 }) | if flags & TRY_LOCK != 0 { LockArg::TRY } else { 0 }
}

unsafe extern "C" fn post_lock(lock: usize, flags: c_uint, _depth: c_int, pc: usize) {
    let Some(mut call) = Call::enter_quietly() else { return };
    let kind = if flags & TRY_LOCK_FAILED != 0 { Kind::TryFailed } else { Kind::Acquire };
    // SAFETY: a `Call` is proof of the token.
    unsafe { log_lock(&mut call, kind, lock_arg(flags), lock, pc) };
}

unsafe extern "C" fn pre_unlock(lock: usize, flags: c_uint, pc: usize) -> c_int {
    if let Some(mut call) = Call::enter_quietly() {
        // SAFETY: a `Call` is proof of the token.
        unsafe { log_lock(&mut call, Kind::Release, lock_arg(flags), lock, pc) };
    }
    0
}

crate::call::export_with_pc! {
    fn __interloper_region_begin / 1 = region_begin;
    fn __interloper_region_end / 1 = region_end;
    fn __tsan_mutex_post_lock / 3 = post_lock;
    fn __tsan_mutex_pre_unlock / 2 = pre_unlock;
}

/// What is accepted, and changes nothing: the scheduler sees to order, and races are not what is looked for.
macro_rules! accepted {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty = $value:expr)?;)*) => {$(
        /// Accepted; changes nothing.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: $type),*) $(-> $result)? { $($value)? }
    )*};
}

accepted! {
    __tsan_mutex_create(_lock: usize, _flags: c_uint);
    __tsan_mutex_destroy(_lock: usize, _flags: c_uint);
    __tsan_mutex_pre_lock(_lock: usize, _flags: c_uint);
    __tsan_mutex_post_unlock(_lock: usize, _flags: c_uint);
    __tsan_mutex_pre_signal(_lock: usize, _flags: c_uint);
    __tsan_mutex_post_signal(_lock: usize, _flags: c_uint);
    __tsan_mutex_pre_divert(_lock: usize, _flags: c_uint);
    __tsan_mutex_post_divert(_lock: usize, _flags: c_uint);
    __tsan_acquire(_address: usize);
    __tsan_release(_address: usize);
    __tsan_external_register_tag(_name: *const c_char) -> *mut c_void = std::ptr::null_mut();
    __tsan_external_register_header(_tag: *mut c_void, _header: *const c_char);
    __tsan_external_assign_tag(_address: usize, _tag: *mut c_void);
    __tsan_external_read(_address: usize, _pc: usize, _tag: *mut c_void);
    __tsan_external_write(_address: usize, _pc: usize, _tag: *mut c_void);
    __tsan_ignore_thread_begin();
    __tsan_ignore_thread_end();
    __tsan_flush_memory();
    __tsan_get_current_fiber() -> *mut c_void = std::ptr::without_provenance_mut(1);
    __tsan_create_fiber(_flags: c_uint) -> *mut c_void = std::ptr::without_provenance_mut(1);
    __tsan_destroy_fiber(_fiber: *mut c_void);
    __tsan_switch_to_fiber(_fiber: *mut c_void, _flags: c_uint);
    __tsan_set_fiber_name(_fiber: *mut c_void, _name: *const c_char);
    AnnotateHappensBefore(_file: *const c_char, _line: c_int, _address: usize);
    AnnotateHappensAfter(_file: *const c_char, _line: c_int, _address: usize);
    AnnotateCondVarSignal(_file: *const c_char, _line: c_int, _address: usize);
    AnnotateCondVarSignalAll(_file: *const c_char, _line: c_int, _address: usize);
    AnnotateCondVarWait(_file: *const c_char, _line: c_int, _address: usize, _lock: usize);
    AnnotateMutexIsNotPHB(_file: *const c_char, _line: c_int, _address: usize);
    AnnotateRWLockCreate(_file: *const c_char, _line: c_int, _lock: usize);
    AnnotateRWLockCreateStatic(_file: *const c_char, _line: c_int, _lock: usize);
    AnnotateRWLockDestroy(_file: *const c_char, _line: c_int, _lock: usize);
    AnnotateRWLockAcquired(_file: *const c_char, _line: c_int, _lock: usize, _is_writer: usize);
    AnnotateRWLockReleased(_file: *const c_char, _line: c_int, _lock: usize, _is_writer: usize);
    AnnotateTraceMemory(_file: *const c_char, _line: c_int, _address: usize);
    AnnotateFlushState(_file: *const c_char, _line: c_int);
    AnnotateNewMemory(_file: *const c_char, _line: c_int, _address: usize, _len: usize);
    AnnotateNoOp(_file: *const c_char, _line: c_int, _address: usize);
    AnnotateFlushExpectedRaces(_file: *const c_char, _line: c_int);
    AnnotateEnableRaceDetection(_file: *const c_char, _line: c_int, _enable: c_int);
    AnnotateMutexIsUsedAsCondVar(_file: *const c_char, _line: c_int, _lock: usize);
    AnnotatePCQGet(_file: *const c_char, _line: c_int, _queue: usize);
    AnnotatePCQPut(_file: *const c_char, _line: c_int, _queue: usize);
    AnnotatePCQDestroy(_file: *const c_char, _line: c_int, _queue: usize);
    AnnotatePCQCreate(_file: *const c_char, _line: c_int, _queue: usize);
    AnnotateExpectRace(_file: *const c_char, _line: c_int, _address: usize, _len: usize, _what: *const c_char);
    AnnotateBenignRace(_file: *const c_char, _line: c_int, _address: usize, _what: *const c_char);
    AnnotateBenignRaceSized(_file: *const c_char, _line: c_int, _address: usize, _len: usize, _what: *const c_char);
    AnnotateIgnoreReadsBegin(_file: *const c_char, _line: c_int);
    AnnotateIgnoreReadsEnd(_file: *const c_char, _line: c_int);
    AnnotateIgnoreWritesBegin(_file: *const c_char, _line: c_int);
    AnnotateIgnoreWritesEnd(_file: *const c_char, _line: c_int);
    AnnotateIgnoreSyncBegin(_file: *const c_char, _line: c_int);
    AnnotateIgnoreSyncEnd(_file: *const c_char, _line: c_int);
    AnnotatePublishMemoryRange(_file: *const c_char, _line: c_int, _address: usize, _len: usize);
    AnnotateUnpublishMemoryRange(_file: *const c_char, _line: c_int, _address: usize, _len: usize);
    AnnotateThreadName(_file: *const c_char, _line: c_int, _name: *const c_char);
    WTFAnnotateHappensBefore(_file: *const c_char, _line: c_int, _address: usize);
    WTFAnnotateHappensAfter(_file: *const c_char, _line: c_int, _address: usize);
    WTFAnnotateBenignRaceSized(_file: *const c_char, _line: c_int, _address: usize, _len: usize, _what: *const c_char);
    RunningOnValgrind() -> c_int = 0;
    ValgrindSlowdown() -> f64 = 1.0;
}
