/* perf_file.h - a file that appears whole or not at all, and only where it should.
 *
 *   perf_file_ f = PERF_ZERO;                       // f.durable = 1: on the disk when it returns
 *   status = perf_file_save_("trace.json", &f, write_all, &state);
 *
 * For the library itself: perf_report.h includes it, and every header that writes a file uses it.
 * Sections (search for ">>"):  system  internal
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_FILE_H
#define PERF_FILE_H

#include "perf_text.h"

/* >>system: what is used of <stdio.h>, and of POSIX without its feature macros ---------------- */

PERF_BEGIN_DECLS
#if defined(_WIN32)
#define perf_process_id_() UINT32_C(1)          /* nothing forks there                            */
#else
extern int perf_getpid_(void) __asm__(PERF_SYM_("getpid"));
#define perf_process_id_() PERF_CAST_(uint32_t, perf_getpid_())
#endif
#if defined(__linux__)
extern long perf_syscall_(long, ...) __asm__(PERF_SYM_("syscall"));
#endif
#if PERF_LP64_UNIX_
extern void *perf_mmap_(void *, size_t, int, int, int, long) __asm__(PERF_SYM_("mmap"));
extern int   perf_munmap_(void *, size_t) __asm__(PERF_SYM_("munmap"));
extern int   perf_madvise_(void *, size_t, int) __asm__(PERF_SYM_("madvise"));
#if !PERF_TCC_                  /* weak: in older systems it has a library of its own             */
extern void *perf_dlopen_(const char *, int) __asm__(PERF_SYM_("dlopen")) PERF_ATTR_((__weak__));
#endif
#if defined(__linux__)
struct perf_usage_ {            /* struct rusage                                                  */
    long user_s, user_us, system_s, system_us;
    long maxrss, ixrss, idrss, isrss, minflt, majflt, nswap, inblock, oublock;
    long msgsnd, msgrcv, nsignals, nvcsw, nivcsw, rest[16];
};
extern long perf_sysconf_(int) __asm__(PERF_SYM_("sysconf"));
extern int  perf_getrusage_(int, struct perf_usage_ *) __asm__(PERF_SYM_("getrusage"));
#endif
#endif

#if defined(__linux__)
extern unsigned long perf_getauxval_(unsigned long) __asm__(PERF_SYM_("getauxval"));
#define PERF_SETUID_ (perf_getauxval_(23) != 0)         /* AT_SECURE                              */
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) ||                        \
    defined(__OpenBSD__) || defined(__DragonFly__)
extern int perf_issetugid_(void) __asm__(PERF_SYM_("issetugid"));
#define PERF_SETUID_ (perf_issetugid_() != 0)
#else
#define PERF_SETUID_ 0
#endif
PERF_END_DECLS

/* Only glibc's FILE and a few functions: <stdio.h> would cost each user's compiler 10 million
 * instructions, 16 million in C++.                                                               */
#if defined(__linux__) && PERF_LP64_UNIX_ && defined(__GLIBC__) && defined(__has_include)
#if __has_include(<bits/types/FILE.h>)
#define PERF_FEW_STDIO_
#endif
#endif
#ifdef PERF_FEW_STDIO_
#include <bits/types/FILE.h>
PERF_BEGIN_DECLS
extern FILE  *perf_stderr_ __asm__(PERF_SYM_("stderr"));
extern size_t perf_fwrite_(const void *, size_t, size_t, FILE *) __asm__(PERF_SYM_("fwrite"));
extern size_t perf_fread_(void *, size_t, size_t, FILE *) __asm__(PERF_SYM_("fread"));
extern int    perf_fflush_(FILE *) __asm__(PERF_SYM_("fflush"));
extern int    perf_fclose_(FILE *) __asm__(PERF_SYM_("fclose"));
extern int    perf_remove_(const char *) __asm__(PERF_SYM_("remove"));
extern int    perf_rename_(const char *, const char *) __asm__(PERF_SYM_("rename"));
PERF_END_DECLS
#else
#include <stdio.h>
#define perf_stderr_ stderr
#define perf_fwrite_ fwrite
#define perf_fread_  fread
#define perf_fflush_ fflush
#define perf_fclose_ fclose
#define perf_remove_ remove
#define perf_rename_ rename
#endif

#if defined(__unix__) || defined(__APPLE__)
#define PERF_POSIX_FILES_ 1
#else
#define PERF_POSIX_FILES_ 0
#endif

#if PERF_POSIX_FILES_
#if defined(__linux__) && PERF_LP64_UNIX_ &&                                                      \
    (defined(__x86_64__) || defined(__aarch64__) || defined(__riscv))
/* Flags and layout of the kernel, which cannot change: <fcntl.h> and <sys/stat.h> would cost the
 * compiler of every user 4.7 M instructions.                                                     */
#define PERF_O_CREAT_   0100
#define PERF_O_EXCL_    0200
#define PERF_O_TRUNC_   01000
#define PERF_O_NONBLOCK_ 04000
#define PERF_O_CLOEXEC_ 02000000
#if defined(__aarch64__)
#define PERF_O_NOFOLLOW_ 0100000
#else
#define PERF_O_NOFOLLOW_ 0400000
#endif
PERF_BEGIN_DECLS
struct perf_inode_ {
    uint64_t dev, ino;
#if defined(__x86_64__)
    uint64_t nlink;
#endif
    uint32_t st_mode;
    uint64_t rest[32];
};
extern int perf_stat_(const char *, struct perf_inode_ *) __asm__(PERF_SYM_("stat"));
extern int perf_fstat_(int, struct perf_inode_ *) __asm__(PERF_SYM_("fstat"));
PERF_END_DECLS
#define PERF_INODE_(s) ((s).ino ^ (s).dev * UINT64_C(0x9e3779b97f4a7c15))
#else
#include <fcntl.h>
#include <sys/stat.h>
#define PERF_O_CREAT_  O_CREAT
#define PERF_O_EXCL_   O_EXCL
#define PERF_O_TRUNC_  O_TRUNC
#define PERF_O_NONBLOCK_ O_NONBLOCK
#if defined(O_NOFOLLOW) && defined(O_CLOEXEC)
#define PERF_O_NOFOLLOW_ O_NOFOLLOW
#define PERF_O_CLOEXEC_  O_CLOEXEC
#elif defined(__O_NOFOLLOW) && defined(__O_CLOEXEC)     /* glibc in strict C99                    */
#define PERF_O_NOFOLLOW_ __O_NOFOLLOW
#define PERF_O_CLOEXEC_  __O_CLOEXEC
#else
#define PERF_O_NOFOLLOW_ 0      /* O_EXCL alone follows no link either                            */
#define PERF_O_CLOEXEC_  0
#endif
#define perf_inode_ stat
#define perf_stat_  stat
#define perf_fstat_ fstat
#define PERF_INODE_(s) (PERF_CAST_(uint64_t, (s).st_ino) ^                                         \
                        PERF_CAST_(uint64_t, (s).st_dev) * UINT64_C(0x9e3779b97f4a7c15))
#endif
#if defined(__linux__) && !defined(__mips__) && !defined(__sparc__)
#define PERF_SIG_BLOCK_ 0       /* a number as of SIGPIPE, 13, and SIGXFSZ, 25, below             */
#endif
#define PERF_S_REGULAR_(mode) (((mode) & 0170000) == 0100000)   /* on every system                */

PERF_BEGIN_DECLS
extern int   perf_open_(const char *, int, ...) __asm__(PERF_SYM_("open"));
extern int   perf_close_(int) __asm__(PERF_SYM_("close"));
extern long  perf_fd_read_(int, void *, size_t) __asm__(PERF_SYM_("read"));
extern int   perf_fcntl_(int, int, ...) __asm__(PERF_SYM_("fcntl"));
extern int   perf_fchmod_(int, unsigned) __asm__(PERF_SYM_("fchmod"));
extern int   perf_fsync_(int) __asm__(PERF_SYM_("fsync"));
extern int   perf_flock_(int, int) __asm__(PERF_SYM_("flock"));
extern long  perf_readlink_(const char *, char *, size_t) __asm__(PERF_SYM_("readlink"));
extern FILE *perf_fdopen_(int, const char *) __asm__(PERF_SYM_("fdopen"));
extern int   perf_setenv_(const char *, const char *, int) __asm__(PERF_SYM_("setenv"));
extern int   perf_fileno_(FILE *) __asm__(PERF_SYM_("fileno"));
#if PERF_LP64_UNIX_             /* elsewhere an off_t may be longer than a long                   */
extern long perf_lseek_(int, long, int) __asm__(PERF_SYM_("lseek"));
extern void perf_flockfile_(FILE *) __asm__(PERF_SYM_("flockfile"));
extern void perf_funlockfile_(FILE *) __asm__(PERF_SYM_("funlockfile"));
#endif
#ifdef PERF_SIG_BLOCK_
extern int perf_sigmask_(int, const unsigned long *, unsigned long *)
    __asm__(PERF_SYM_("sigprocmask"));
extern int perf_sigpending_(unsigned long *) __asm__(PERF_SYM_("sigpending"));
extern int perf_sigtimedwait_(const unsigned long *, void *, const long *)
    __asm__(PERF_SYM_("sigtimedwait"));
#endif
PERF_END_DECLS
#endif

PERF_BEGIN_DECLS

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_file_  a file being written: all zero at first, but for `durable`
 *   perf_file_save_  writes a file by a callback; perf_file_begin_, perf_file_end_  its two parts
 *   perf_file_put_, perf_file_putf_  append a text or a format, at most PERF_FILE_RECORD_ bytes
 *   perf_file_out_, perf_file_wrote_, perf_file_json_  append what is in a perf_out_; JSON text
 *   perf_cancel_off_, perf_cancel_on_  around calls that write: the thread is not cancelled
 *   perf_file_flush_  empties the buffer, for those who write at `at` themselves
 *   perf_file_read_  opens a regular file to read; perf_file_folder_, perf_close_  takes turns
 *   perf_file_kind_, perf_file_inode_  what stands at a path; perf_rename_  gives a file its name
 *   perf_put_beside_  PATH becomes PATH.PID, or PATH.PID.2 where that is taken
 *   perf_file_open_inode_  the number of the file that is open, while it still is
 *   PERF_FILE_BYTES_, PERF_FILE_RECORD_, PERF_POSIX_FILES_  sizes; 1: there are files of POSIX
 *   perf_getenv_, PERF_SETUID_  a variable of the environment
 *   perf_process_id_, perf_thread_id_  who is running; perf_put_own_pid_  PATH becomes PATH.PID
 *   perf_thread_ended_  asks the system whether a thread has ended
 *   perf_syscall_, perf_sysconf_, perf_getrusage_, perf_usage_, perf_mmap_, perf_dlopen_: system's
 *   perf_claim_  atomic: compare and swap; perf_lock_word_, perf_unlock_  a lock in a word
 *   perf_others_tell_  which of several images tells what there is at the end of the program
 *   perf_not_cold_, perf_hide_, perf_fence_  a 1, a value, an order that compilers leave alone
 *   perf_sort_items_  sorts an array
 *   perf_random_  64 random bits from a state of the caller's (splitmix64)
 *   perf_file_head_, perf_first_line_  the beginning of a small file; its first line, 0: none
 *   PERF_DL_, perf_library_open_, perf_library_symbol_  1: libraries can be found at run time
 *   perf_screen_of_  columns of a screen, and what it can show
 *   perf_pages_, perf_pages_free_  memory in pages, NULL: none; PERF_MAP_PAGES_  its kind
 *   perf_stderr_  of <stdio.h>; perf_out_write_  writes there, whatever becomes of its reader    */

/* The value of an environment variable.  NULL also in a setuid or setgid program: whoever starts
 * it could make it overwrite a file of somebody else.                                            */
PERF_FN const char *perf_getenv_(const char *name)
{
    return PERF_SETUID_ ? PERF_CAST_(const char *, PERF_NULL_) : perf_getenv_any_(name);
}

/* PATH becomes PATH.PID: a file of this process alone. */
PERF_FN void perf_put_own_pid_(perf_out_ *path)
{
    perf_putf_(path, ".%.0f", PERF_CAST_(double, perf_process_id_()));
}

/* Who is running: unique among the threads of the system while the thread lives. */
PERF_COLD_FN_ uint32_t perf_thread_id_(void)
{
#if PERF_SYS_GETTID_
    return PERF_CAST_(uint32_t, perf_syscall_(PERF_SYS_GETTID_));
#elif defined(_WIN32)
    return PERF_CAST_(uint32_t, perf_win_tid_());
#elif PERF_TCC_
    return 1;
#else
    return PERF_CAST_(uint32_t, PERF_PTR_(uintptr_t, &PERF_ERRNO_) >> 3) | 1u;
#endif
}

#if PERF_SYS_GETTID_
#define PERF_NO_SUCH_THREAD_ 3          /* ESRCH                                                  */

/* Has this thread of this process ended?  Where a filter (seccomp) refuses the question: no. */
PERF_COLD_FN_ int perf_thread_ended_(uint32_t process, uint64_t thread)
{
    return perf_syscall_(PERF_SYS_TGKILL_, PERF_CAST_(long, process), PERF_CAST_(long, thread),
                         0L) != 0 && PERF_ERRNO_ == PERF_NO_SUCH_THREAD_;
}
#endif

/* Changes *word from `from` to `to`, if it is `from`.  0: it was not, so another thread has changed
 * it.                                                                                            */
PERF_FN int perf_claim_(uint32_t *word, uint32_t from, uint32_t to)
{
#if PERF_TCC_
    return *word == from ? (*word = to, 1) : 0;
#else
    return __atomic_compare_exchange_n(word, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
#endif
}

/* Takes a lock, whose word is the thread that has it.  0: another has it and `wait` is 0, or this
 * very thread has it.                                                                            */
PERF_COLD_FN_ int perf_lock_word_(uint32_t *lock, int wait)
{
    uint32_t me = perf_thread_id_();

    while (!perf_claim_(lock, 0, me)) {
        if (!wait || PERF_GET_(lock) == me)
            return 0;
        (void)perf_sched_yield_();
    }
    return 1;
}

#define perf_unlock_(lock) PERF_REL_(lock, 0u)

#if defined(PERF_AT_EXIT) && PERF_AT_EXIT
/* Several images of a program may have PERF_AT_EXIT 1.  1: another one does what is to be done at
 * the start (end 0), or at the end, when the last one does it.  *word counts those that are still
 * to come to their end, by 4; 1: there were some; 2: one that was not counted has told.  *counted:
 * 1 in those, as a variable was set at their start.                                              */
PERF_COLD_FN_ int perf_others_tell_(uint32_t *word, int *counted, int end)
{
    const uint32_t was = PERF_GET_(word), one = 4;

    if (!end) {
        *counted = 1;
        PERF_SET_(word, (was + one) | 1);
        return was != 0;
    }
    if (*counted) {
        PERF_SET_(word, was - one);
        return was >= 2 * one;
    }
    if (was > 1)                                /* one is still to come, or has told              */
        return 1;
    PERF_SET_(word, 3u);
    return 0;
}
#endif

/* Returns 1, but gcc cannot know that.  Else it would take callers of cold functions for cold, too,
 * up to the user's loop.                                                                         */
PERF_INLINE_FN_ int perf_not_cold_(void)
{
    int yes = 1;

#if !PERF_TCC_
    __asm__("" : "+r"(yes));
#endif
    return yes;
}

/* The compiler must take *x for changed here. */
PERF_INLINE_FN_ void perf_hide_(uint64_t *x)
{
#if !PERF_TCC_
    __asm__ __volatile__("" : "+r"(*x));
#else
    (void)x;
#endif
}

/* Nothing after it begins before all before it has ended. */
PERF_FN void perf_fence_(void)
{
#if PERF_TCC_
    ;
#elif defined(__x86_64__) || defined(__SSE2__)
    __asm__ __volatile__("lfence" : : : "memory");
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" : : : "memory");
#else
    __asm__ __volatile__("" : : : "memory");
#endif
}

/* Private, anonymous and without reserve, as each kernel spells it; strict C99 hides the names. */
#if !defined(__linux__)
#define PERF_MAP_PAGES_ 0x1002
#elif defined(__mips__) || defined(__xtensa__)
#define PERF_MAP_PAGES_ 0x0c02
#elif defined(__powerpc__) || defined(__sparc__)
#define PERF_MAP_PAGES_ 0x0062
#else
#define PERF_MAP_PAGES_ 0x4022
#endif

/* Fresh zeroed pages that a forked child sees as zeros again; NULL when there are none. */
PERF_COLD_FN_ void *perf_pages_(size_t bytes, int wipe_on_fork)
{
#if PERF_LP64_UNIX_
    int   was = PERF_ERRNO_;                    /* a scope leaves it as it is                     */
    void *memory = perf_mmap_(PERF_NULL_, bytes, 3, PERF_MAP_PAGES_, -1, 0);

    if (PERF_PTR_(intptr_t, memory) == -1)
        memory = PERF_NULL_;
#if defined(__linux__)
    else if (wipe_on_fork)
        (void)perf_madvise_(memory, bytes, 18); /* since 4.14; before, the process id tells       */
#endif
    PERF_ERRNO_ = was;
#else
    void *memory = PERF_MALLOC(bytes);
    if (memory)
        PERF_LIBC_(memset)(memory, 0, bytes);
#endif
    (void)wipe_on_fork;
    return memory;
}

/* Gives back all that one call of perf_pages_ gave. */
PERF_COLD_FN_ void perf_pages_free_(void *memory, size_t bytes)
{
#if PERF_LP64_UNIX_
    int was = PERF_ERRNO_;

    (void)perf_munmap_(memory, bytes);
    PERF_ERRNO_ = was;
#else
    (void)bytes;
    PERF_FREE(memory);
#endif
}

#define PERF_SORT_BYTES_ 160
/* Shell sort of n items of `size` bytes, PERF_SORT_BYTES_ at most: no recursion, no <stdlib.h>. */
PERF_COLD_FN_ void perf_sort_items_(void *items, size_t n, size_t size,
                                    int (*before)(const void *, const void *, const void *),
                                    const void *with)
{
    char  *item = PERF_CAST_(char *, items), moved[PERF_SORT_BYTES_];
    size_t gap, i, k;

    for (gap = n / 2; gap; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (i = gap; i < n; i++) {
            PERF_LIBC_(memcpy)(moved, item + i * size, size);
            for (k = i; k >= gap && before(moved, item + (k - gap) * size, with); k -= gap)
                PERF_LIBC_(memcpy)(item + k * size, item + (k - gap) * size, size);
            PERF_LIBC_(memcpy)(item + k * size, moved, size);
        }
}

/* splitmix64 (Steele, Lea, Flood 2014). */
PERF_FN uint64_t perf_random_(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

typedef struct perf_file_ {
    FILE    *file;
    char    *at, *begin, *limit; /* next character; buffer; past limit: flush                     */
    int      failed;            /* 1: a write has failed, and it stays so                         */
    int      durable;           /* 1: on the disk before it replaces the old one                  */
    int      direct;            /* 1: a device, pipe or /dev/stdout, written in its place         */
    int      fd;                /* -1: none, as on systems without POSIX files                    */
    int      starved;           /* 1: there was no memory for its name                            */
    char    *part;              /* its name while it is written                                   */
    uint64_t written;           /* bytes                                                          */
} perf_file_;
#define PERF_FILE_BYTES_  262144
#define PERF_FILE_RECORD_ 4096  /* the longest record: names are cut                              */

#if PERF_LP64_UNIX_
#define PERF_EINTR_  4          /* on every system                                                */
#define PERF_ESPIPE_ 29

/* The descriptor of a stream that cannot be read again: pipe, terminal, socket.  -1: not such. */
PERF_COLD_FN_ int perf_out_pipe_(FILE *file)
{
    const int error = PERF_ERRNO_;
    int       fd = perf_fileno_(file);

    if (fd >= 0 && (perf_lseek_(fd, 0, 1) >= 0 || PERF_ERRNO_ != PERF_ESPIPE_))
        fd = -1;
    PERF_ERRNO_ = error;
    return fd;
}

/* All n bytes; 0: failed.  A signal in between ends nothing. */
PERF_COLD_FN_ int perf_fd_write_all_(int fd, const char *text, size_t n)
{
    while (n) {
        long wrote = perf_fd_write_(fd, text, n);
        if (wrote == 0 || (wrote < 0 && PERF_ERRNO_ != PERF_EINTR_))
            return 0;
        if (wrote > 0) {
            text += wrote;
            n -= PERF_CAST_(size_t, wrote);
        }
    }
    return 1;
}
#endif

/* Writes n bytes to the stream; 0: failed.  A C library loses what a signal interrupts on its way
 * into a pipe, so there it is written past the stream's buffer.                                  */
PERF_COLD_FN_ int perf_out_bytes_(FILE *file, const char *text, size_t n)
{
#if PERF_LP64_UNIX_
    const int fd = n ? perf_out_pipe_(file) : -1;
    int       ok;

    if (fd >= 0) {
        perf_flockfile_(file);
        ok = !perf_fflush_(file) && perf_fd_write_all_(fd, text, n);
        perf_funlockfile_(file);
        return ok;
    }
#endif
    return perf_fwrite_(text, 1, n, file) == n;
}

/* Writes n bytes, flushes, and closes where asked to; 0: failed, errno says why.  It fails, too,
 * when a pipe's reader has left, or a limit of the file's size is reached.  The signal that comes
 * with that would end the program: it is held back, and taken.                                   */
PERF_COLD_FN_ int perf_out_write_(FILE *file, const char *text, size_t n, int closes)
{
    int ok;
#ifdef PERF_SIG_BLOCK_
    unsigned long hold[32] = {0}, was[32] = {0}, pending[32] = {0};     /* sigset_t is shorter   */
    const long    now[4] = {0, 0, 0, 0};

    (void)perf_sigpending_(pending);            /* what the program has waiting stays             */
    hold[0] = (1ul << 12 | 1ul << 24) & ~pending[0];        /* SIGPIPE, SIGXFSZ                   */
    (void)perf_sigmask_(PERF_SIG_BLOCK_, hold, was);
#endif
    ok = perf_out_bytes_(file, text, n);
    if (closes)
        ok = !perf_fclose_(file) && ok;
    else
        ok = !perf_fflush_(file) && ok;
#ifdef PERF_SIG_BLOCK_
    if (!ok && !perf_sigpending_(pending) && pending[0] & hold[0])
        (void)perf_sigtimedwait_(hold, PERF_NULL_, now);
    (void)perf_sigmask_(PERF_SIG_BLOCK_ + 2, was, PERF_NULL_);
#endif
    return ok;
}

PERF_COLD_FN_ void perf_file_close_(perf_file_ *file)
{
    file->failed |= file->file && !perf_out_write_(file->file, "", 0, 1);
    file->file = PERF_NULL_;
}

/* Writes out the buffer: for those who write at `at` themselves, when they are past limit. */
PERF_COLD_FN_ void perf_file_flush_(perf_file_ *file)
{
    size_t n = PERF_CAST_(size_t, file->at - file->begin);

    file->failed |= n && !perf_out_write_(file->file, file->begin, n, 0);
    file->written += n;
    file->at = file->begin;
}

PERF_FN void perf_file_put_(perf_file_ *file, const char *text)
{
    size_t n = PERF_LIBC_(strlen)(text);

    PERF_LIBC_(memcpy)(file->at, text, n);
    file->at += n;
    if (file->at > file->limit)
        perf_file_flush_(file);
}

/* A text to be appended to the file, at most 3 * PERF_FILE_RECORD_ bytes; then perf_file_wrote_. */
PERF_FN perf_out_ perf_file_out_(const perf_file_ *file)
{
    return perf_out_open_(file->at, 3 * PERF_FILE_RECORD_);
}

PERF_FN void perf_file_wrote_(perf_file_ *file, const perf_out_ *out)
{
    file->at += out->len;
    if (file->at > file->limit)
        perf_file_flush_(file);
}

/* A text as a JSON string. */
PERF_COLD_FN_ void perf_file_json_(perf_file_ *file, const char *text)
{
    perf_out_ out = perf_file_out_(file);

    perf_put_json_(&out, text);
    perf_file_wrote_(file, &out);
}

PERF_FN void perf_file_putf_(perf_file_ *file, const char *format, ...)
    PERF_ATTR_((__format__(__printf__, 2, 3)));
PERF_FN void perf_file_putf_(perf_file_ *file, const char *format, ...)
{
    perf_out_ out = perf_file_out_(file);
    va_list   args;

    va_start(args, format);
    perf_putv_(&out, format, &args);
    va_end(args);
    perf_file_wrote_(file, &out);
}

enum { PERF_FILE_NONE_, PERF_FILE_REGULAR_, PERF_FILE_DIRECT_ };
#define PERF_FILE_NO_MODE_ (~0u)        /* in place of permissions, of which 0 is one             */

/* What stands at `path`.  *mode: the permissions of a regular file that is no link, for others
 * PERF_FILE_NO_MODE_.  Links are replaced, not followed; but /dev/stdout, /dev/fd/3 and the like
 * mean what they point to.                                                                       */
PERF_COLD_FN_ int perf_file_kind_(const char *path, unsigned *mode)
{
#if PERF_POSIX_FILES_
    struct perf_inode_ inode;
    char              ch;
    int               linked, special;

    *mode = PERF_FILE_NO_MODE_;
    PERF_LIBC_(memset)(&inode, 0, sizeof inode);
    if (perf_stat_(path, &inode))
        return PERF_FILE_NONE_;
    linked = perf_readlink_(path, &ch, 1) >= 0;
    special = !PERF_LIBC_(strncmp)(path, "/proc/", 6) ||
              (!PERF_LIBC_(strncmp)(path, "/dev/", 5) && PERF_LIBC_(strncmp)(path, "/dev/shm/", 9));
    if (!PERF_S_REGULAR_(inode.st_mode) || (linked && special))
        return PERF_FILE_DIRECT_;
    if (!linked)
        *mode = PERF_CAST_(unsigned, inode.st_mode) & 0777;
    return PERF_FILE_REGULAR_;
#else
    FILE *file = fopen(path, "rb");

    *mode = PERF_FILE_NO_MODE_;
    if (file)
        (void)fclose(file);
    return file ? PERF_FILE_REGULAR_ : PERF_FILE_NONE_;
#endif
}

#if defined(PERF_AT_EXIT) && PERF_AT_EXIT
/* Writes PATH.PID, or where that is taken PATH.PID.2, .3 ...: a process may be another program
 * after an exec, and processes of several containers may have one number.                        */
PERF_COLD_FN_ void perf_put_beside_(char *own, size_t size, const char *path)
{
    unsigned mode;
    int      turn;

    for (turn = 1; turn < 100; turn++) {
        perf_out_ name = perf_out_open_(own, size);
        perf_put_(&name, path);
        perf_put_own_pid_(&name);
        if (turn > 1)
            perf_putf_(&name, ".%.0f", 1.0 * turn);
        if (perf_file_kind_(own, &mode) == PERF_FILE_NONE_)
            return;
    }
}
#endif

/* A number of the file that stands at `path`, of its number and its disk's: two files have one by
 * chance in 2^64.  0: there is none, or it is not known.                                         */
PERF_COLD_FN_ uint64_t perf_file_inode_(const char *path)
{
#if PERF_POSIX_FILES_
    struct perf_inode_ inode;

    PERF_LIBC_(memset)(&inode, 0, sizeof inode);
    return perf_stat_(path, &inode) ? 0 : PERF_INODE_(inode);
#else
    (void)path;
    return 0;
#endif
}

/* The number of the file that is open; 0: it is not known, or the program has closed it. */
PERF_COLD_FN_ uint64_t perf_file_open_inode_(const perf_file_ *file)
{
#if PERF_POSIX_FILES_
    struct perf_inode_ inode;

    PERF_LIBC_(memset)(&inode, 0, sizeof inode);
    return perf_fstat_(file->fd, &inode) ? 0 : PERF_INODE_(inode);
#else
    (void)file;
    return 0;
#endif
}

/* Opens a regular file to read.  NULL for all else: a pipe may never send, a device never end.  It
 * does not wait for one that takes the file's place at this moment, either.                      */
PERF_COLD_FN_ FILE *perf_file_read_(const char *path)
{
#if PERF_POSIX_FILES_
    struct perf_inode_ inode;
    FILE              *file = PERF_NULL_;
    int                fd = -1;

    PERF_LIBC_(memset)(&inode, 0, sizeof inode);
    if (!perf_stat_(path, &inode) && PERF_S_REGULAR_(inode.st_mode))
        fd = perf_open_(path, PERF_O_NONBLOCK_ | PERF_O_CLOEXEC_);
    if (fd >= 0 && !(file = perf_fdopen_(fd, "rb")))
        (void)perf_close_(fd);
    return file;
#else
    return fopen(path, "rb");
#endif
}

/* A number that nobody can guess, but not good as a key: without /dev/urandom it is made from an
 * address.                                                                                       */
PERF_COLD_FN_ uint64_t perf_file_random_(int turn)
{
    uint64_t value = PERF_PTR_(uintptr_t, &turn) + PERF_CAST_(unsigned, turn);
#if PERF_POSIX_FILES_
    int      fd = perf_open_("/dev/urandom", PERF_O_CLOEXEC_);

    /* where this or the call before fails: `value` stays */
    (void)!perf_fd_read_(fd, &value, sizeof value);
    (void)perf_close_(fd);
#endif
    value *= UINT64_C(0x9e3779b97f4a7c15);
    return value ^ value >> 29;
}

/* Creates PATH.0123456789.part, a name not taken; a link that stands there is not followed. */
PERF_COLD_FN_ FILE *perf_file_beside_(perf_file_ *f, const char *path, unsigned mode)
{
    FILE *file = PERF_NULL_;
    int   turn;

    for (turn = 0; turn < 16 && !file; turn++) {
        perf_out_ name = perf_out_open_(f->part, PERF_LIBC_(strlen)(path) + 24);
        perf_putf_(&name, "%s.%.0f.part", path, 1e9 + PERF_CAST_(double, perf_file_random_(turn) %
                                                                 UINT64_C(9000000000)));
#if PERF_POSIX_FILES_
        f->fd = perf_open_(f->part, 2 | PERF_O_CREAT_ | PERF_O_EXCL_ | PERF_O_NOFOLLOW_ |
                           PERF_O_CLOEXEC_, mode == PERF_FILE_NO_MODE_ ? 0666 : 0600);
        if (f->fd < 0)
            continue;
        if ((mode != PERF_FILE_NO_MODE_ && perf_fchmod_(f->fd, mode)) ||
            !(file = perf_fdopen_(f->fd, "w+b"))) {
            (void)perf_close_(f->fd);
            (void)perf_remove_(f->part);
            return PERF_NULL_;
        }
#else
        (void)mode;
        file = fopen(f->part, "w+b");
#endif
    }
    return file;
}

/* Opens `path` if it is a device, else a new file beside it.  0: failed; `starved`: no memory. */
PERF_COLD_FN_ int perf_file_begin_(perf_file_ *file, const char *path)
{
    unsigned mode;
    int      kind = perf_file_kind_(path, &mode);

    file->failed = 1;
    file->fd = -1;
    file->direct = kind == PERF_FILE_DIRECT_;
    file->file = PERF_NULL_;
    file->part = PERF_CAST_(char *, PERF_MALLOC(PERF_LIBC_(strlen)(path) + 24));
    file->starved = !file->part;
    if (file->starved)
        return 0;
#if PERF_POSIX_FILES_
    if (file->direct) {                         /* without O_CREAT: it may be gone meanwhile      */
        file->fd = perf_open_(path, 1 | PERF_O_TRUNC_ | PERF_O_NONBLOCK_ | PERF_O_CLOEXEC_);
        if (file->fd >= 0 && !(file->file = perf_fdopen_(file->fd, "wb")))
            (void)perf_close_(file->fd);
        if (file->file)                         /* open waited for no pipe; writes may wait       */
            /* F_SETFL of F_GETFL */
            (void)perf_fcntl_(file->fd, 4, perf_fcntl_(file->fd, 3) & ~PERF_O_NONBLOCK_);
    }
#endif
    if (!file->direct)
        file->file = perf_file_beside_(file, path, mode);
    file->failed = !file->file;
    if (file->failed) {
        PERF_FREE(file->part);
        file->part = PERF_NULL_;
    }
    return !file->failed;
}

#if PERF_POSIX_FILES_
/* Opens the folder of a file; -1: failed.  With wait_ns it also locks the folder.  After so long it
 * goes on without the lock: somebody may keep it for ever, and some file systems lock no folder
 * (NFS).                                                                                         */
PERF_COLD_FN_ int perf_file_folder_(const char *path, uint64_t wait_ns)
{
    const uint64_t end = perf_system_ns_(PERF_CLOCK_MONOTONIC_ID_) + wait_ns;
    size_t         n = PERF_LIBC_(strlen)(path);
    char          *room = PERF_CAST_(char *, PERF_MALLOC(n + 2));
    int            fd;

    while (n && path[n - 1] != '/')
        n--;
    if (room)
        PERF_LIBC_(memcpy)(PERF_CAST_(char *, PERF_LIBC_(memcpy)(room, path, n)) + n, ".", 2);
    fd = room ? perf_open_(room, PERF_O_CLOEXEC_) : -1;
    PERF_FREE(room);
    while (fd >= 0 && wait_ns && perf_flock_(fd, 6) &&      /* LOCK_EX | LOCK_NB; EWOULDBLOCK:    */
           (PERF_ERRNO_ == 11 || PERF_ERRNO_ == 35) &&      /* of Linux, of others                */
           perf_system_ns_(PERF_CLOCK_MONOTONIC_ID_) < end)
        (void)perf_sched_yield_();
    return fd;
}
#else
#define perf_file_folder_(path, wait_ns) (-1)
#define perf_fsync_(fd)                0
#define perf_close_(fd)                ((void)(fd))
#endif

/* Closes the file and gives it its name, or removes it: keep 0, or a failure.  0: failed. */
PERF_COLD_FN_ int perf_file_end_(perf_file_ *file, const char *path, int keep)
{
    file->failed |= file->durable && keep && !file->direct && perf_fsync_(file->fd);
    perf_file_close_(file);
#if defined(_WIN32)
    if (keep && !file->failed)
        (void)perf_remove_(path);               /* rename does not replace on Windows             */
#endif
    file->failed |= !file->direct && keep && !file->failed && perf_rename_(file->part, path);
    if (!file->direct && (file->failed || !keep))
        (void)perf_remove_(file->part);
    else if (file->durable && !file->direct) {  /* or the name of a new file may be lost          */
        file->fd = perf_file_folder_(path, 0);
        (void)perf_fsync_(file->fd);            /* some file systems refuse: the file is there    */
        (void)perf_close_(file->fd);
    }
    PERF_FREE(file->part);
    file->part = PERF_NULL_;
    return !file->failed;
}

#if defined(__linux__) && !PERF_TCC_
extern int perf_cancel_state_(int, int *) __asm__(PERF_SYM_("pthread_setcancelstate"))
    PERF_ATTR_((__weak__));
#endif

/* Calls that write are where a thread can be cancelled: half a file, or a lock for ever, would be
 * left.  From here to perf_cancel_on_, which gets what this returns, it is not.                  */
PERF_COLD_FN_ int perf_cancel_off_(void)
{
    int was = 1;                                /* of Linux: 0 may be cancelled, 1 may not        */

#if defined(__linux__) && !PERF_TCC_
    if (perf_cancel_state_)
        (void)perf_cancel_state_(1, &was);
#endif
    return was;
}

PERF_COLD_FN_ void perf_cancel_on_(int was)
{
#if defined(__linux__) && !PERF_TCC_
    if (perf_cancel_state_ && !was)
        (void)perf_cancel_state_(0, PERF_NULL_);
#else
    (void)was;
#endif
}

/* Writes a file beside `path` by a callback, then renames it to `path`.  Of several processes or
 * threads that save to one path, the last one wins.  file->durable may be set before.            */
PERF_COLD_FN_ perf_status perf_file_save_(const char *path, perf_file_ *file, void (*write)(void *),
                                          void *with)
{
    char *buffer;
    int   cancel;

    if (!path || !*path)
        return PERF_EINVAL;
    cancel = perf_cancel_off_();
    buffer = PERF_CAST_(char *, PERF_MALLOC(PERF_FILE_BYTES_ + 2 * PERF_FILE_RECORD_));
    file->at = file->begin = buffer;
    file->failed = file->starved = !buffer;
    if (buffer)
        file->limit = buffer + PERF_FILE_BYTES_ - PERF_FILE_RECORD_;
    if (buffer && perf_file_begin_(file, path)) {
        write(with);
        (void)perf_file_end_(file, path, 1);
    }
    PERF_FREE(buffer);
    perf_cancel_on_(cancel);
    if (!file->failed)
        return PERF_OK;
    return file->starved ? PERF_ENOMEM : PERF_EIO;
}

/* ---- small files ---- */

/* Reads the beginning of a file into `text`, cut to fit.  Returns how many bytes; 0: none. */
PERF_COLD_FN_ size_t perf_file_head_(const char *path, char *text, size_t cap)
{
    FILE  *file = perf_file_read_(path);
    size_t length = 0;

    if (file) {
        length = perf_fread_(text, 1, cap - 1, file);
        (void)perf_fclose_(file);
    }
    text[length] = '\0';
    return length;
}

/* Reads the first line of a small file, without its newline; 0: there is none. */
PERF_COLD_FN_ int perf_first_line_(const char *path, char *line, size_t cap)
{
    size_t any = perf_file_head_(path, line, cap);
    char  *end = PERF_LIBC_(strchr)(line, '\n');

    if (end)
        *end = '\0';
    return any > 0;
}

/* ---- libraries found at run time ---- */

#if defined(__linux__) && PERF_LP64_UNIX_ && !PERF_TCC_
#define PERF_DL_ 1
extern void *perf_dlsym_(void *, const char *) __asm__(PERF_SYM_("dlsym")) PERF_ATTR_((__weak__));
#else
#define PERF_DL_ 0
#endif

/* Opens a library by the first of its names that answers; NULL: none does.  One that is in the
 * process already comes first, whatever folder it came from.                                     */
PERF_COLD_FN_ void *perf_library_open_(const char *const *name)
{
    static const int how[2] = {1 | 4, 1};       /* 1: lazy, local; 4: only if it is loaded */
    int              i, step;
    void            *library = PERF_NULL_;

    for (step = 0; step < 2 && !library; step++)
        for (i = 0; name[i] && !library; i++) {
#if PERF_DL_
            if (perf_dlopen_ != PERF_NULL_ && perf_dlsym_ != PERF_NULL_)
                library = perf_dlopen_(name[i], how[step]);
#endif
        }
    (void)how;
    return library;
}

/* Puts a function of a library into a field, which stays as it is where the library lacks it.
 * Function pointers come out of dlsym as data pointers: copied, since no cast is allowed.        */
PERF_COLD_FN_ void perf_library_symbol_(void *library, const char *prefix, const char *name,
                                    void *field)
{
    char      full[64];
    perf_out_ out = perf_out_open_(full, sizeof full);
    void     *memory = PERF_NULL_;

    perf_putf_(&out, "%s%s", prefix, name);
#if PERF_DL_
    if (!*name || perf_dlsym_ == PERF_NULL_)    /* this library has no such function, or nobody   */
        return;                                 /* can look for one, as in static programs        */
    memory = perf_dlsym_(library, full);
    if (!memory && out.len > 3 && !PERF_LIBC_(strcmp)(full + out.len - 3, "_v2")) {
        full[out.len - 3] = '\0';
        memory = perf_dlsym_(library, full);
    }
#endif
    (void)library;
    if (memory)
        PERF_LIBC_(memcpy)(field, &memory, sizeof memory);
}

/* ---- the screen ---- */

#if PERF_POSIX_FILES_
extern int perf_isatty_(int) __asm__(PERF_SYM_("isatty"));
extern int perf_ioctl_(int, unsigned long, ...) __asm__(PERF_SYM_("ioctl"));
#if defined(__linux__) && !defined(__mips__) && !defined(__powerpc__) && !defined(__sparc__)
#define PERF_TIOCGWINSZ_ 0x5413ul
#else
#define PERF_TIOCGWINSZ_ 0x40087468ul
#endif

/* The value of COLUMNS; 0: none. */
PERF_COLD_FN_ int perf_columns_asked_(void)
{
    const char *text = perf_getenv_("COLUMNS");
    int         columns = 0;

    for (; text && *text >= '0' && *text <= '9' && columns < 1000; text++)
        columns = 10 * columns + (*text - '0');
    return columns;
}

PERF_COLD_FN_ int perf_terminal_columns_(int fd)
{
    unsigned short size[4] = {0, 0, 0, 0};      /* rows, columns, and both in pixels              */

    if (perf_ioctl_(fd, PERF_TIOCGWINSZ_, size) || !size[1])
        return 80;
    return size[1];
}

/* Columns and style of the screen that `file` is. */
PERF_COLD_FN_ void perf_screen_of_(perf_out_ *out, FILE *file)
{
    const int   fd = perf_fileno_(file), terminal = perf_isatty_(fd);
    const char *no_color = perf_getenv_("NO_COLOR"), *term = perf_getenv_("TERM");
    int         columns = perf_columns_asked_();

    if (terminal) {
        const int plain = (no_color && *no_color) || !term || !PERF_LIBC_(strcmp)(term, "dumb");
        out->style = plain ? PERF_BARS_ : PERF_BARS_ | PERF_COLOR_;
    }
    if (out->width)
        return;
    if (terminal && !columns)
        columns = perf_terminal_columns_(fd);
    if (columns)
        out->width = columns < 60 ? 60 : columns;
}
#endif

PERF_END_DECLS

#endif /* PERF_FILE_H */
