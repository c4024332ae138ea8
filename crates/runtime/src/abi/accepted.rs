//! What programs may say about themselves that changes nothing here.
//!
//! Races are not what is looked for, so that it does not matter which of them are benign or expected, or where they are
//! to be ignored: accesses are recorded all the same, because what threads read depends on them. There are no reports to
//! redirect, either. And what becomes of memory is known from where it is allocated.

use libc::{c_char, c_int, c_uint, c_void};

/// Exports functions that take what they are given and do nothing.
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
    __tsan_external_register_tag(_name: *const c_char) -> *mut c_void = std::ptr::null_mut();
    __tsan_external_register_header(_tag: *mut c_void, _header: *const c_char);
    __tsan_external_assign_tag(_address: usize, _tag: *mut c_void);
    __tsan_external_read(_address: usize, _pc: usize, _tag: *mut c_void);
    __tsan_external_write(_address: usize, _pc: usize, _tag: *mut c_void);
    __tsan_ignore_thread_begin();
    __tsan_ignore_thread_end();
    __tsan_flush_memory();
    __tsan_check_no_mutexes_held();
    __tsan_on_thread_idle();
    __sanitizer_set_report_path(_path: *const c_char);
    __sanitizer_set_report_fd(_file: *mut c_void);
    __sanitizer_set_death_callback(_callback: *const c_void);
    __sanitizer_print_stack_trace();
    __sanitizer_report_error_summary(_summary: *const c_char);
    AnnotateCondVarSignal(_file: *const c_char, _line: c_int, _address: usize);
    AnnotateCondVarSignalAll(_file: *const c_char, _line: c_int, _address: usize);
    AnnotateCondVarWait(_file: *const c_char, _line: c_int, _address: usize, _lock: usize);
    AnnotateMutexIsNotPHB(_file: *const c_char, _line: c_int, _address: usize);
    AnnotateRWLockCreate(_file: *const c_char, _line: c_int, _lock: usize);
    AnnotateRWLockCreateStatic(_file: *const c_char, _line: c_int, _lock: usize);
    AnnotateRWLockDestroy(_file: *const c_char, _line: c_int, _lock: usize);
    AnnotateTraceMemory(_file: *const c_char, _line: c_int, _address: usize);
    AnnotateFlushState(_file: *const c_char, _line: c_int);
    AnnotateMemoryIsInitialized(_file: *const c_char, _line: c_int, _address: usize, _len: usize);
    AnnotateMemoryIsUninitialized(_file: *const c_char, _line: c_int, _address: usize, _len: usize);
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
    WTFAnnotateBenignRaceSized(_file: *const c_char, _line: c_int, _address: usize, _len: usize, _what: *const c_char);
    RunningOnValgrind() -> c_int = 0;
    ValgrindSlowdown() -> f64 = 1.0;
}
