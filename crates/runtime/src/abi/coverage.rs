//! Branches: the callbacks of coverage instrumentation (`-fsanitize-coverage=…`).
//!
//! They come once for each basic block or edge, which is never less often than conditional
//! branches are passed. Comparisons are not recorded.

use crate::current::current;

#[inline(always)]
fn count() {
    let thread = current();
    if !thread.is_null() {
        // SAFETY: the running thread's own data.
        unsafe { (*thread).branches = (*thread).branches.wrapping_add(1) };
    }
}

macro_rules! counted {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        /// A basic block is entered.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: $type),*) {
            count();
        }
    )*};
}

macro_rules! ignored {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        /// Not recorded.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: $type),*) {}
    )*};
}

counted! {
    __sanitizer_cov_trace_pc();
    __sanitizer_cov_trace_pc_guard(_guard: *mut u32);
}

ignored! {
    __sanitizer_cov_trace_pc_guard_init(_start: *mut u32, _end: *mut u32);
    __sanitizer_cov_trace_pc_indir(_callee: usize);
    __sanitizer_cov_8bit_counters_init(_start: *mut u8, _end: *mut u8);
    __sanitizer_cov_bool_flag_init(_start: *mut u8, _end: *mut u8);
    __sanitizer_cov_pcs_init(_start: *const usize, _end: *const usize);
    __sanitizer_cov_trace_cmp1(_a: u8, _b: u8);
    __sanitizer_cov_trace_cmp2(_a: u16, _b: u16);
    __sanitizer_cov_trace_cmp4(_a: u32, _b: u32);
    __sanitizer_cov_trace_cmp8(_a: u64, _b: u64);
    __sanitizer_cov_trace_const_cmp1(_a: u8, _b: u8);
    __sanitizer_cov_trace_const_cmp2(_a: u16, _b: u16);
    __sanitizer_cov_trace_const_cmp4(_a: u32, _b: u32);
    __sanitizer_cov_trace_const_cmp8(_a: u64, _b: u64);
    __sanitizer_cov_trace_cmpf(_a: f32, _b: f32);
    __sanitizer_cov_trace_cmpd(_a: f64, _b: f64);
    __sanitizer_cov_trace_switch(_value: u64, _cases: *const u64);
    __sanitizer_cov_trace_div4(_value: u32);
    __sanitizer_cov_trace_div8(_value: u64);
    __sanitizer_cov_trace_gep(_index: usize);
}
