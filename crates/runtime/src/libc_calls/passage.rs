//! Ways through the runtime that cost next to nothing when there is nothing to do, and ways around it.
//!
//! [`Entry`] is a function of libc that is looked up when it is first called. It holds an address to jump to: at
//! first that of code which looks the function up, then that of the function itself. So whoever wants the
//! real one jumps there without a test, and with its arguments in place, whatever they are.
//!
//! - [`watch!`] interposes functions that are called so often that the way past us must be short. A
//!   call by this library's own code is never taken for the program's.
//! - [`forward!`] exports functions that we do nothing about, which exist so that programs linked against another
//!   runtime find them here, and not an old version in libc.
//! - [`variadic!`] interposes functions of variable arguments, as the ones that take a list of them.
//! - [`interpose_six!`] is [`interpose!`](crate::call::interpose) for six arguments.

use crate::call::next_definition;
use std::arch::{global_asm, naked_asm};
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering::*};

/// A function of libc, for assembly code: its first word is where to jump to.
#[repr(C)]
pub(crate) struct Entry {
    place: AtomicPtr<()>,
    /// With a zero byte at the end.
    name: &'static str,
    /// What to do if it is called by what looks it up; may be null.
    early: *const (),
}

// SAFETY: the pointers are to functions.
unsafe impl Sync for Entry {}

impl Entry {
    /// `look_up` is a function that goes to [`look_up`] with this entry in `r11`.
    pub(crate) const fn new(name: &'static str, look_up: unsafe extern "C-unwind" fn(), early: *const ()) -> Self {
        Entry { place: AtomicPtr::new(look_up as *mut ()), name, early }
    }

    /// The function.
    ///
    /// # Safety
    /// `F` is its type.
    #[inline(always)]
    pub(crate) unsafe fn function<F: Copy>(&self) -> F {
        const { assert!(size_of::<F>() == size_of::<*const ()>()) };
        // SAFETY: as the caller says.
        unsafe { std::mem::transmute_copy(&self.place.load(Relaxed)) }
    }
}

/// Which thread is looking something up.
static SEEKER: AtomicI32 = AtomicI32::new(0);

/// Where to go on with a call of this function.
#[cold]
unsafe extern "C" fn find(entry: &Entry) -> *const () {
    let me = crate::sys::thread_id();
    if SEEKER.load(Relaxed) == me && !entry.early.is_null() {
        return entry.early;
    }
    SEEKER.store(me, Relaxed);
    let place = next_definition(entry.name) as *mut ();
    SEEKER.store(0, Relaxed);
    entry.place.store(place, Relaxed);
    place
}

/// Looks the function of the entry in `r11` up, and goes on to it. All that may hold arguments is kept.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn look_up() {
    naked_asm!(
        "push rax",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push r10",
        "sub rsp, 136",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "mov rdi, r11",
        "call {find}",
        "mov r11, rax",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "add rsp, 136",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "pop rax",
        "jmp r11",
        find = sym find,
    )
}

// Where this library's own code lies: the linker's names.
global_asm!(".hidden __ehdr_start", ".hidden _etext");

/// Defines `ENTRY`, the entry of a function: by its own name, or by that after `as`.
macro_rules! entry {
    ($name:ident, $early:expr) => {
        static ENTRY: $crate::libc_calls::passage::Entry =
            $crate::libc_calls::passage::Entry::new(concat!(stringify!($name), "\0"), first_call, $early);
        #[unsafe(naked)]
        unsafe extern "C-unwind" fn first_call() {
            std::arch::naked_asm!(
                "lea r11, [rip + {entry}]",
                "jmp {look_up}",
                entry = sym ENTRY,
                look_up = sym $crate::libc_calls::passage::look_up,
            )
        }
    };
    ($name:ident $real:ident, $early:expr) => {
        $crate::libc_calls::passage::entry!($real, $early);
    };
}
pub(crate) use entry;

/// Null, or a function.
macro_rules! early {
    () => {
        std::ptr::null()
    };
    ($function:path) => {
        $function as *const ()
    };
}
pub(crate) use early;

/// Interposes functions that read and write memory.
///
/// `fn name / 2 (a: A, b: B) -> R = |call, pc, really| …;` The body is a step of the thread `call`, whose
/// last write is logged already; `really` is the real function, or that of another name (`fn name as other / 2`).
/// `[early function]` is what is called while `really` is being looked up.
macro_rules! watch {
    ($(fn $name:ident $(as $real:ident)? / $count:tt ($($argument:ident: $type:ty),* $(,)?) -> $result:ty
        $([early $early:path])? = |$call:ident, $pc:ident, $really:ident| $body:expr;)*) => {$(
        const _: () = {
            $crate::libc_calls::passage::entry!($name $($real)?, $crate::libc_calls::passage::early!($($early)?));
            unsafe extern "C-unwind" fn implementation($($argument: $type,)* $pc: usize) -> $result {
                // SAFETY: the type is that of the function; the arguments are as it demands; a `Call` is proof
                // of the token.
                #[allow(unused_variables)]
                unsafe {
                    let $really = ENTRY.function::<unsafe extern "C-unwind" fn($($type),*) -> $result>();
                    let Some(mut $call) = $crate::call::Call::enter() else { return $really($($argument),*) };
                    $call.settle();
                    $body
                }
            }
            #[doc = concat!("Interposes `", stringify!($name), "`.")]
            /// # Safety
            /// As for the function of this name.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name() {
                std::arch::naked_asm!(
                    "mov rax, qword ptr [rip + interloper_current@GOTTPOFF]",
                    "mov rax, qword ptr fs:[rax]",
                    "test rax, rax",
                    "jz 2f",
                    "cmp dword ptr [rax + {inside}], 0",
                    "jne 2f",
                    concat!("mov ", $crate::call::register!($count), ", [rsp]"),
                    // Is the caller between the beginning and the end of our code?
                    "lea rax, [rip + __ehdr_start]",
                    "lea r10, [rip + _etext]",
                    "sub r10, rax",
                    concat!("mov r11, ", $crate::call::register!($count)),
                    "sub r11, rax",
                    "cmp r11, r10",
                    "jae {implementation}",
                    "2:",
                    "jmp qword ptr [rip + {entry}]",
                    inside = const std::mem::offset_of!($crate::thread::Thread, inside),
                    implementation = sym implementation,
                    entry = sym ENTRY,
                )
            }
        };
    )*};
}
pub(crate) use watch;

/// Exports functions that only pass calls on.
macro_rules! forward {
    ($($name:ident)*) => {$(
        const _: () = {
            $crate::libc_calls::passage::entry!($name, std::ptr::null());
            #[doc = concat!("Passes on to the default version of `", stringify!($name), "`.")]
            /// # Safety
            /// As for the function of this name.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name() {
                std::arch::naked_asm!("jmp qword ptr [rip + {entry}]", entry = sym ENTRY)
            }
        };
    )*};
}
pub(crate) use forward;

/// The arguments of a variadic function that are not named, as C's `va_list`, and where it is called from.
#[repr(C)]
pub(crate) struct Arguments {
    in_integer_registers: u32,
    in_vector_registers: u32,
    on_stack: *mut u64,
    registers: *const u64,
    pub(crate) pc: usize,
}

impl Arguments {
    /// A list of its own, of the same arguments.
    pub(crate) fn again(&self) -> Arguments {
        // What is behind a list that the program made is none of ours.
        Arguments { pc: 0, ..*self }
    }

    /// The next one, which is a pointer or an integer.
    ///
    /// # Safety
    /// There must be one.
    pub(crate) unsafe fn next(&mut self) -> usize {
        const INTEGERS: u32 = 48;
        // SAFETY: as the calling convention has it.
        unsafe {
            if self.in_integer_registers < INTEGERS {
                let at = self.registers.byte_add(self.in_integer_registers as usize);
                self.in_integer_registers += 8;
                return at.read() as usize;
            }
            let at = self.on_stack;
            self.on_stack = at.add(1);
            at.read() as usize
        }
    }

    /// Passes over one that is a `double`.
    ///
    /// # Safety
    /// There must be one.
    pub(crate) unsafe fn skip_double(&mut self) {
        const ALL: u32 = 176;
        if self.in_vector_registers < ALL {
            self.in_vector_registers += 16;
        } else {
            // SAFETY: as the calling convention has it.
            self.on_stack = unsafe { self.on_stack.add(1) };
        }
    }

    /// Passes over one that is a `long double`, which is always on the stack.
    ///
    /// # Safety
    /// There must be one.
    pub(crate) unsafe fn skip_long_double(&mut self) {
        let at = (self.on_stack as usize).next_multiple_of(16);
        // SAFETY: as the calling convention has it.
        self.on_stack = unsafe { self.on_stack.byte_add(at + 16 - self.on_stack as usize) };
    }
}

/// Interposes variadic functions.
///
/// `fn name / 2 (a: A, b: B; list) -> R = |call| …;` for two named arguments; `list` is a `&mut Arguments`. The body
/// is a step of the thread `call`. When nothing is recorded, the real function is called as always.
macro_rules! variadic {
    ($(fn $name:ident / $count:tt ($($argument:ident: $type:ty),*; $list:ident) -> $result:ty =
        |$call:ident| $body:expr;)*) => {$(
        const _: () = {
            $crate::libc_calls::passage::entry!($name, std::ptr::null());
            #[allow(unused_variables)]
            unsafe extern "C-unwind" fn implementation(
                $($argument: $type,)* $list: &mut $crate::libc_calls::passage::Arguments,
            ) -> $result {
                // SAFETY: not in the runtime yet, or we would not be here; the arguments are as the function demands.
                unsafe {
                    let Some(mut $call) = $crate::call::Call::enter_outward() else { std::process::abort() };
                    $call.settle();
                    $body
                }
            }
            #[doc = concat!("Interposes `", stringify!($name), "`.")]
            /// # Safety
            /// As for the function of this name.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name() {
                std::arch::naked_asm!(
                    ".cfi_startproc",
                    "mov r11, qword ptr [rip + interloper_current@GOTTPOFF]",
                    "mov r11, qword ptr fs:[r11]",
                    "test r11, r11",
                    "jz 2f",
                    "cmp dword ptr [r11 + {inside}], 0",
                    "jne 2f",
                    "mov r11, [rsp]",
                    // Registers, list and padding: 176, 40 bytes.
                    "sub rsp, 216",
                    ".cfi_adjust_cfa_offset 216",
                    "mov [rsp], rdi",
                    "mov [rsp + 8], rsi",
                    "mov [rsp + 16], rdx",
                    "mov [rsp + 24], rcx",
                    "mov [rsp + 32], r8",
                    "mov [rsp + 40], r9",
                    "test al, al",
                    "jz 3f",
                    "movups [rsp + 48], xmm0",
                    "movups [rsp + 64], xmm1",
                    "movups [rsp + 80], xmm2",
                    "movups [rsp + 96], xmm3",
                    "movups [rsp + 112], xmm4",
                    "movups [rsp + 128], xmm5",
                    "movups [rsp + 144], xmm6",
                    "movups [rsp + 160], xmm7",
                    "3:",
                    concat!("mov dword ptr [rsp + 176], 8 * ", stringify!($count)),
                    "mov dword ptr [rsp + 180], 48",
                    "lea rax, [rsp + 224]",
                    "mov [rsp + 184], rax",
                    "mov [rsp + 192], rsp",
                    "mov [rsp + 200], r11",
                    concat!("lea ", $crate::call::register!($count), ", [rsp + 176]"),
                    "call {implementation}",
                    "add rsp, 216",
                    ".cfi_adjust_cfa_offset -216",
                    "ret",
                    "2:",
                    "jmp qword ptr [rip + {entry}]",
                    ".cfi_endproc",
                    inside = const std::mem::offset_of!($crate::thread::Thread, inside),
                    implementation = sym implementation,
                    entry = sym ENTRY,
                )
            }
        };
    )*};
}
pub(crate) use variadic;

/// [`interpose!`](crate::call::interpose) for functions of six arguments: where they are called from is
/// passed on the stack.
macro_rules! interpose_six {
    ($(fn $name:ident ($($argument:ident: $type:ty),* $(,)?) -> $result:ty =
        |$call:ident, $pc:ident| $body:expr;)*) => {$(
        const _: () = {
            unsafe extern "C-unwind" fn implementation($($argument: $type,)* $pc: usize) -> $result {
                match $crate::call::Call::enter() {
                    // SAFETY: a `Call` is proof of the token; the arguments are as the function demands.
                    Some(mut $call) => unsafe { $body },
                    // SAFETY: as the program's call.
                    None => unsafe { $crate::call::real!($name: fn($($type),*) -> $result)($($argument),*) },
                }
            }
            #[doc = concat!("Interposes `", stringify!($name), "`.")]
            /// # Safety
            /// As for the function of this name.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name() {
                std::arch::naked_asm!(
                    ".cfi_startproc",
                    "push qword ptr [rsp]",
                    ".cfi_adjust_cfa_offset 8",
                    "call {implementation}",
                    "pop rcx",
                    ".cfi_adjust_cfa_offset -8",
                    "ret",
                    ".cfi_endproc",
                    implementation = sym implementation,
                )
            }
        };
    )*};
}
pub(crate) use interpose_six;
