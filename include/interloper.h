/*
 * interloper.h: say what is meant to be atomic.
 *
 *     INTERLOPER_ATOMIC_BEGIN("transfer");
 *     from->balance -= amount;
 *     to->balance += amount;
 *     INTERLOPER_ATOMIC_END("transfer");
 *
 * and in C++, until the end of the scope, however it is left:
 *
 *     INTERLOPER_ATOMIC("transfer");
 *
 * Regions may nest; the outermost one counts. The name is a string literal.
 *
 * Compiled with `interloper cc` or `interloper c++`, these tell the recorder. With any other compiler
 * command they are nothing at all: no code, no symbol, no library.
 *
 * C89 and later, C++98 and later. This file may be copied into your own sources.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef INTERLOPER_H
#define INTERLOPER_H

#ifdef __INTERLOPER__

#ifdef __cplusplus
extern "C" {
#endif

/* Weak, so that an object of such a build can also be linked into a program without the runtime. */
extern void __interloper_region_begin(const char *name) __attribute__((__weak__));
extern void __interloper_region_end(const char *name) __attribute__((__weak__));

#ifdef __cplusplus
}
#endif

/* Between two empty literals, only a literal is valid. */
#ifdef __cplusplus
#define INTERLOPER_CALL_(function, name) (function ? function("" name "") : static_cast<void>(0))
#else
#define INTERLOPER_CALL_(function, name) (function ? function("" name "") : (void)0)
#endif

#define INTERLOPER_ATOMIC_BEGIN(name) INTERLOPER_CALL_(__interloper_region_begin, name)
#define INTERLOPER_ATOMIC_END(name) INTERLOPER_CALL_(__interloper_region_end, name)

#ifdef __cplusplus

namespace interloper {

class atomic_region {
public:
    explicit atomic_region(const char *name) : name_(name)
    {
        if (__interloper_region_begin)
            __interloper_region_begin(name_);
    }
    ~atomic_region()
    {
        if (__interloper_region_end)
            __interloper_region_end(name_);
    }

private:
    atomic_region(const atomic_region &);
    atomic_region &operator=(const atomic_region &);

    const char *name_;
};

} /* namespace interloper */

#define INTERLOPER_JOIN_(left, right) left##right
#define INTERLOPER_JOIN(left, right) INTERLOPER_JOIN_(left, right)
#define INTERLOPER_ATOMIC(name) \
    const ::interloper::atomic_region INTERLOPER_JOIN(interloper_region_, __LINE__)("" name "")

#endif /* __cplusplus */

#else /* not __INTERLOPER__ */

#ifdef __cplusplus
#define INTERLOPER_NOTHING_(name) static_cast<void>(sizeof("" name ""))
#define INTERLOPER_ATOMIC(name) INTERLOPER_NOTHING_(name)
#else
#define INTERLOPER_NOTHING_(name) ((void)sizeof("" name ""))
#endif

#define INTERLOPER_ATOMIC_BEGIN(name) INTERLOPER_NOTHING_(name)
#define INTERLOPER_ATOMIC_END(name) INTERLOPER_NOTHING_(name)

#endif /* __INTERLOPER__ */

#endif /* INTERLOPER_H */
