//! Functions that we do nothing about, but of which libc has several versions.
//!
//! A program linked against gcc's ThreadSanitizer refers to them without saying which version it means, because that
//! runtime has but one of each. Where we had none, it would get the oldest one of libc: one that has other
//! structures, or bugs that somebody relied on. Passed on, they are the ones a program gets without any of this.
//!
//! This is the whole list for gcc 12 and glibc 2.36, but for those which other modules interpose.

use super::passage::forward;

forward! {
    clock_getcpuclockid clock_getres clock_settime
    dlclose
    fmemopen
    frexp frexpf frexpl
    glob glob64
    lgamma lgammaf lgammal
    modf modff modfl
    posix_spawn posix_spawnp
    pthread_attr_getaffinity_np pthread_attr_getguardsize pthread_attr_getstack pthread_attr_getstacksize
    pthread_barrierattr_getpshared
    pthread_condattr_getclock pthread_condattr_getpshared
    pthread_getcpuclockid pthread_getname_np
    pthread_mutexattr_getprioceiling pthread_mutexattr_getprotocol pthread_mutexattr_getpshared
    pthread_mutexattr_getrobust pthread_mutexattr_gettype
    pthread_rwlockattr_getkind_np pthread_rwlockattr_getpshared
    pthread_sigmask
    realpath
    regexec
    sem_open sem_unlink
}
