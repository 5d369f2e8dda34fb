/* perf_trace.h: folded stacks and flame page say what happened, and the protobuf, read back by a small
 * decoder, has every scope once, balanced and at its time.                                        */
#include <stdint.h>
static uint64_t now_ns = 7000000000;
static uint64_t fake_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#include "rows.h"
#include "perf_export.h"
#include "perf_trace.h"
#include <pthread.h>

static uint64_t varint(const unsigned char **p)
{
    uint64_t v = 0;
    int      shift = 0;

    do
        v |= (uint64_t)(**p & 127) << shift, shift += 7;
    while (*(*p)++ & 128);
    return v;
}

typedef struct field {
    uint32_t             number;
    uint64_t             value;         /* number, or length of the bytes at `data` */
    const unsigned char *data;
} field;

/* Reads one field at *p; 0 for a wire type we never write. */
static int next_field(const unsigned char **p, field *f)
{
    uint64_t tag = varint(p);

    f->number = (uint32_t)(tag >> 3);
    f->data = NULL;
    if ((tag & 7) == 0) {
        f->value = varint(p);
    } else if ((tag & 7) == 2) {
        f->value = varint(p);
        f->data = *p;
        *p += f->value;
    } else if ((tag & 7) == 1) {
        memcpy(&f->value, *p, 8);
        *p += 8;
    } else {
        return 0;
    }
    return 1;
}

static void perfetto(const char *path, int scopes, uint64_t first, uint64_t last)
{
    FILE                *f = fopen(path, "rb");
    static unsigned char bytes[1 << 20];
    size_t               n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    const unsigned char *p = bytes;
    uint64_t             time = 0, begin_first = 0, end_last = 0;
    int                  begins = 0, ends = 0, depth = 0, deepest = 0, counters = 0;

    CHECK(n > 0, "%s is empty", path);
    while (p < bytes + n) {
        field                packet, part;
        const unsigned char *q, *end;
        uint64_t             stamp = 0, type = 0;
        int                  own_clock = 1;
        if (!next_field(&p, &packet) || packet.number != 1 || p > bytes + n) {
            CHECK(0, "a packet is broken");
            break;
        }
        for (q = packet.data, end = q + packet.value; q < end;) {
            if (!next_field(&q, &part)) {
                CHECK(0, "a field is broken");
                break;
            }
            if (part.number == 8)
                stamp = part.value;
            if (part.number == 58)
                own_clock = 0;
            if (part.number == 6) {             /* clock snapshot: first clock, its time */
                const unsigned char *c = part.data;
                field                clock, id;
                next_field(&c, &clock);
                c = clock.data;
                next_field(&c, &id);
                next_field(&c, &id);
                time = id.value;
            }
            if (part.number == 11) {
                const unsigned char *e = part.data;
                field                t;
                next_field(&e, &t);
                type = t.value;
            }
        }
        if (!own_clock) {
            counters += type == 4;
            continue;
        }
        time += stamp;
        if (type == 1) {
            begin_first = begins++ ? begin_first : time;
            deepest = ++depth > deepest ? depth : deepest;
        } else if (type == 2) {
            ends++;
            depth--;
            end_last = time;
        }
        CHECK(depth >= 0, "an end without a begin");
    }
    if (f)
        fclose(f);
    CHECK(begins == scopes && ends == scopes && depth == 0, "%d begins, %d ends", begins, ends);
    CHECK(deepest == 3, "%d deep", deepest);
    CHECK(begin_first == first && end_last == last, "%llu to %llu", (unsigned long long)begin_first,
          (unsigned long long)end_last);
    CHECK(counters == 2, "%d counts", counters);
}

/* Writes the tracks of all begins in the file, at most `room`; returns how many there are. */
static int tracks_of(const char *path, uint64_t *track, int room)
{
    static unsigned char bytes[1 << 20];
    FILE                *f = fopen(path, "rb");
    size_t               size = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    const unsigned char *p = bytes, *q, *e;
    field                packet, part, inner;
    int                  n = 0;

    if (f)
        fclose(f);
    while (p < bytes + size && next_field(&p, &packet))
        for (q = packet.data; q < packet.data + packet.value && next_field(&q, &part);) {
            uint64_t type = 0, uuid = 0;
            for (e = part.data; part.number == 11 && e < part.data + part.value && next_field(&e, &inner);) {
                type = inner.number == 9 ? inner.value : type;
                uuid = inner.number == 11 ? inner.value : uuid;
            }
            if (type == 1 && n < room)
                track[n++] = uuid;
        }
    return n;
}

static void *span_of(void *span)
{
    *(perf_async *)span = perf_async_begin("request", 0);
    return NULL;
}

/* Spans of one name that overlap: each has a track of its own, of this process, whether the ids are
 * the library's, of two threads, or the user's. */
static void spans(void)
{
    static const uint64_t id[] = {1, 257, UINT64_C(1) << 32 | 1, UINT64_C(1) << 63 | 1};
    perf_async            a[6];
    uint64_t              track[16];
    pthread_t             t;
    int                   i, k, n, same = 0;

    perf_reset();
    for (i = 0; i < 2; i++)
        CHECK(!pthread_create(&t, NULL, span_of, &a[i]) && !pthread_join(t, NULL), "thread");
    for (; i < 6; i++)
        a[i] = perf_async_begin("request", id[i - 2]);
    for (i = 0; i < 6; i++) {
        now_ns += 10;
        perf_async_end(&a[i]);
    }
    CHECK(perf_trace_save_perfetto(scratch_file()) == PERF_OK, "save");
    n = tracks_of(scratch_file(), track, 16);
    CHECK(n == 6, "%d begins", n);
    for (i = 0; i < n; i++) {
        CHECK(track[i] >> 32 == (uint64_t)getpid() && track[i] >> 31 & 1, "%llx", (unsigned long long)track[i]);
        for (k = 0; k < i; k++)
            same += track[k] == track[i];
    }
    CHECK(!same, "%d pairs share a track", same);
}

int main(void)
{
    char      *text;
    uint64_t   first = now_ns;
    perf_async a;
    int        i;

    {
        PERF_SCOPE("run");
        for (i = 0; i < 2; i++) {
            PERF_SCOPE("load </script>;x");
            now_ns += 100;
            {
                PERF_SCOPE("decode");           /* ends with the one around it */
                now_ns += 50;
            }
            perf_count("queue", 1.5);
        }
        now_ns += 10;
        perf_instant("flush");
    }
    a = perf_async_begin("request", 1);
    perf_async_end(&a);
    CHECK(perf_export_save(scratch_file(), PERF_EXPORT_FOLDED, NULL) == PERF_OK, "folded");
    text = file_text(scratch_file());
    CHECK(!strcmp(text, "run 10\nrun;load </script>_x 200\nrun;load </script>_x;decode 100\n"), "%s", text);
    free(text);
    CHECK(perf_export_save(scratch_file(), PERF_EXPORT_FLAME, NULL) == PERF_OK, "flame");
    text = file_text(scratch_file());
    CHECK(strstr(text, "[[0,\"all\",310,0,310,1],\n[0,\"run\",310,10,310,1],\n[1,\"load \\u003c/script>;x\",300,200,300,2],"
                       "\n[2,\"decode\",100,100,100,2]]"), "%s", text);
    CHECK(count_of(text, "</script>") == 1, "one end of the script");
    free(text);
    CHECK(perf_trace_save_perfetto(scratch_file()) == PERF_OK, "perfetto");
    perfetto(scratch_file(), 5, first, first + 310);
    CHECK(perf_trace_save_perfetto("no/such/folder") == PERF_EIO, "folder");
    CHECK(perf_trace_save_perfetto("/dev/full") == PERF_EIO, "full disk");
    CHECK(perf_export_save(NULL, PERF_EXPORT_FOLDED, NULL) == PERF_EINVAL &&
              perf_export_save("", PERF_EXPORT_FLAME, NULL) == PERF_EINVAL, "no path");
    perf_reset();
    {
        perf_scope s = perf_scope_begin("\xe6\x97\xa5 \xff;");
        now_ns += 5;
        perf_scope_end(&s);
    }
    CHECK(perf_export_save(scratch_file(), PERF_EXPORT_FOLDED, NULL) == PERF_OK, "folded");
    text = file_text(scratch_file());
    CHECK(!strcmp(text, "\xe6\x97\xa5 ?_ 5\n"), "%s", text);
    free(text);
    perf_reset();
    for (i = 0; i < 1500; i++) {                /* more than the buffer of a file */
        char       name[256];
        perf_scope s;
        snprintf(name, sizeof name, "</script>%0246d", i);
        s = perf_scope_begin(name);
        now_ns += 5;
        perf_scope_end(&s);
    }
    CHECK(perf_export_save(scratch_file(), PERF_EXPORT_FLAME, NULL) == PERF_OK, "flame");
    text = file_text(scratch_file());
    CHECK(count_of(text, "</script>") == 1 && count_of(text, "\"\\u003c/script>0") == 1500, "a name at the buffer's end");
    free(text);
    spans();
    perf_reset();
    CHECK(perf_trace_save_perfetto(scratch_file()) == PERF_OK, "nothing to save");
    remove(scratch_file());
    return check_done();
}
