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

PERF_FN unsigned perf_elf_kind_(const perf_elf_symbol_ *symbol)
{
    return symbol->info & 15u;
}

/* 1: other objects cannot use it. */
PERF_FN int perf_elf_is_local_(const perf_elf_symbol_ *symbol)
{
    return symbol->info >> 4 == 0;
}

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
    perf_auto_where_                *where = PERF_CAST_(perf_auto_where_ *, data);
    const struct perf_auto_segment_ *segment = image->segment, *end = segment + image->segments;
    const char                      *path = PERF_AUTO_PROGRAM_;
    size_t                           length;

    (void)size;
    if (image->name && *image->name)            /* else the program                               */
        path = image->name;
    length = PERF_LIBC_(strlen)(path);
    for (; segment != end; segment++) {
        const uint64_t first = image->base + segment->address;

        if (segment->type != 1 || where->address < first || /* not PT_LOAD */
            where->address - first >= segment->bytes)
            continue;
        where->found.base = image->base;
        where->found.first = first;
        where->found.last = first + segment->bytes;
        if (length < sizeof where->found.path)
            PERF_LIBC_(memcpy)(where->found.path, path, length + 1);
        return 1;
    }
    return 0;
}

/* Maps a file to read it.  Leaves `file` NULL if that cannot be done. */
PERF_COLD_FN_ void perf_auto_map_file_(perf_auto_object_ *object)
{
    int   fd = *object->path ? perf_open_(object->path, 0x80000) : -1;  /* O_RDONLY | O_CLOEXEC   */
    long  bytes;
    void *memory;

    if (fd < 0)
        return;
    bytes = perf_lseek_(fd, 0, 2);              /* SEEK_END                                       */
    if (bytes >= PERF_CAST_(long, sizeof(perf_elf_header_))) {
        memory = perf_mmap_(PERF_NULL_, PERF_CAST_(size_t, bytes), 1, 2, fd, 0); /* read, private */
        if (PERF_PTR_(intptr_t, memory) != -1) {
            object->file = PERF_CAST_(const char *, memory);
            object->file_bytes = PERF_CAST_(uint64_t, bytes);
        }
    }
    (void)perf_close_(fd);
}

/* `bytes` of the file from `offset` on; NULL: it is shorter, or they are not aligned. */
PERF_COLD_FN_ const void *perf_auto_part_(const perf_auto_object_ *object, uint64_t offset,
                                          uint64_t bytes)
{
    if (offset > object->file_bytes || bytes > object->file_bytes - offset || offset % 8)
        return PERF_NULL_;
    return object->file + offset;
}

/* Finds the table of symbols of the given type, and its names. */
PERF_COLD_FN_ void perf_auto_table_(perf_auto_object_ *object, uint32_t type)
{
    const perf_elf_header_  *header = PERF_CAST_(const perf_elf_header_ *,
                                                 perf_auto_part_(object, 0, sizeof *header));
    const perf_elf_section_ *all, *section, *names;
    uint64_t                 sections, i;

    if (!header || PERF_LIBC_(memcmp)(header->id, "\177ELF\2", 5) ||
        header->section_bytes != sizeof *section)
        return;
    all = PERF_CAST_(const perf_elf_section_ *,
                     perf_auto_part_(object, header->sections_at, sizeof *section));
    if (!all)
        return;
    sections = header->sections;
    if (!sections)                              /* more than fit: the first one says it           */
        sections = all->bytes;
    if (sections > object->file_bytes / sizeof *section ||
        !perf_auto_part_(object, header->sections_at, sections * sizeof *section))
        return;
    for (i = 0; i < sections; i++) {
        section = &all[i];
        if (section->type != type || section->link >= sections)
            continue;
        names = &all[section->link];
        if (names->offset > object->file_bytes ||
            names->bytes > object->file_bytes - names->offset || !names->bytes)
            continue;
        object->symbol = PERF_CAST_(const perf_elf_symbol_ *,
                                    perf_auto_part_(object, section->offset, section->bytes));
        object->symbols = object->symbol ? section->bytes / sizeof *object->symbol : 0;
        object->text = object->file + names->offset;
        object->text_bytes = names->bytes;
        if (object->text[object->text_bytes - 1]) /* a text without an end                        */
            object->symbols = 0;
    }
}

/* The place of an address in the table `at`: its symbol's, or a free one. */
PERF_COLD_FN_ uint32_t *perf_auto_symbol_at_(const perf_auto_object_ *object, uint64_t value)
{
    uint64_t i = (value >> 4 ^ value >> 18) & object->mask;

    while (object->at[i] && object->symbol[object->at[i]].value != value)
        i = (i + 1) & object->mask;
    return &object->at[i];
}

/* Enters all functions of an object in `at`. */
PERF_COLD_FN_ void perf_auto_index_(perf_auto_object_ *object)
{
    uint64_t  room = 64, i;
    uint32_t *place;

    if (object->symbols > UINT32_MAX)
        object->symbols = 0;
    while (room < 2 * object->symbols)
        room *= 2;
    object->at =
        PERF_CAST_(uint32_t *, perf_pages_(PERF_CAST_(size_t, room * sizeof *object->at), 0));
    object->mask = room - 1;
    if (!object->at)
        object->symbols = 0;
    for (i = 1; i < object->symbols; i++) {
        const perf_elf_symbol_ *symbol = &object->symbol[i];

        if (perf_elf_kind_(symbol) != PERF_ELF_IS_FUNCTION_ || !symbol->section || !symbol->value ||
            symbol->name >= object->text_bytes)
            continue;
        place = perf_auto_symbol_at_(object, symbol->value);
        if (!*place)
            *place = PERF_CAST_(uint32_t, i);
    }
}

/* Reads the symbols of an object, and adds it to the list.  NULL: no memory.  Two threads that do
 * it at once add it twice, which harms nobody.                                                   */
PERF_COLD_FN_ perf_auto_object_ *perf_auto_object_read_(const perf_auto_object_ *found)
{
    perf_auto_object_ *object = PERF_CAST_(perf_auto_object_ *, perf_pages_(sizeof *object, 0));

    if (!object)
        return PERF_NULL_;
    *object = *found;
    perf_auto_map_file_(object);
    if (object->file) {
        perf_auto_table_(object, PERF_ELF_SYMBOLS_);
        if (!object->symbols)                   /* stripped                                       */
            perf_auto_table_(object, PERF_ELF_DYNAMIC_);
        perf_auto_index_(object);
    }
    object->next = PERF_ACQ_(&perf_auto_objects_);
    while (!__atomic_compare_exchange_n(&perf_auto_objects_, &object->next, object, 0,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
    return object;
}

/* An object in which the main thread names a function stays loaded: where it was, another one would
 * get its names.  Not in other threads: a constructor, with the loader's lock, may wait for one. */
PERF_COLD_FN_ void perf_auto_pin_(perf_auto_object_ *object)
{
    if (PERF_GET_(&object->pinned) || perf_thread_id_() != perf_process_id_())
        return;
    PERF_SET_(&object->pinned, 1u);
    if (perf_dlopen_ && *object->path && PERF_LIBC_(strcmp)(object->path, PERF_AUTO_PROGRAM_))
        (void)perf_dlopen_(object->path, 0x1005); /* RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE      */
}

/* The object of an address; NULL: none, or no memory.  The loader is asked. */
PERF_COLD_FN_ perf_auto_object_ *perf_auto_object_of_(uint64_t address)
{
    perf_auto_object_ *object = PERF_ACQ_(&perf_auto_objects_);
    perf_auto_where_   where = PERF_ZERO;

    while (object && (address < object->first || address >= object->last))
        object = object->next;
    where.address = address;
    if (!object)
        (void)perf_auto_walk_(perf_auto_visit_, &where);
    if (where.found.last)
        object = perf_auto_object_read_(&where.found);
    if (object)
        perf_auto_pin_(object);
    return object;
}

/* The source file of a static function: the last symbol of that kind before it. */
PERF_COLD_FN_ const char *perf_auto_source_(const perf_auto_object_ *object, uint64_t i)
{
    if (!perf_elf_is_local_(&object->symbol[i]))
        return PERF_NULL_;
    while (i-- > 0)
        if (perf_elf_kind_(&object->symbol[i]) == PERF_ELF_IS_FILE_) {
            const uint32_t name = object->symbol[i].name;
            return name < object->text_bytes && object->text[name] ? object->text + name :
                   PERF_NULL_;
        }
    return PERF_NULL_;
}

/* Finds the symbol of a function. */
PERF_COLD_FN_ void perf_auto_look_up_(perf_auto_name_ *name, const void *function)
{
    const uint64_t           address = PERF_PTR_(uintptr_t, function);
    const perf_auto_object_ *object = perf_auto_object_of_(address);
    const char              *last;
    size_t                   length;
    uint32_t                 i;

    if (!object)
        return;
    last = PERF_LIBC_(strrchr)(object->path, '/');
    last = last ? last + 1 : object->path;
    length = PERF_LIBC_(strlen)(last);
    if (length >= sizeof name->object)
        length = sizeof name->object - 1;
    PERF_LIBC_(memcpy)(name->object, last, length);
    if (!object->symbols)
        return;
    i = *perf_auto_symbol_at_(object, address - object->base);
    if (!i)
        return;
    name->raw = object->text + object->symbol[i].name;
    name->source = perf_auto_source_(object, i);
    name->bytes = object->symbol[i].bytes;
}
#else
PERF_COLD_FN_ void perf_auto_look_up_(perf_auto_name_ *name, const void *function)
{
    (void)name, (void)function;
}
#endif

/* The end of a name, or the tail that a copy made by the compiler has: ".part.0" of "f.part.0". */
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
    perf_out_ out = perf_out_open_(name->text, sizeof name->text);
    uint64_t  address = PERF_PTR_(uintptr_t, function);
    int       shift = 60;
#if PERF_NOTES_
    char  *plain;
    size_t length;
#endif

    if (!name->raw) {
        perf_put_(&out, "0x");
        while (shift > 0 && !(address >> shift))
            shift -= 4;
        for (; shift >= 0; shift -= 4)
            perf_put_char_(&out, "0123456789abcdef"[address >> shift & 15]);
        return;
    }
    perf_put_n_(&out, name->raw, PERF_CAST_(size_t, perf_auto_tail_(name->raw) - name->raw));
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
    char     words[1023 + 2];   /* each with its 0; an empty one ends them                        */
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
    const char *digit = text;

    *number = 0;
    while (*digit >= '0' && *digit <= '9' && digit - text < 9)
        *number = *number * 10 + PERF_CAST_(uint32_t, *digit++ - '0');
    return digit == text ? PERF_CAST_(const char *, PERF_NULL_) : digit;
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
PERF_COLD_FN_ int perf_auto_word_(perf_auto_filter_ *filter, const char *word, char **to)
{
    const size_t bytes = PERF_LIBC_(strlen)(word) + 1;
    const char  *rest;
    uint32_t     depth;

    if (!PERF_LIBC_(strncmp)(word, "depth=", 6)) {
        rest = perf_auto_number_(word + 6, &depth);
        if (!rest || *rest)
            return 0;
        filter->depth = depth;
        return 1;
    }
    if (!PERF_LIBC_(strncmp)(word, "least=", 6))
        return perf_auto_duration_(word + 6, &filter->least_ns);
    if (bytes == 1 || !PERF_LIBC_(strcmp)(word, "-"))
        return 0;
    if (PERF_LIBC_(strchr)(word, '=') && !PERF_LIBC_(strstr)(word, "operator"))
        return 0;                               /* no such option: "dept=8"                       */
    PERF_LIBC_(memmove)(*to, word, bytes);      /* never longer than what was read                */
    *to += bytes;
    return 1;
}

/* Reads the variable PERF_AUTO, once.  Whoever comes while another thread reads does without. */
PERF_COLD_FN_ void perf_auto_filter_read_(perf_registry_ *reg)
{
    perf_auto_filter_ *filter = &perf_auto_filter_v1_;
    const char        *value = perf_getenv_("PERF_AUTO");
    char              *word = filter->words, *to = filter->words, *end;
    size_t             length = value ? PERF_LIBC_(strlen)(value) : 0;

    if (!perf_claim_(&filter->state, 0, 1))
        return;
    if (length > sizeof filter->words - 2) {
        length = sizeof filter->words - 2;
        perf_fail_(reg, PERF_ELIMIT);
    }
    if (value)
        PERF_LIBC_(memcpy)(filter->words, value, length);
    filter->depth = UINT32_MAX;
    while (*word) {
        end = word;
        while (*end && *end != ',')
            end++;
        length = PERF_CAST_(size_t, end - word) + (*end == ',');
        *end = '\0';
        if (!perf_auto_word_(filter, word, &to))
            perf_fail_(reg, PERF_EINVAL);
        word += length;
    }
    *to = '\0';
    if (filter->least_ns > 0)
        filter->least = PERF_CAST_(uint64_t, filter->least_ns / perf_scope_tick_ns_(reg));
    PERF_REL_(&filter->state, 2u);
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
PERF_COLD_FN_ perf_auto_map_ *perf_auto_map_room_(perf_registry_ *reg)
{
    perf_auto_map_ *old = perf_auto_map_v1_, *map;
    uint32_t        room = 512, i;

    if (old && 2 * (old->used + 1) <= old->mask + 1)
        return old;
    if (old)
        room = 2 * (old->mask + 1);
    map = PERF_CAST_(perf_auto_map_ *, perf_forever_(reg, sizeof *map + room * sizeof *map->known));
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
PERF_COLD_FN_ perf_site_ *perf_auto_intern_(perf_registry_ *reg, const perf_auto_name_ *name)
{
    perf_site_  site = {name->text, name->source, PERF_KIND_SCOPE_ << 24, 0};
    perf_site_ *found;
    char        both[512];
    perf_out_   out = perf_out_open_(both, sizeof both);

    if (!perf_site_id_(reg, &site))
        return PERF_NULL_;
    found = &PERF_ACQ_(&reg->names)[site.id]->site;
    if (!name->source || !found->file || !PERF_LIBC_(strcmp)(found->file, name->source))
        return found;
    perf_put_(&out, name->text);
    perf_put_(&out, " (");
    perf_put_(&out, name->source);
    perf_put_(&out, ")");
    site.name = both;
    site.id = 0;
    if (!perf_site_id_(reg, &site))
        return PERF_NULL_;
    return &PERF_ACQ_(&reg->names)[site.id]->site;
}

/* Gives a function its name, and keeps both.  NULL: not now, for want of memory or the lock. */
PERF_COLD_FN_ const perf_auto_known_ *perf_auto_learn_(const void *function)
{
    perf_registry_   *reg = perf_registry_get_();
    perf_auto_name_   name = PERF_ZERO;
    perf_site_       *site = PERF_NULL_;
    perf_auto_map_   *map = PERF_NULL_;
    perf_auto_known_ *known = PERF_NULL_;
    int               was = PERF_ERRNO_, wanted;

    if (!reg)
        return PERF_NULL_;
    if (PERF_ACQ_(&perf_auto_filter_v1_.state) != 2)
        perf_auto_filter_read_(reg);
    perf_auto_look_up_(&name, function);
    perf_auto_text_(&name, function);
    wanted = perf_auto_wanted_(&name);
    PERF_ERRNO_ = was;
    if (wanted)
        site = perf_auto_intern_(reg, &name);
    if (!perf_lock_(reg))
        return PERF_NULL_;
    if (site || !wanted)
        map = perf_auto_map_room_(reg);
    if (map) {
        known = perf_auto_known_at_(map, function);
        map->used += !known->function;
        known->site = site;
        known->bytes = name.bytes;
        PERF_REL_(&known->function, function);
    }
    perf_unlock_(&reg->lock);
    if (!map)
        perf_fail_(reg, PERF_ENOMEM);
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
    perf_scope  span;
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
    perf_auto_thread_ *thread = PERF_NULL_;
    perf_recorder_    *rec;

    if (perf_auto_starting_)
        return PERF_NULL_;
    perf_auto_starting_ = 1;
    rec = perf_recorder_get_();
    if (rec && !rec->functions)
        rec->functions = perf_pages_(sizeof *thread, 1);
    if (rec)
        thread = PERF_CAST_(perf_auto_thread_ *, rec->functions);
    if (rec && !thread)
        perf_fail_(rec->home, PERF_ENOMEM);
    if (thread) {                               /* perhaps of a thread that has ended             */
        thread->inside = 0;
        thread->depth = 0;
        thread->beyond = 0;
    }
    perf_auto_self_ = thread;
    perf_auto_starting_ = 0;
    return thread;
}

/* Ends a span that is too short for the trace: the ring seems to be off meanwhile. */
PERF_COLD_FN_ void perf_auto_end_short_(perf_scope *span)
{
    perf_recorder_ *rec = span->rec;
    const uint64_t  mask = rec->ring_mask, limit = rec->ring_limit;

    PERF_SET_(&rec->ring_mask, UINT64_C(0));
    PERF_SET_(&rec->ring_limit, UINT64_C(0));
    perf_end_(span);
    PERF_SET_(&rec->ring_mask, mask);
    PERF_SET_(&rec->ring_limit, limit);
}

/* Ends the innermost open function. */
PERF_INLINE_FN_ void perf_auto_pop_(perf_auto_thread_ *thread)
{
    perf_auto_frame_ *frame = &thread->frame[--thread->depth];
    const uint64_t    least = perf_auto_filter_v1_.least;

    if (!frame->recorded)
        return;
    if (PERF_UNLIKELY_(least && frame->span.rec == PERF_SELF_ &&
                       perf_scope_ticks_(frame->span.rec->home) - frame->span.start < least))
        perf_auto_end_short_(&frame->span);
    else
        perf_end_(&frame->span);
}

/* Is an address in the code of an open function? */
PERF_INLINE_FN_ int perf_auto_has_(const perf_auto_frame_ *frame, const void *address)
{
    return PERF_PTR_(uintptr_t, address) - PERF_PTR_(uintptr_t, frame->function) < frame->bytes;
}

/* A function that begins. */
typedef struct perf_auto_call_ {
    const void *within;         /* an address in the code of the function whose frame is around   */
    uintptr_t   place;
    int         inlined;        /* 1: it has no frame of its own                                  */
} perf_auto_call_;

/* Is an open function lower in the stack than the call, or in its place?  Then it has ended; an
 * inlined call shares its place with the function around it.                                     */
PERF_INLINE_FN_ int perf_auto_below_(const perf_auto_frame_ *frame, const perf_auto_call_ *call)
{
    return call->inlined ? frame->place < call->place : frame->place <= call->place;
}

/* How deep the function around a call lies: that many functions stay open, and maybe what is
 * inlined in it.  0: it is none of the PERF_AUTO_SEARCH_ innermost ones.                         */
PERF_COLD_FN_ uint32_t perf_auto_around_(const perf_auto_thread_ *thread,
                                         const perf_auto_call_ *call)
{
    uint32_t i = thread->depth, last = i > PERF_AUTO_SEARCH_ ? i - PERF_AUTO_SEARCH_ : 0;

    while (i > last && !perf_auto_has_(&thread->frame[i - 1], call->within))
        i--;
    return i == last ? 0 : i;
}

/* A longjmp, or an exception in code of clang, leaves functions without a call of the hook.  Now
 * that a function begins, ends those that cannot be running any more.  The stack grows down.
 * First those that lie below the call; then those inside the function around it. */
PERF_OUTLINE_FN_ void perf_auto_heal_(perf_auto_thread_ *thread, const perf_auto_call_ *call)
{
    const uint32_t          was = thread->depth;
    const perf_auto_frame_ *frame = &thread->frame[was - 1];
    uint32_t                stays;

    while (thread->depth && perf_auto_below_(frame, call) &&
           call->place - frame->place < PERF_AUTO_NEAR_) {
        perf_auto_pop_(thread);
        frame--;
    }
    stays = perf_auto_around_(thread, call);
    frame = &thread->frame[stays];
    while (stays && stays < thread->depth && thread->depth == was &&
           frame->caller == frame[-1].caller) {
        stays++;                                /* inlined: unless a longjmp came to that frame   */
        frame++;
    }
    while (stays && thread->depth > stays)
        perf_auto_pop_(thread);
    if (thread->depth < was)
        thread->beyond = 0;
}

/* Counts calls that were not recorded. */
PERF_COLD_FN_ void perf_auto_tell_lost_(perf_auto_thread_ *thread)
{
    perf_recorder_ *rec = PERF_SELF_;

    if (rec && rec->home)
        PERF_ADD_(rec->losses[PERF_LOSS_LOST_], thread->lost);
    thread->lost = 0;
}

/* A function begins.  hook: where the hook returns to; place: of the hook, in the stack. */
PERF_INLINE_FN_ void perf_auto_begin_(perf_auto_thread_ *thread, const void *function,
                                      const void *caller, const void *hook, uintptr_t place)
{
    const perf_auto_known_ *known = perf_auto_of_(function);
    perf_auto_call_         call;
    perf_auto_frame_       *frame = &thread->frame[thread->depth];

    if (known && !known->site)
        return;
    if (PERF_UNLIKELY_(!known)) {
        thread->lost++;
        return;
    }
    call.inlined = PERF_PTR_(uintptr_t, hook) - PERF_PTR_(uintptr_t, function) >= known->bytes;
    call.within = call.inlined ? hook : caller;
    call.place = place;
    if (PERF_UNLIKELY_(thread->depth && (!perf_auto_has_(frame - 1, call.within) ||
                                         perf_auto_below_(frame - 1, &call)))) {
        perf_auto_heal_(thread, &call);
        frame = &thread->frame[thread->depth];
    }
    if (PERF_UNLIKELY_(thread->lost))
        perf_auto_tell_lost_(thread);
    if (PERF_UNLIKELY_(thread->depth == PERF_AUTO_FRAMES_)) {
        thread->beyond++;
        thread->lost++;
        return;
    }
    thread->depth++;
    frame->function = function;
    frame->caller = caller;
    frame->place = place;
    frame->bytes = known->bytes;
    frame->recorded = 0;
    if (PERF_LIKELY_(thread->depth <= perf_auto_filter_v1_.depth) && PERF_ON_())
        frame->recorded = perf_begin_(&frame->span, known->site) != PERF_NULL_;
}

/* Do the filters leave this function out? */
PERF_COLD_FN_ int perf_auto_is_out_(const void *function)
{
    const perf_auto_known_ *known = perf_auto_of_(function);

    return known && !known->site;
}

/* The end of a function that is not the innermost open one: of one that the filters leave out, or
 * of one that others have been left for, which end now.                                          */
PERF_OUTLINE_FN_ void perf_auto_end_other_(perf_auto_thread_ *thread, const void *function,
                                           const void *caller)
{
    uint32_t i = thread->depth, fits = 0;

    if (perf_auto_is_out_(function))
        return;
    for (; i > 0; i--) {
        const perf_auto_frame_ *frame = &thread->frame[i - 1];

        if (frame->function != function)
            continue;
        if (!fits)
            fits = i;
        if (frame->caller == caller) {
            fits = i;
            break;
        }
    }
    while (fits && thread->depth >= fits)
        perf_auto_pop_(thread);
}

PERF_INLINE_FN_ void perf_auto_end_(perf_auto_thread_ *thread, const void *function,
                                    const void *caller)
{
    const perf_auto_frame_ *frame;

    if (PERF_UNLIKELY_(thread->beyond)) {
        thread->beyond -= !perf_auto_is_out_(function);
        return;
    }
    if (!thread->depth)
        return;
    frame = &thread->frame[thread->depth - 1];
    if (PERF_LIKELY_(frame->function == function && frame->caller == caller))
        perf_auto_pop_(thread);
    else
        perf_auto_end_other_(thread, function, caller);
}

PERF_AUTO_HOOK_ void __cyg_profile_func_enter(void *function, void *caller)
{
    perf_auto_thread_ *thread = perf_auto_self_;

    if (PERF_UNLIKELY_(!thread))
        thread = perf_auto_thread_get_();
    if (PERF_UNLIKELY_(!thread))
        return;
    if (PERF_UNLIKELY_(thread->inside)) {
        PERF_ADD_(thread->lost, 1);
        return;
    }
    PERF_REL_(&thread->inside, 1u);
    perf_auto_begin_(thread, function, caller, __builtin_return_address(0),
                     PERF_PTR_(uintptr_t, __builtin_frame_address(0)));
    PERF_REL_(&thread->inside, 0u);
}

PERF_AUTO_HOOK_ void __cyg_profile_func_exit(void *function, void *caller)
{
    perf_auto_thread_ *thread = perf_auto_self_;

    if (PERF_UNLIKELY_(!thread || thread->inside))
        return;
    PERF_REL_(&thread->inside, 1u);
    perf_auto_end_(thread, function, caller);
    PERF_REL_(&thread->inside, 0u);
}
#endif

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

PERF_END_DECLS

#endif
#endif /* PERF_AUTO_H */
