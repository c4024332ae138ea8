/*
 * Calls that gcc expands in place, where its instrumentation does not see them. `tests/probe.rs` wants the
 * call that is named by each function, or calls into the runtime, to be there at every level.
 */
#include <string.h>
#include <strings.h>

extern char here[256], there[256], *text;

void use_memcpy(void) { memcpy(here, there, 64); }
void use_memmove(void) { memmove(here, there, 24); }
void use_memset(void) { memset(here, 0, 32); }
void use_bzero(void) { bzero(here, 40); }
void use_strcpy(void) { strcpy(here, "hello"); }
void use_strncpy(void) { strncpy(here, "hello", 20); }
void use_strcat(void) { strcat(here, "x"); }
int use_memcmp(void) { return memcmp(here, there, 4) == 0; }
int use_strcmp(void) { return strcmp(text, "ab"); }
int use_strncmp(void) { return strncmp(text, "ab", 2); }

unsigned long use_strlen(void)
{
    strcpy(here, "hello");
    return strlen(here);
}

/* gcc takes this for a constant expression, and has to go on doing so. */
#ifndef __clang__
static unsigned long constant = strlen("abc");
unsigned long get_constant(void) { return constant; }
#endif
