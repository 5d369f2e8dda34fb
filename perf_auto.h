/* perf_auto.h - every function is a scope: no marks, one option of the compiler.
 *
 *     #define PERF_AT_EXIT 1                  // in one file of the program
 *     #include "perf_auto.h"                  // first of our headers
 *
 *   $ gcc -O2 -g -finstrument-functions -DPERF_AUTO parse.c ...      // gcc and clang
 *   $ PERF_AUTO='parse*,-*@zlib.c,depth=8' PERF_REPORT=tree ./program
 *
 * The files compiled with that option call a function of this header at the begin and the end of
 * each of their own.  Names come from the symbols of the program and its shared objects (ELF with
 * 64 bits; elsewhere addresses).  docs/auto.md says what it costs, and what it does not see.
 * PERF_DISABLE=1: the two hooks do nothing.
 * Sections (search for ">>"):  filters  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_AUTO_H
#define PERF_AUTO_H

#ifndef PERF_AUTO
#define PERF_AUTO               /* -D in all files: our own functions call no hooks               */
#endif
#include "perf_file.h"
#include "perf_record.h"
#ifdef PERF_AT_EXIT
#if PERF_AT_EXIT
#include "perf_report.h"
#endif
#endif

/* >>filters ------------------------------------------------------------------------------------
 * The variable PERF_AUTO holds words with commas between them, read at the first call:
 *     parse*          only functions of such a name; several: any of them.  * any text, ? any byte
 *     -std::*         none of such a name; stronger than the words without a minus
 *     *@zlib.c        a static function of that source file, or any of that program or object
 *     depth=8         none below so many that are recorded
 *     least=10us      shorter calls are counted, but leave no event in the trace; ns us ms s
 * What is left out has its time in its caller.  A word that is none of these: perf_error() is
 * PERF_EINVAL.  More than 1,023 bytes: PERF_ELIMIT, the rest is not read.                        */

/* >>private ------------------------------------------------------------------------------------ */

#if !PERF_TCC_

PERF_BEGIN_DECLS

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif

/* What the compiler calls.  Weak: the first of several files serves. */
#define PERF_AUTO_HOOK_                                                                           \
    PERF_ATTR_((__weak__, __used__, __nothrow__, __visibility__("default"),                       \
                __no_instrument_function__))
PERF_AUTO_HOOK_ void __cyg_profile_func_enter(void *function, void *caller);
PERF_AUTO_HOOK_ void __cyg_profile_func_exit(void *function, void *caller);

#if PERF_DISABLE
PERF_AUTO_HOOK_ void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)function, (void)caller;
}

PERF_AUTO_HOOK_ void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function, (void)caller;
}
#else

/* ---- names from symbols ---- */

typedef struct perf_auto_name_ {
    const char *raw;            /* as the linker knows it; NULL: not known                        */
    const char *source;         /* file of a static function; NULL: not known                     */
    uint64_t    bytes;          /* of its code; 0: not known                                      */
    char        object[64];     /* last part of the path of its program or shared object          */
    char        text[512];      /* what reports show                                              */
} perf_auto_name_;

#if PERF_NOTES_
typedef struct perf_elf_header_ {       /* Elf64_Ehdr, Elf64_Shdr, Elf64_Sym, without <elf.h>     */
    unsigned char id[16];
    uint16_t      type, machine;
    uint32_t      version;
    uint64_t      entry, segments_at, sections_at;
    uint32_t      flags;
    uint16_t      bytes, segment_bytes, segments, section_bytes, sections, names;
} perf_elf_header_;

typedef struct perf_elf_section_ {
    uint32_t name, type;
    uint64_t flags, address, offset, bytes;
    uint32_t link, info;
    uint64_t align, entry_bytes;
} perf_elf_section_;

typedef struct perf_elf_symbol_ {
    uint32_t      name;
    unsigned char info, other;
    uint16_t      section;
    uint64_t      value, bytes;
} perf_elf_symbol_;
#define PERF_ELF_SYMBOLS_     2u        /* type of a section: all symbols                         */
#define PERF_ELF_DYNAMIC_     11u       /* those that other objects may use                       */
#define PERF_ELF_IS_FUNCTION_ 2u        /* kind of a symbol                                       */
#define PERF_ELF_IS_FILE_     4u
#define PERF_ELF_KIND_(s)     ((s)->info & 15u)
#define PERF_ELF_LOCAL_(s)    ((s)->info >> 4 == 0)

/* A program or shared object: its file, mapped, and a table of its functions.  Never freed. */
typedef struct perf_auto_object_ {
    struct perf_auto_object_ *next;
    uint64_t                  base;     /* the file's addresses count from here                   */
    uint64_t                  first, last;      /* addresses of its code: first <= a < last       */
    char                      path[256];        /* cut: the file is not read                      */
    const char               *file;     /* NULL: it could not be read                             */
    uint64_t                  file_bytes;
    const perf_elf_symbol_   *symbol;   /* [symbols]; NULL: it has none                           */
    uint64_t                  symbols;
    const char               *text;     /* their names, [text_bytes]                              */
    uint64_t                  text_bytes;
    uint32_t                 *at;       /* [mask + 1], by address: number of a symbol; 0: free    */
    uint64_t                  mask;
    uint32_t                  pinned;   /* 1: it stays loaded                                     */
} perf_auto_object_;

typedef struct perf_auto_where_ {       /* what is looked for, and what was found                 */
    uint64_t          address;
    perf_auto_object_ found;            /* last 0: nothing                                        */
} perf_auto_where_;

struct perf_auto_segment_ {     /* Elf64_Phdr and dl_phdr_info, without <link.h>                  */
    uint32_t type, flags;
    uint64_t offset, address, physical, file_bytes, bytes, align;
};

struct perf_auto_image_ {
    uint64_t                         base;
    const char                      *name;
    const struct perf_auto_segment_ *segment;
    uint16_t                         segments;
};

extern int perf_auto_walk_(int (*)(struct perf_auto_image_ *, size_t, void *), void *)
    __asm__(PERF_SYM_("dl_iterate_phdr"));

extern char *perf_demangle_(const char *, char *, size_t *, int *)
    __asm__(PERF_SYM_("__cxa_demangle")) PERF_ATTR_((__weak__));

#define PERF_AUTO_PROGRAM_ "/proc/self/exe"

static perf_auto_object_ *perf_auto_objects_;   /* atomic; newest first                           */

/* Called for each program and object that is loaded. */
PERF_COLD_FN_ int perf_auto_visit_(struct perf_auto_image_ *image, size_t size, void *data)
{
    perf_auto_where_                *w = PERF_CAST_(perf_auto_where_ *, data);
    const struct perf_auto_segment_ *s = image->segment, *end = s + image->segments;
    const char                      *path = PERF_AUTO_PROGRAM_;
    size_t                           length;

    (void)size;
    if (image->name && *image->name)            /* else the program                               */
        path = image->name;
    length = PERF_LIBC_(strlen)(path);
    for (; s != end; s++) {
        const uint64_t first = image->base + s->address;

        if (s->type != 1 || w->address < first || w->address - first >= s->bytes)   /* PT_LOAD    */
            continue;
        w->found.base = image->base;
        w->found.first = first;
        w->found.last = first + s->bytes;
        if (length < sizeof w->found.path)
            PERF_LIBC_(memcpy)(w->found.path, path, length + 1);
        return 1;
    }
    return 0;
}

/* Maps a file to read it.  Leaves `file` NULL if that cannot be done. */
PERF_COLD_FN_ void perf_auto_map_file_(perf_auto_object_ *o)
{
    int   fd = *o->path ? perf_open_(o->path, 0x80000) : -1;            /* O_RDONLY | O_CLOEXEC   */
    long  bytes;
    void *p;

    if (fd < 0)
        return;
    bytes = perf_lseek_(fd, 0, 2);              /* SEEK_END                                       */
    if (bytes >= PERF_CAST_(long, sizeof(perf_elf_header_))) {
        p = perf_mmap_(PERF_NULL_, PERF_CAST_(size_t, bytes), 1, 2, fd, 0);     /* read, private  */
        if (PERF_PTR_(intptr_t, p) != -1) {
            o->file = PERF_CAST_(const char *, p);
            o->file_bytes = PERF_CAST_(uint64_t, bytes);
        }
    }
    (void)perf_close_(fd);
}

/* `bytes` of the file from `offset` on; NULL: it is shorter, or they are not aligned. */
PERF_COLD_FN_ const void *perf_auto_part_(const perf_auto_object_ *o, uint64_t offset,
                                          uint64_t bytes)
{
    if (offset > o->file_bytes || bytes > o->file_bytes - offset || offset % 8)
        return PERF_NULL_;
    return o->file + offset;
}

/* Finds the table of symbols of the given type, and its names. */
PERF_COLD_FN_ void perf_auto_table_(perf_auto_object_ *o, uint32_t type)
{
    const perf_elf_header_  *h = PERF_CAST_(const perf_elf_header_ *,
                                            perf_auto_part_(o, 0, sizeof *h));
    const perf_elf_section_ *all, *s, *names;
    uint64_t                 sections, i;

    if (!h || PERF_LIBC_(memcmp)(h->id, "\177ELF\2", 5) || h->section_bytes != sizeof *s)
        return;
    all = PERF_CAST_(const perf_elf_section_ *, perf_auto_part_(o, h->sections_at, sizeof *s));
    if (!all)
        return;
    sections = h->sections;
    if (!sections)                              /* more than fit: the first one says it           */
        sections = all->bytes;
    if (sections > o->file_bytes / sizeof *s ||
        !perf_auto_part_(o, h->sections_at, sections * sizeof *s))
        return;
    for (i = 0; i < sections; i++) {
        s = &all[i];
        if (s->type != type || s->link >= sections)
            continue;
        names = &all[s->link];
        if (names->offset > o->file_bytes || names->bytes > o->file_bytes - names->offset ||
            !names->bytes)
            continue;
        o->symbol = PERF_CAST_(const perf_elf_symbol_ *,
                               perf_auto_part_(o, s->offset, s->bytes));
        o->symbols = o->symbol ? s->bytes / sizeof *o->symbol : 0;
        o->text = o->file + names->offset;
        o->text_bytes = names->bytes;
        if (o->text[o->text_bytes - 1])         /* a text without an end                          */
            o->symbols = 0;
    }
}

/* The place of an address in the table `at`: its symbol's, or a free one. */
PERF_COLD_FN_ uint32_t *perf_auto_symbol_at_(const perf_auto_object_ *o, uint64_t value)
{
    uint64_t i = (value >> 4 ^ value >> 18) & o->mask;

    while (o->at[i] && o->symbol[o->at[i]].value != value)
        i = (i + 1) & o->mask;
    return &o->at[i];
}

/* Enters all functions of an object in `at`. */
PERF_COLD_FN_ void perf_auto_index_(perf_auto_object_ *o)
{
    uint64_t  room = 64, i;
    uint32_t *place;

    if (o->symbols > UINT32_MAX)
        o->symbols = 0;
    while (room < 2 * o->symbols)
        room *= 2;
    o->at = PERF_CAST_(uint32_t *, perf_pages_(PERF_CAST_(size_t, room * sizeof *o->at), 0));
    o->mask = room - 1;
    if (!o->at)
        o->symbols = 0;
    for (i = 1; i < o->symbols; i++) {
        const perf_elf_symbol_ *s = &o->symbol[i];

        if (PERF_ELF_KIND_(s) != PERF_ELF_IS_FUNCTION_ || !s->section || !s->value ||
            s->name >= o->text_bytes)
            continue;
        place = perf_auto_symbol_at_(o, s->value);
        if (!*place)
            *place = PERF_CAST_(uint32_t, i);
    }
}

/* Reads the symbols of an object, and adds it to the list.  NULL: no memory.  Two threads that do
 * it at once add it twice, which harms nobody.                                                   */
PERF_COLD_FN_ perf_auto_object_ *perf_auto_object_read_(const perf_auto_object_ *found)
{
    perf_auto_object_ *o = PERF_CAST_(perf_auto_object_ *, perf_pages_(sizeof *o, 0));

    if (!o)
        return PERF_NULL_;
    *o = *found;
    perf_auto_map_file_(o);
    if (o->file) {
        perf_auto_table_(o, PERF_ELF_SYMBOLS_);
        if (!o->symbols)                        /* stripped                                       */
            perf_auto_table_(o, PERF_ELF_DYNAMIC_);
        perf_auto_index_(o);
    }
    o->next = PERF_ACQ_(&perf_auto_objects_);
    while (!__atomic_compare_exchange_n(&perf_auto_objects_, &o->next, o, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
    }
    return o;
}

/* An object in which the main thread names a function stays loaded: where it was, another one would
 * get its names.  Not in other threads: a constructor, with the loader's lock, may wait for one. */
PERF_COLD_FN_ void perf_auto_pin_(perf_auto_object_ *o)
{
    if (PERF_GET_(&o->pinned) || perf_thread_id_() != perf_process_id_())
        return;
    PERF_SET_(&o->pinned, 1u);
    if (perf_dlopen_ && *o->path && PERF_LIBC_(strcmp)(o->path, PERF_AUTO_PROGRAM_))
        (void)perf_dlopen_(o->path, 0x1005);    /* RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE        */
}

/* The object of an address; NULL: none, or no memory.  The loader is asked. */
PERF_COLD_FN_ perf_auto_object_ *perf_auto_object_of_(uint64_t address)
{
    perf_auto_object_ *o = PERF_ACQ_(&perf_auto_objects_);
    perf_auto_where_   w = PERF_ZERO;

    while (o && (address < o->first || address >= o->last))
        o = o->next;
    w.address = address;
    if (!o)
        (void)perf_auto_walk_(perf_auto_visit_, &w);
    if (w.found.last)
        o = perf_auto_object_read_(&w.found);
    if (o)
        perf_auto_pin_(o);
    return o;
}

/* The source file of a static function: the last symbol of that kind before it. */
PERF_COLD_FN_ const char *perf_auto_source_(const perf_auto_object_ *o, uint64_t i)
{
    if (!PERF_ELF_LOCAL_(&o->symbol[i]))
        return PERF_NULL_;
    while (i-- > 0)
        if (PERF_ELF_KIND_(&o->symbol[i]) == PERF_ELF_IS_FILE_) {
            const uint32_t name = o->symbol[i].name;
            return name < o->text_bytes && o->text[name] ? o->text + name : PERF_NULL_;
        }
    return PERF_NULL_;
}

/* Finds the symbol of a function. */
PERF_COLD_FN_ void perf_auto_look_up_(perf_auto_name_ *name, const void *function)
{
    const uint64_t           address = PERF_PTR_(uintptr_t, function);
    const perf_auto_object_ *o = perf_auto_object_of_(address);
    const char              *last;
    size_t                   length;
    uint32_t                 i;

    if (!o)
        return;
    last = PERF_LIBC_(strrchr)(o->path, '/');
    last = last ? last + 1 : o->path;
    length = PERF_LIBC_(strlen)(last);
    if (length >= sizeof name->object)
        length = sizeof name->object - 1;
    PERF_LIBC_(memcpy)(name->object, last, length);
    if (!o->symbols)
        return;
    i = *perf_auto_symbol_at_(o, address - o->base);
    if (!i)
        return;
    name->raw = o->text + o->symbol[i].name;
    name->source = perf_auto_source_(o, i);
    name->bytes = o->symbol[i].bytes;
}
#else
PERF_COLD_FN_ void perf_auto_look_up_(perf_auto_name_ *name, const void *function)
{
    (void)name, (void)function;
}
#endif

/* Where the name of a copy that the compiler has made ("f.part.0") has its tail; else its end. */
PERF_COLD_FN_ const char *perf_auto_tail_(const char *raw)
{
    static const char *const tails[] = {".part.", ".isra.", ".constprop.", ".cold", ".lto_priv.",
                                        ".llvm."};
    const char *end = raw + PERF_LIBC_(strlen)(raw), *tail;
    size_t      i;

    for (i = 0; i < sizeof tails / sizeof *tails; i++) {
        tail = PERF_LIBC_(strstr)(raw, tails[i]);
        if (tail && tail > raw && tail < end)
            end = tail;
    }
    return end;
}

/* Makes the text of a name: C++ names as they are written, an address where there is none. */
PERF_COLD_FN_ void perf_auto_text_(perf_auto_name_ *name, const void *function)
{
    perf_out_ o = perf_out_open_(name->text, sizeof name->text);
    uint64_t  address = PERF_PTR_(uintptr_t, function);
    int       shift = 60;
#if PERF_NOTES_
    char  *plain;
    size_t length;
#endif

    if (!name->raw) {
        perf_put_(&o, "0x");
        while (shift > 0 && !(address >> shift))
            shift -= 4;
        for (; shift >= 0; shift -= 4)
            perf_put_char_(&o, "0123456789abcdef"[address >> shift & 15]);
        return;
    }
    perf_put_n_(&o, name->raw, PERF_CAST_(size_t, perf_auto_tail_(name->raw) - name->raw));
#if PERF_NOTES_
    if (PERF_PTR_(uintptr_t, &perf_demangle_) == 0 || PERF_LIBC_(strncmp)(name->text, "_Z", 2))
        return;
    plain = perf_demangle_(name->text, PERF_CAST_(char *, PERF_NULL_),
                           PERF_CAST_(size_t *, PERF_NULL_), PERF_CAST_(int *, PERF_NULL_));
    if (!plain)
        return;
    length = PERF_LIBC_(strlen)(plain);
    if (length >= sizeof name->text)
        length = sizeof name->text - 1;
    PERF_LIBC_(memcpy)(name->text, plain, length);
    name->text[length] = '\0';
    __builtin_free(plain);
#endif
}

/* ---- filters ---- */

typedef struct perf_auto_filter_ {
    uint32_t state;             /* 0: not read yet, 1: somebody reads, 2: ready                   */
    uint32_t depth;             /* so many calls at once are recorded                             */
    double   least_ns;          /* of a call in the trace                                         */
    uint64_t least;             /* the same in ticks; 0: all                                      */
    char     words[1024];       /* each with its 0; an empty one ends them                        */
} perf_auto_filter_;

static perf_auto_filter_ perf_auto_filter_v1_;

/* Does a text match a pattern?  * any text, ? any byte. */
PERF_COLD_FN_ int perf_auto_like_(const char *text, const char *pattern, const char *end)
{
    const char *star = PERF_CAST_(const char *, PERF_NULL_), *again = text;

    while (*text) {
        if (pattern < end && *pattern == '*') {
            star = ++pattern;
            again = text;
        } else if (pattern < end && (*pattern == '?' || *pattern == *text)) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++again;
        } else {
            return 0;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

/* Does a word such as "parse*@zlib.c" name this function? */
PERF_COLD_FN_ int perf_auto_names_(const char *word, const perf_auto_name_ *name)
{
    const char *at = PERF_LIBC_(strrchr)(word, '@'), *end = word + PERF_LIBC_(strlen)(word);

    if (!perf_auto_like_(name->text, word, at ? at : end))
        return 0;
    if (!at || perf_auto_like_(name->object, at + 1, end))
        return 1;
    return name->source && perf_auto_like_(name->source, at + 1, end);
}

/* Is it one of ours?  Hooks for them come from files compiled without -DPERF_AUTO. */
PERF_COLD_FN_ int perf_auto_ours_(const char *text)
{
    const char *last = text + PERF_LIBC_(strlen)(text) - 1;

    if (!PERF_LIBC_(strncmp)(text, "perf::", 6))
        return 1;
    return !PERF_LIBC_(strncmp)(text, "perf_", 5) && *last == '_';
}

/* Do the filters let this function through? */
PERF_COLD_FN_ int perf_auto_wanted_(const perf_auto_name_ *name)
{
    const char *word = perf_auto_filter_v1_.words;
    int         asked = 0, named = 0;

    if (perf_auto_ours_(name->text))
        return 0;
    for (; *word; word += PERF_LIBC_(strlen)(word) + 1) {
        if (*word != '-') {
            asked = 1;
            named |= perf_auto_names_(word, name);
        } else if (perf_auto_names_(word + 1, name)) {
            return 0;
        }
    }
    return named || !asked;
}

/* Reads digits; returns what follows them, NULL: there are none, or more than nine. */
PERF_COLD_FN_ const char *perf_auto_number_(const char *text, uint32_t *number)
{
    const char *s = text;

    *number = 0;
    while (*s >= '0' && *s <= '9' && s - text < 9)
        *number = *number * 10 + PERF_CAST_(uint32_t, *s++ - '0');
    return s == text ? PERF_CAST_(const char *, PERF_NULL_) : s;
}

/* Reads a duration such as "10us" into ns; 0: it is none. */
PERF_COLD_FN_ int perf_auto_duration_(const char *text, double *ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double                   unit = 1;
    uint32_t                 number, i;
    const char              *rest = perf_auto_number_(text, &number);

    for (i = 0; rest && i < 4; i++, unit *= 1000)
        if (!PERF_LIBC_(strcmp)(rest, units[i])) {
            *ns = number * unit;
            return 1;
        }
    return 0;
}

/* Takes one word of the variable; 0: it is none that we know. */
PERF_COLD_FN_ int perf_auto_word_(perf_auto_filter_ *f, const char *word, char **to)
{
    const size_t bytes = PERF_LIBC_(strlen)(word) + 1;
    const char  *rest;

    if (!PERF_LIBC_(strncmp)(word, "depth=", 6)) {
        rest = perf_auto_number_(word + 6, &f->depth);
        return rest && !*rest;
    }
    if (!PERF_LIBC_(strncmp)(word, "least=", 6))
        return perf_auto_duration_(word + 6, &f->least_ns);
    if (bytes == 1 || !PERF_LIBC_(strcmp)(word, "-"))
        return 0;
    if (PERF_LIBC_(strchr)(word, '=') && !PERF_LIBC_(strstr)(word, "operator"))
        return 0;                               /* no such option: "dept=8"                       */
    PERF_LIBC_(memmove)(*to, word, bytes);      /* never longer than what was read                */
    *to += bytes;
    return 1;
}

/* Reads the variable PERF_AUTO, once.  Whoever comes while another thread reads does without. */
PERF_COLD_FN_ void perf_auto_filter_read_(perf_registry_ *r)
{
    perf_auto_filter_ *f = &perf_auto_filter_v1_;
    const char        *value = perf_getenv_("PERF_AUTO");
    char              *word = f->words, *to = f->words, *end;
    size_t             length = value ? PERF_LIBC_(strlen)(value) : 0;

    if (!perf_claim_(&f->state, 0, 1))
        return;
    if (length > sizeof f->words - 2) {
        length = sizeof f->words - 2;
        perf_fail_(r, PERF_ELIMIT);
    }
    if (value)
        PERF_LIBC_(memcpy)(f->words, value, length);
    f->depth = UINT32_MAX;
    while (*word) {
        end = word;
        while (*end && *end != ',')
            end++;
        length = PERF_CAST_(size_t, end - word) + (*end == ',');
        *end = '\0';
        if (!perf_auto_word_(f, word, &to))
            perf_fail_(r, PERF_EINVAL);
        word += length;
    }
    *to = '\0';
    if (f->least_ns > 0)
        f->least = PERF_CAST_(uint64_t, f->least_ns / perf_scope_tick_ns_(r));
    PERF_REL_(&f->state, 2u);
}

/* ---- the name of each function ---- */

typedef struct perf_auto_known_ {
    const void *function;       /* atomic; NULL: free                                             */
    perf_site_ *site;           /* NULL: the filters leave it out                                 */
    uint64_t    bytes;          /* of its code; 0: not known                                      */
} perf_auto_known_;

typedef struct perf_auto_map_ { /* by address; the old ones stay, as readers may be in them       */
    uint32_t         mask, used;
    perf_auto_known_ known[1];  /* [mask + 1], at most half of them used                          */
} perf_auto_map_;

static perf_auto_map_ *perf_auto_map_v1_;       /* atomic; NULL: none yet                         */

PERF_INLINE_FN_ perf_auto_known_ *perf_auto_known_at_(perf_auto_map_ *map, const void *function)
{
    const uintptr_t address = PERF_PTR_(uintptr_t, function);
    uint32_t        i = PERF_CAST_(uint32_t, address >> 4 ^ address >> 18);

    for (;; i++) {
        perf_auto_known_ *known = &map->known[i & map->mask];
        const void       *there = PERF_ACQ_(&known->function);
        if (!there || there == function)
            return known;
    }
}

/* Makes room for one more; NULL: no memory.  The lock is held. */
PERF_COLD_FN_ perf_auto_map_ *perf_auto_map_room_(perf_registry_ *r)
{
    perf_auto_map_ *old = perf_auto_map_v1_, *map;
    uint32_t        room = 512, i;

    if (old && 2 * (old->used + 1) <= old->mask + 1)
        return old;
    if (old)
        room = 2 * (old->mask + 1);
    map = PERF_CAST_(perf_auto_map_ *, perf_keep_(r, sizeof *map + room * sizeof *map->known));
    if (!map)
        return PERF_NULL_;
    map->mask = room - 1;
    for (i = 0; old && i <= old->mask; i++)
        if (old->known[i].function)
            *perf_auto_known_at_(map, old->known[i].function) = old->known[i];
    map->used = old ? old->used : 0;
    PERF_REL_(&perf_auto_map_v1_, map);
    return map;
}

/* The site of a name.  Two static functions of one name: the second has its file in it.  NULL: no
 * memory.                                                                                        */
PERF_COLD_FN_ perf_site_ *perf_auto_intern_(perf_registry_ *r, const perf_auto_name_ *name)
{
    perf_site_  site = {name->text, name->source, PERF_KIND_SCOPE_ << 24, 0};
    perf_site_ *found;
    char        both[512];
    perf_out_   o = perf_out_open_(both, sizeof both);

    if (!perf_site_id_(r, &site))
        return PERF_NULL_;
    found = &PERF_ACQ_(&r->names)[site.id]->site;
    if (!name->source || !found->file || !PERF_LIBC_(strcmp)(found->file, name->source))
        return found;
    perf_put_(&o, name->text);
    perf_put_(&o, " (");
    perf_put_(&o, name->source);
    perf_put_(&o, ")");
    site.name = both;
    site.id = 0;
    if (!perf_site_id_(r, &site))
        return PERF_NULL_;
    return &PERF_ACQ_(&r->names)[site.id]->site;
}

/* Gives a function its name.  NULL: not now, as memory or the lock cannot be had. */
PERF_COLD_FN_ const perf_auto_known_ *perf_auto_learn_(const void *function)
{
    perf_registry_   *r = perf_registry_get_();
    perf_auto_name_   name = PERF_ZERO;
    perf_site_       *site = PERF_NULL_;
    perf_auto_map_   *map = PERF_NULL_;
    perf_auto_known_ *known = PERF_NULL_;
    int               was = PERF_ERRNO_, wanted;

    if (!r)
        return PERF_NULL_;
    if (PERF_ACQ_(&perf_auto_filter_v1_.state) != 2)
        perf_auto_filter_read_(r);
    perf_auto_look_up_(&name, function);
    perf_auto_text_(&name, function);
    wanted = perf_auto_wanted_(&name);
    PERF_ERRNO_ = was;
    if (wanted)
        site = perf_auto_intern_(r, &name);
    if (!perf_lock_(r))
        return PERF_NULL_;
    if (site || !wanted)
        map = perf_auto_map_room_(r);
    if (map) {
        known = perf_auto_known_at_(map, function);
        map->used += !known->function;
        known->site = site;
        known->bytes = name.bytes;
        PERF_REL_(&known->function, function);
    }
    perf_unlock_(&r->lock);
    if (!map)
        perf_fail_(r, PERF_ENOMEM);
    return known;
}

/* What is known of a function; NULL as above. */
PERF_INLINE_FN_ const perf_auto_known_ *perf_auto_of_(const void *function)
{
    perf_auto_map_         *map = PERF_ACQ_(&perf_auto_map_v1_);
    const perf_auto_known_ *known;

    if (PERF_LIKELY_(map != PERF_NULL_)) {
        known = perf_auto_known_at_(map, function);
        if (PERF_LIKELY_(known->function != PERF_NULL_))
            return known;
    }
    return perf_auto_learn_(function);
}

/* ---- the functions that are open in a thread ---- */

typedef struct perf_auto_frame_ {
    const void *function, *caller;      /* as the hook was told                                   */
    uintptr_t   place;          /* in the stack, of the hook that saw the function begin          */
    uint64_t    bytes;          /* of its code; 0: not known                                      */
    uint64_t    recorded;       /* 0: too deep, or recording was off                              */
    perf_span_  span;
} perf_auto_frame_;

#define PERF_AUTO_FRAMES_ 65536         /* pages that are not used take no memory                 */
#define PERF_AUTO_NEAR_   (UINT64_C(1) << 20)   /* bytes; more is another stack                   */
#define PERF_AUTO_SEARCH_ 64u           /* open functions that are looked at for a caller         */

/* Those of one thread.  The child of a fork finds all of it zero: what was open there belongs to
 * its parent.                                                                                    */
typedef struct perf_auto_thread_ {
    uint32_t         inside;    /* 1: in a hook; what a signal handler calls now is not recorded  */
    uint32_t         depth;     /* frames in use                                                  */
    uint64_t         beyond;    /* calls that are open but have no frame                          */
    uint64_t         lost;      /* calls not recorded, to be told the recorder                    */
    perf_auto_frame_ frame[PERF_AUTO_FRAMES_];
} perf_auto_thread_;

static PERF_THREAD_ perf_auto_thread_ *perf_auto_self_;         /* NULL: none yet                 */
static PERF_THREAD_ uint32_t           perf_auto_starting_;

/* Makes the caller's; NULL: no memory, or it is being made. */
PERF_OUTLINE_FN_ perf_auto_thread_ *perf_auto_thread_get_(void)
{
    perf_auto_thread_ *a = PERF_NULL_;
    perf_recorder_    *t;

    if (perf_auto_starting_)
        return PERF_NULL_;
    perf_auto_starting_ = 1;
    t = perf_recorder_get_();
    if (t && !t->functions)
        t->functions = perf_pages_(sizeof *a, 1);
    if (t)
        a = PERF_CAST_(perf_auto_thread_ *, t->functions);
    if (t && !a)
        perf_fail_(t->home, PERF_ENOMEM);
    if (a) {                                    /* perhaps of a thread that has ended             */
        a->inside = 0;
        a->depth = 0;
        a->beyond = 0;
    }
    perf_auto_self_ = a;
    perf_auto_starting_ = 0;
    return a;
}

/* Ends a span that is too short for the trace: the ring seems to be off meanwhile. */
PERF_COLD_FN_ void perf_auto_end_short_(perf_span_ *s)
{
    perf_recorder_ *t = s->rec;
    const uint64_t  mask = t->ring_mask, limit = t->ring_limit;

    PERF_SET_(&t->ring_mask, UINT64_C(0));
    PERF_SET_(&t->ring_limit, UINT64_C(0));
    perf_end_(s);
    PERF_SET_(&t->ring_mask, mask);
    PERF_SET_(&t->ring_limit, limit);
}

/* Ends the innermost open function. */
PERF_INLINE_FN_ void perf_auto_pop_(perf_auto_thread_ *a)
{
    perf_auto_frame_ *f = &a->frame[--a->depth];
    const uint64_t    least = perf_auto_filter_v1_.least;

    if (!f->recorded)
        return;
    if (PERF_UNLIKELY_(least && f->span.rec == PERF_SELF_ &&
                       perf_scope_ticks_(f->span.rec->home) - f->span.start < least))
        perf_auto_end_short_(&f->span);
    else
        perf_end_(&f->span);
}

/* Is an address in the code of an open function? */
PERF_INLINE_FN_ int perf_auto_has_(const perf_auto_frame_ *f, const void *address)
{
    return PERF_PTR_(uintptr_t, address) - PERF_PTR_(uintptr_t, f->function) < f->bytes;
}

/* A function that begins. */
typedef struct perf_auto_call_ {
    const void *within;         /* an address in the code of the function whose frame is around   */
    uintptr_t   place;
    int         inlined;        /* 1: it has no frame of its own                                  */
} perf_auto_call_;

/* Is the innermost open function lower in the stack than one that it calls, or in its place?  */
PERF_INLINE_FN_ int perf_auto_below_(const perf_auto_frame_ *f, const perf_auto_call_ *call)
{
    return call->inlined ? f->place < call->place : f->place <= call->place;
}

/* How many open functions are the one around a call and those outside it; 0: it is none of the
 * innermost ones.  What is inlined in it counts with it, up to `a->depth`.                       */
PERF_COLD_FN_ uint32_t perf_auto_around_(const perf_auto_thread_ *a, const perf_auto_call_ *call)
{
    uint32_t i = a->depth, last = i > PERF_AUTO_SEARCH_ ? i - PERF_AUTO_SEARCH_ : 0;

    while (i > last && !perf_auto_has_(&a->frame[i - 1], call->within))
        i--;
    return i == last ? 0 : i;
}

/* A longjmp, or an exception in code of clang, leaves functions without a call of the hook.  Ends
 * those that cannot be running any more, now that a function begins.  The stack grows down.      */
PERF_OUTLINE_FN_ void perf_auto_heal_(perf_auto_thread_ *a, const perf_auto_call_ *call)
{
    const uint32_t          was = a->depth;
    const perf_auto_frame_ *f = &a->frame[was - 1];
    uint32_t                stays;

    while (a->depth && perf_auto_below_(f, call) && call->place - f->place < PERF_AUTO_NEAR_) {
        perf_auto_pop_(a);
        f--;
    }
    stays = perf_auto_around_(a, call);
    f = &a->frame[stays];
    while (stays && stays < a->depth && a->depth == was && f->caller == f[-1].caller) {
        stays++;                                /* inlined: unless a longjmp came to that frame   */
        f++;
    }
    while (stays && a->depth > stays)
        perf_auto_pop_(a);
    if (a->depth < was)
        a->beyond = 0;
}

/* Counts calls that were not recorded. */
PERF_COLD_FN_ void perf_auto_tell_lost_(perf_auto_thread_ *a)
{
    perf_recorder_ *t = PERF_SELF_;

    if (t && t->home)
        PERF_ADD_(t->losses[PERF_LOSS_LOST_], a->lost);
    a->lost = 0;
}

/* `hook`: where the hook returns to. */
PERF_INLINE_FN_ void perf_auto_begin_(perf_auto_thread_ *a, const void *function,
                                      const void *caller, const void *hook, uintptr_t place)
{
    const perf_auto_known_ *known = perf_auto_of_(function);
    perf_auto_call_         call;
    perf_auto_frame_       *f = &a->frame[a->depth];

    if (known && !known->site)
        return;
    if (PERF_UNLIKELY_(!known)) {
        a->lost++;
        return;
    }
    call.inlined = PERF_PTR_(uintptr_t, hook) - PERF_PTR_(uintptr_t, function) >= known->bytes;
    call.within = call.inlined ? hook : caller;
    call.place = place;
    if (PERF_UNLIKELY_(a->depth && (!perf_auto_has_(f - 1, call.within) ||
                                    perf_auto_below_(f - 1, &call)))) {
        perf_auto_heal_(a, &call);
        f = &a->frame[a->depth];
    }
    if (PERF_UNLIKELY_(a->lost))
        perf_auto_tell_lost_(a);
    if (PERF_UNLIKELY_(a->depth == PERF_AUTO_FRAMES_)) {
        a->beyond++;
        a->lost++;
        return;
    }
    a->depth++;
    f->function = function;
    f->caller = caller;
    f->place = place;
    f->bytes = known->bytes;
    f->recorded = 0;
    if (PERF_LIKELY_(a->depth <= perf_auto_filter_v1_.depth) && PERF_ON_())
        f->recorded = perf_begin_(&f->span, known->site) != PERF_NULL_;
}

/* Do the filters leave this function out? */
PERF_COLD_FN_ int perf_auto_is_out_(const void *function)
{
    const perf_auto_known_ *known = perf_auto_of_(function);

    return known && !known->site;
}

/* The end of a function that is not the innermost open one: of one that the filters leave out, or
 * of one that others have been left for, which end now.                                          */
PERF_OUTLINE_FN_ void perf_auto_end_other_(perf_auto_thread_ *a, const void *function,
                                           const void *caller)
{
    uint32_t i = a->depth, fits = 0;

    if (perf_auto_is_out_(function))
        return;
    for (; i > 0; i--) {
        const perf_auto_frame_ *f = &a->frame[i - 1];

        if (f->function != function)
            continue;
        if (!fits)
            fits = i;
        if (f->caller == caller) {
            fits = i;
            break;
        }
    }
    while (fits && a->depth >= fits)
        perf_auto_pop_(a);
}

PERF_INLINE_FN_ void perf_auto_end_(perf_auto_thread_ *a, const void *function,
                                    const void *caller)
{
    const perf_auto_frame_ *f;

    if (PERF_UNLIKELY_(a->beyond)) {
        a->beyond -= !perf_auto_is_out_(function);
        return;
    }
    if (!a->depth)
        return;
    f = &a->frame[a->depth - 1];
    if (PERF_LIKELY_(f->function == function && f->caller == caller))
        perf_auto_pop_(a);
    else
        perf_auto_end_other_(a, function, caller);
}

PERF_AUTO_HOOK_ void __cyg_profile_func_enter(void *function, void *caller)
{
    perf_auto_thread_ *a = perf_auto_self_;

    if (PERF_UNLIKELY_(!a))
        a = perf_auto_thread_get_();
    if (PERF_UNLIKELY_(!a))
        return;
    if (PERF_UNLIKELY_(a->inside)) {
        PERF_ADD_(a->lost, 1);
        return;
    }
    PERF_REL_(&a->inside, 1u);
    perf_auto_begin_(a, function, caller, __builtin_return_address(0),
                     PERF_PTR_(uintptr_t, __builtin_frame_address(0)));
    PERF_REL_(&a->inside, 0u);
}

PERF_AUTO_HOOK_ void __cyg_profile_func_exit(void *function, void *caller)
{
    perf_auto_thread_ *a = perf_auto_self_;

    if (PERF_UNLIKELY_(!a || a->inside))
        return;
    PERF_REL_(&a->inside, 1u);
    perf_auto_end_(a, function, caller);
    PERF_REL_(&a->inside, 0u);
}
#endif

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

PERF_END_DECLS

#endif
#endif /* PERF_AUTO_H */
