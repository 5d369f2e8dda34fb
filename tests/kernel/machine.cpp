/* Kernels with timers, played on the machine of machine.h: what is recorded, what is dropped, what the
 * host makes of it.  machine [TRACE.json]: also writes a trace for trace.py to read.               */
#include "machine.h"
#include "../check.h"
#include <unistd.h>

static perf_kernel_event event[4096];
static perf_kernel_info  info;

static uint64_t decode(memory *x)
{
    memory_back(x);
    memset(event, 0xee, sizeof event);
    CHECK(perf_kernel_decode(x->image, x->bytes, event, 4096, &info) == PERF_OK, "decode");
    return info.events;
}

static void on_sm(uint32_t sm, uint32_t block, uint32_t warp)
{
    m.sm = sm;
    m.block[0] = block;
    m.warp = warp;
}

/* Ids, nesting, instants, places. */
static void what_is_recorded()
{
    m = machine_new();
    m.wall_base = 7;
    memory x = memory_new(4, 16, 0);
    on_sm(3, 0xfffffff1u, 31);
    m.block[1] = 65535;
    m.block[2] = 65534;
    {
        perf_kernel_sink sink(memory_buffer(&x));
        machine_run(100);
        PERF_KERNEL_SCOPE(sink, 1);
        machine_run(10);
        {
            PERF_KERNEL_SCOPE(sink, 4095);
            machine_run(20);
            PERF_KERNEL_INSTANT(sink, 2, 0xffffffffu);
            PERF_KERNEL_INSTANT(sink, 2, 0u);
            PERF_KERNEL_INSTANT(sink, 70000, 5u);
        }
        {
            PERF_KERNEL_SCOPE(sink, 0);
        }
        {
            PERF_KERNEL_SCOPE(sink, 4096);
            machine_run(3);
        }
    }
    CHECK(decode(&x) == 7, "%d events", static_cast<int>(info.events));
    static const perf_kernel_event want[7] = {
        /* start, ns, cycles, id, value, instant */
        {137, 0, 0, 2, 0xffffffffu, 1, 3, 0, 0xfffffff1u, 65535, 65534, 31},
        {137, 0, 0, 2, 0, 1, 3, 0, 0xfffffff1u, 65535, 65534, 31},
        {137, 0, 0, 4095, 5, 1, 3, 0, 0xfffffff1u, 65535, 65534, 31},
        {117, 20, 20, 4095, 0, 0, 3, 0, 0xfffffff1u, 65535, 65534, 31},
        {137, 0, 0, 0, 0, 0, 3, 0, 0xfffffff1u, 65535, 65534, 31},
        {137, 3, 3, 4095, 0, 0, 3, 0, 0xfffffff1u, 65535, 65534, 31},
        {107, 33, 33, 1, 0, 0, 3, 0, 0xfffffff1u, 65535, 65534, 31},
    };
    for (int i = 0; i < 7; i++)
        CHECK(memcmp(&want[i], &event[i], sizeof want[i]) == 0,
              "event %d: start %d ns %d id %u value %u instant %u block %u,%u,%u", i,
              static_cast<int>(event[i].start_ns), static_cast<int>(event[i].ns), event[i].id,
              event[i].value, event[i].instant, event[i].block_x, event[i].block_y,
              event[i].block_z);
    CHECK(info.dropped == 0 && info.missed_warps == 0 && info.malformed == 0 && info.rings == 1 &&
          info.unclosed == 0 && info.sms == 1 && info.tracks == 1, "a clean run");
    CHECK(info.cycle_ns <= 0, "130 ns are too short to tell the rate: %g", info.cycle_ns);
    /* Room for fewer: the first ones, and the count of all. */
    memset(event, 0, sizeof event);
    CHECK(perf_kernel_decode(x.image, x.bytes, event, 2, &info) == PERF_OK && info.events == 7 &&
          event[1].id == 2 && event[2].cycles == 0 && event[2].id == 0, "room for two");
    CHECK(perf_kernel_decode(x.image, x.bytes, NULL, 0, &info) == PERF_OK && info.events == 7,
          "counting only");
    CHECK(perf_kernel_decode(x.image, x.bytes, event, 4096, NULL) == PERF_OK, "no info wanted");
    memory_free(&x);
}

/* A ring that is full keeps what it has, counts the rest and spoils nothing of its neighbour. */
static void a_full_ring()
{
    for (uint32_t scopes = 1; scopes < 40; scopes++) {
        m = machine_new();
        memory   x = memory_new(3, scopes, 0);
        uint32_t room = 0;
        for (uint32_t warp = 0; warp < 3; warp++) {
            on_sm(0, warp, warp);
            perf_kernel_sink sink(memory_buffer(&x));
            for (uint32_t i = 0; i < 100; i++) {
                PERF_KERNEL_SCOPE(sink, i);
                machine_run(1 + i);
            }
        }
        uint64_t n = decode(&x);
        CHECK(n % 3 == 0, "the same for each ring: %d", static_cast<int>(n));
        room = static_cast<uint32_t>(n / 3);
        CHECK(room >= scopes && room < 2 * scopes + 1, "%u slots for %u scopes", room, scopes);
        CHECK(info.dropped == 300 - n, "%d dropped", static_cast<int>(info.dropped));
        for (uint32_t i = 0; i < n; i++)
            CHECK(event[i].id == i % room && event[i].cycles == i % room + 1 &&
                  event[i].block_x == i / room, "the first %u of each: %u", room, i);
        CHECK(static_cast<unsigned char *>(x.device)[x.bytes] == 0, "nothing behind the buffer");
        memory_free(&x);
    }
}

/* The count of a ring comes round after 2^28 records: the records that it has are not lost. */
static void a_count_that_comes_round()
{
    m = machine_new();
    m.cycles = 1;
    memory x = memory_new(1, 3, 0);
    {
        perf_kernel_sink sink(memory_buffer(&x));
        uint64_t         first = sink.at;
        for (uint32_t i = 0; i < 9; i++)
            PERF_KERNEL_INSTANT(sink, i, i);
        sink.at = first + 16;                   /* as after 2^28 + 1                              */
    }
    CHECK(decode(&x) == 3 && event[2].id == 2 && info.dropped == (1u << 28) - 2,
          "%d events, %.17g dropped", static_cast<int>(info.events), static_cast<double>(info.dropped));
    memory_free(&x);
}

/* Warps without a ring, lanes that do not write, sinks without a buffer: nothing is stored. */
static void who_is_not_recorded()
{
    m = machine_new();
    memory x = memory_new(2, 4, 0);
    for (uint32_t i = 0; i < 64; i++) {
        on_sm(0, i / 32, i / 32);
        m.lane = i % 32;
        perf_kernel_sink sink(memory_buffer(&x));
        PERF_KERNEL_SCOPE(sink, i);
        PERF_KERNEL_INSTANT(sink, i, i);
    }
    m.lane = 0;
    for (uint32_t i = 0; i < 5; i++) {
        perf_kernel_sink sink(memory_buffer(&x));
        PERF_KERNEL_SCOPE(sink, 99);
    }
    {
        perf_kernel_sink sink(NULL);
        PERF_KERNEL_SCOPE(sink, 99);
        PERF_KERNEL_INSTANT(sink, 1, 1);
    }
    CHECK(decode(&x) == 4 && event[0].id == 0 && event[2].id == 32, "one lane of each warp");
    CHECK(info.rings == 2 && info.missed_warps == 5 && info.dropped == 0, "%d warps missed",
          static_cast<int>(info.missed_warps));
    memory_free(&x);
}

/* A kernel that never closes (a trap): its records are there. */
static void an_open_ring()
{
    m = machine_new();
    m.cycles = 1;
    memory            x = memory_new(2, 8, 0);
    machine_sink sink;
    perf_kernel_open(&sink, memory_buffer(&x));
    for (uint32_t i = 0; i < 5; i++) {
        perf_kernel_stamp begin = perf_kernel_begin();
        machine_run(9);
        perf_kernel_end(&sink, i, begin);
    }
    CHECK(decode(&x) == 5 && event[4].cycles == 9 && info.unclosed == 1 && info.rings == 1,
          "%d records of an open ring", static_cast<int>(info.events));
    perf_kernel_close(&sink);
    perf_kernel_close(&sink);
    perf_kernel_stamp late = perf_kernel_begin();
    perf_kernel_end(&sink, 1, late);
    CHECK(decode(&x) == 5 && info.unclosed == 0, "nothing after the close");
    memory_free(&x);
}

/* gfx12 reads its clock in two halves.  A lower half that wraps in between gives a moment 2^32 too late:
 * no scope and no instant of it is shown. */
static void a_clock_read_in_halves()
{
    m = machine_new();
    m.cycles = UINT64_C(0x1fffffff0);
    memory x = memory_new(1, 4, 0);
    {
        perf_kernel_sink  sink(memory_buffer(&x));
        perf_kernel_stamp begin = perf_kernel_begin();
        machine_run(10);
        PERF_KERNEL_INSTANT(sink, 1, 1);
        perf_kernel_end(&sink, 0, begin);
        begin.hi++;
        perf_kernel_end(&sink, 0, begin);
        m.ahead[0] = UINT64_C(1) << 32;
        PERF_KERNEL_INSTANT(sink, 2, 2);
        m.ahead[0] = 0;
    }
    CHECK(decode(&x) == 2 && event[0].id == 1 && event[1].cycles == 10 && info.malformed == 2,
          "%d events, %d malformed", static_cast<int>(info.events), static_cast<int>(info.malformed));
    memory_free(&x);
}

/* A trap ends a kernel while another warp opens or closes its ring, at any point: what is there tells
 * the truth, of the other warps, too. */
static memory   cut;
static unsigned cuts;

static void cut_here()
{
    uint64_t n = decode(&cut);
    cuts++;
    CHECK(info.cycle_ns > 0.49 && info.cycle_ns < 0.51 && info.error_ns < 10,
          "look %u: %g ns a cycle, off by %g ns", cuts, info.cycle_ns, info.error_ns);
    CHECK(n >= 1 && info.malformed == 0 && info.dropped == 0, "look %u: %d events", cuts, static_cast<int>(n));
    for (uint64_t i = 0; i < n; i++)
        CHECK(event[i].start_ns >= m.wall_base && event[i].start_ns < m.wall_base + 50000,
              "look %u: event %d at %.17g ns", cuts, static_cast<int>(i), static_cast<double>(event[i].start_ns));
}

static void a_kernel_cut_short()
{
    m = machine_new();
    m.cycle_ns = 0.5;
    m.cycles = 20000;
    m.wall_base = UINT64_C(1700000000000000000);
    cut = memory_new(3, 4, 0);
    for (uint32_t warp = 0; warp < 3; warp++) {
        perf_kernel_sink sink(memory_buffer(&cut));
        PERF_KERNEL_SCOPE(sink, warp);
        machine_run(30000);
        m.looks = cut_here;                     /* from the end of the first scope on */
        if (warp == 0)
            m.looks = NULL;
    }
    m.looks = NULL;
    CHECK(cuts > 8, "%u looks", cuts);
    memory_free(&cut);
}

/* 32-bit counters wrap after 4.29 s at 1 GHz; these do not. */
static void long_kernels()
{
    static const uint64_t start[] = {0, 0xfffffff0u, UINT64_C(0x1ffffff00), UINT64_C(1) << 44};
    static const uint64_t length[] = {32, UINT64_C(0x100000000), UINT64_C(0x3fffffff5),
                                      UINT64_C(1) << 40};
    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < 4; j++) {
            m = machine_new();
            m.cycles = start[i];
            m.cycle_ns = 0.5;
            memory x = memory_new(1, 8, 0);
            {
                perf_kernel_sink sink(memory_buffer(&x));
                machine_run(20002);
                for (uint32_t id = 0; id <= 4095; id += 1365) {
                    PERF_KERNEL_SCOPE(sink, id);
                    machine_run(length[j]);
                    PERF_KERNEL_INSTANT(sink, id, id);
                }
            }
            CHECK(decode(&x) == 8 && info.malformed == 0, "all there");
            for (uint32_t k = 0; k < 4; k++) {
                const perf_kernel_event *e = &event[2 * k + 1], *moment = &event[2 * k];
                uint64_t want = (start[i] + 20002 + k * length[j]) / 2;
                CHECK(e->id == 1365 * k && e->cycles == length[j], "id %u, %.17g cycles", e->id,
                      static_cast<double>(e->cycles));
                CHECK(e->start_ns - want + 1 <= 2 && e->ns - length[j] / 2 + 1 <= 2,
                      "start %.17g ns, want %.17g", static_cast<double>(e->start_ns),
                      static_cast<double>(want));
                CHECK(moment->instant && moment->id == e->id && moment->value == e->id &&
                      moment->start_ns - (want + length[j] / 2) + 1 <= 2, "the instant at its end");
            }
            memory_free(&x);
        }
}

/* Two SMs whose counters have nothing in common, a clock of coarse steps: every event lies where it
 * was, within a step of the clock and what that makes of the rate.                                */
static void cycles_to_ns()
{
    struct { double ghz, wall_ns; uint64_t step, hz; } const kind[] = {
        {1.755, 1, 1, 0}, {1.755, 1, 32, 0}, {1.98, 1, 1024, 0}, {1.5, 10, 1, 100000000},
        {0.345, 1, 32, 1000000000},
    };
    for (unsigned i = 0; i < sizeof kind / sizeof *kind; i++) {
        m = machine_new();
        m.cycle_ns = 1 / kind[i].ghz;
        m.wall_ns = kind[i].wall_ns;
        m.wall_step = kind[i].step;
        m.wall_base = UINT64_C(1700000000000000000) / static_cast<uint64_t>(kind[i].wall_ns);
        if (kind[i].hz == 100000000)
            m.wall_base = UINT64_C(86400) * 100000000;
        m.ahead[1] = UINT64_C(0x123456789ab);
        m.ahead[2] = 5;
        memory x = memory_new(8, 64, kind[i].hz);
        double truth[64];
        int    n = 0;
        for (uint32_t warp = 0; warp < 6; warp++) {
            on_sm(1 + warp % 2, warp, 0);
            perf_kernel_sink sink(memory_buffer(&x));
            for (uint32_t s = 0; s < 10; s++) {
                machine_run(1234);
                truth[n++] = machine_true_ns();
                PERF_KERNEL_SCOPE(sink, s);
                machine_run(30011);
            }
        }
        CHECK(decode(&x) == 60, "all there");
        double step = static_cast<double>(kind[i].step) * kind[i].wall_ns;
        double span = 60 * 31245 * m.cycle_ns;
        /* Both ends of the longest distance are off by up to a step. */
        double rate = info.cycle_ns / m.cycle_ns - 1, bound = 2 * step / (span / 2);
        CHECK(rate < bound && rate > -bound, "kind %u: rate off by %g, bound %g", i, rate, bound);
        CHECK(info.error_ns <= 2.5 * step + 1e-6 * span + 600, "kind %u: error %g ns", i,
              info.error_ns);
        for (int e = 0; e < 60; e++) {
            /* By SM, then by time: SM 1 has the warps 0, 2, 4. */
            int    warp = e / 10 < 3 ? e / 10 * 2 : (e / 10 - 3) * 2 + 1;
            double off = static_cast<double>(static_cast<int64_t>(
                             event[e].start_ns - static_cast<uint64_t>(machine_true_ns()))) -
                         (truth[warp * 10 + e % 10] - machine_true_ns());
            CHECK(event[e].block_x == static_cast<uint32_t>(warp), "order");
            CHECK(off < 3 * step + 600 && off > -3 * step - 600, "kind %u event %d: off by %g ns",
                  i, e, off);
            double ns = static_cast<double>(event[e].ns), want = 30011 * m.cycle_ns;
            CHECK(ns - want < want * bound + 2 && want - ns < want * bound + 2,
                  "kind %u: %g ns, want %g", i, ns, want);
        }
        memory_free(&x);
    }
    /* Clocks as slow as can be said. */
    for (uint64_t hz = 1; hz <= 3; hz++) {
        m = machine_new();
        m.wall_base = 12 * hz;                  /* 12 s                                           */
        m.wall_ns = 1e9 / static_cast<double>(hz);
        memory x = memory_new(1, 1, hz);
        {
            perf_kernel_sink sink(memory_buffer(&x));
            PERF_KERNEL_SCOPE(sink, 0);
            machine_run(UINT64_C(6000000000));
        }
        CHECK(decode(&x) == 1 && event[0].start_ns - UINT64_C(11999999999) <= 2 &&
              event[0].ns - UINT64_C(5999999990) <= 20, "%d Hz: at %.17g ns for %.17g ns",
              static_cast<int>(hz), static_cast<double>(event[0].start_ns),
              static_cast<double>(event[0].ns));
        memory_free(&x);
    }
    /* Many short warps on a clock of 1 us: most see it stand still, some a whole step. */
    m = machine_new();
    m.cycle_ns = 0.5;
    m.wall_step = 1024;
    memory x = memory_new(2000, 1, 0);
    for (uint32_t warp = 0; warp < 2000; warp++) {
        on_sm(warp, warp, 0);
        perf_kernel_sink sink(memory_buffer(&x));
        PERF_KERNEL_SCOPE(sink, 0);
        machine_run(200);
    }
    CHECK(decode(&x) == 2000 && info.sms == 2000, "all there");
    CHECK(info.cycle_ns <= 0, "100 ns each: no rate, not %g", info.cycle_ns);
    memory_free(&x);
}

/* Warps that are on an SM together have tracks of their own, others share them. */
static void tracks()
{
    m = machine_new();
    memory            x = memory_new(40, 1, 0);
    machine_sink warp[40];
    static const struct { int at, sm, open, warp; } step[] = {
        {0, 0, 1, 0}, {1, 0, 1, 1}, {2, 1, 1, 2}, {5, 0, 0, 0}, {5, 0, 1, 3}, {6, 0, 1, 4},
        {7, 0, 0, 1}, {8, 0, 0, 3}, {9, 0, 1, 5}, {9, 1, 0, 2}, {10, 0, 1, 6}, {20, 0, 0, 4},
        {20, 0, 0, 5}, {20, 0, 0, 6},
    };
    for (unsigned i = 0; i < sizeof step / sizeof *step; i++) {
        m.cycles = static_cast<uint64_t>(step[i].at) * 100;
        on_sm(static_cast<uint32_t>(step[i].sm), static_cast<uint32_t>(step[i].warp), 0);
        if (step[i].open) {
            perf_kernel_open(&warp[step[i].warp], memory_buffer(&x));
            perf_kernel_instant(&warp[step[i].warp], 0, 0);
        } else {
            perf_kernel_close(&warp[step[i].warp]);
        }
    }
    CHECK(decode(&x) == 7 && info.sms == 2 && info.tracks == 3, "%u tracks", info.tracks);
    static const uint32_t want[7] = {0, 1, 0, 0, 2, 0, 1};
    for (unsigned i = 0; i < 7; i++)
        CHECK(event[i].track == want[event[i].block_x], "warp %u on track %u", event[i].block_x,
              event[i].track);
    memory_free(&x);
}

/* 128 warps on two units of each of `xcds` chips: whose common clocks are where m.wall_ahead says.  A chip
 * is given its warps in turn, or (together) all of them before the next chip gets one.  Where its events
 * lie, against the clock of chip 0: the farthest from the truth, ns.                               */
static double on_chips(uint32_t xcds, int together)
{
    static machine_sink sink[128];
    static double            truth[128];
    double                   worst = 0;
    m.cycle_ns = 1 / 2.1;
    m.wall_ns = 10;                             /* 100 MHz, as on MI300                           */
    m.wall_base = UINT64_C(86400) * 100000000;
    m.claim = 400;
    memory x = memory_new(128, 1, 100000000);
    for (uint32_t i = 0; i < 256; i++) {        /* all open, then each has its scope and closes   */
        uint32_t w = i % 128;
        on_sm((together ? w / (128 / xcds) : w % xcds) << 16 | w / 64, w, 0);
        if (i < 128) {
            perf_kernel_open(&sink[w], memory_buffer(&x));
            continue;
        }
        machine_run(300);
        truth[w] = machine_true_ns();
        perf_kernel_stamp begin = perf_kernel_begin();
        machine_run(30000);
        perf_kernel_end(&sink[w], w, begin);
        perf_kernel_close(&sink[w]);
    }
    CHECK(decode(&x) == 128 && info.malformed == 0, "all there");
    for (uint32_t i = 0; i < 128; i++) {
        double off = static_cast<double>(event[i].start_ns) - truth[event[i].block_x];
        worst = off > worst ? off : -off > worst ? -off : worst;
        CHECK(event[i].sm >> 16 == (together ? event[i].id / (128 / xcds) : event[i].id % xcds),
              "warp %u on unit %x", event[i].id, event[i].sm);
        CHECK(event[i].cycles == 30000, "%d cycles", static_cast<int>(event[i].cycles));
    }
    if (xcds == 8) {
        char  text[65536], file[64];
        snprintf(file, sizeof file, "xcds-%ld.json", static_cast<long>(getpid())); // builds of this test run at once
        CHECK(perf_kernel_trace_save(file, x.image, x.bytes, NULL, 0, 0) == PERF_OK, "saved");
        FILE *f = fopen(file, "r");
        text[f ? fread(text, 1, sizeof text - 1, f) : 0] = '\0';
        if (f)
            fclose(f);
        remove(file);
        CHECK(strstr(text, "\"XCD 0 CU 1\"") && strstr(text, "\"XCD 7 CU 0\"") &&
              !strstr(text, "\"SM "), "units have the name of their chip");
    }
    memory_free(&x);
    return worst;
}

/* MI300: eight chips, each with clocks of its own. */
static void clocks_of_chips()
{
    static const uint64_t ahead[8] = {0, 12345, 0u - UINT64_C(54321), UINT64_C(1) << 41, 7,
                                      0u - UINT64_C(1000), 99, 100000000};
    m = machine_new();
    double off = on_chips(8, 0);
    CHECK(off < 40 && info.sms == 16 && info.error_ns < 4000, "one clock: off by %g, error %g, %u units",
          off, info.error_ns, info.sms);
    for (uint32_t i = 0; i < 60; i++) {         /* so little apart that the order does not show it */
        m = machine_new();
        m.wall_ahead[i % 8] = i * 3;
        m.wall_ahead[(i + 3) % 8] = 0u - UINT64_C(2) * i;
        off = on_chips(8, 0);
        CHECK(off < info.error_ns + 40 && info.error_ns < 4000, "%u: off by %g, error %g", i, off, info.error_ns);
    }
    m = machine_new();
    memcpy(m.wall_ahead, ahead, sizeof ahead);
    off = on_chips(8, 0);
    CHECK(off < info.error_ns + 40 && info.error_ns < 4000 && info.sms == 16,
          "eight clocks: off by %g, error %g, %u units", off, info.error_ns, info.sms);
    m = machine_new();
    m.wall_ahead[1] = 0u - UINT64_C(1000000);   /* 10 ms late; nothing says what the latest is    */
    off = on_chips(2, 1);
    CHECK(off < 1000 && info.error_ns > 1e20, "one after the other: off by %g ns", off);
    m = machine_new();
    m.wall_ahead[1] = 1000000;                  /* later, and its warps are: it may be so         */
    off = on_chips(2, 1);
    CHECK(off > 9e6 && off < 11e6 && info.error_ns > 1e20, "not moved: off by %g ns", off);
}

static void sums_and_histograms()
{
    perf_kernel_total total;
    memset(&total, 0, sizeof total);
    m = machine_new();
    for (uint32_t warp = 0; warp < 10; warp++)
        for (m.lane = 0; m.lane < 32; m.lane++) {
            perf_kernel_sum sum(&total);
            for (int i = 0; i < 3; i++) {
                machine_run(50);
                PERF_KERNEL_SUM(sum);
                machine_run(warp);
            }
            if (warp == 9)
                machine_run(UINT64_C(1) << 32);
        }
    m.lane = 0;
    CHECK(total.cycles == 3 * 45 && total.warps == 10 && total.most == 27 && total.wrapped == 1,
          "%d cycles of %d warps, most %d, %d wrapped", static_cast<int>(total.cycles),
          static_cast<int>(total.warps), static_cast<int>(total.most),
          static_cast<int>(total.wrapped));
    {
        perf_kernel_sum sum(NULL);
        PERF_KERNEL_SUM(sum);
    }

    /* Each form of histogram, filled by a kernel, copied as bytes, merged into the host's. */
    static perf_hist host, whole, fixed;
    for (int form = 0; form < 3; form++) {
        perf_hist_opts o = PERF_ZERO;
        o.bits = form == 1 ? 7 : 10;
        size_t     bytes = form ? perf_hist_bytes(&o) : sizeof fixed;
        void      *device = calloc(1, bytes), *image = malloc(bytes);
        perf_hist *h = form ? perf_hist_init(device, bytes, &o) : perf_hist_attach(device, bytes);
        perf_hist_reset(&host);
        perf_hist_reset(&whole);
        for (uint32_t i = 0; i < 20000; i++)
            for (m.lane = 0; m.lane < 2; m.lane++) {
                PERF_KERNEL_HIST(h);
                machine_run(1 + i * 37 % 9973);
                if (m.lane == 0)
                    perf_hist_add(&host, 1 + i * 37 % 9973);
            }
        m.lane = 0;
        memcpy(image, device, bytes);
        const perf_hist *back = perf_hist_attach(image, bytes);
        CHECK(back && perf_hist_merge(&whole, back) == PERF_OK, "merge");
        CHECK(perf_hist_count(&whole) == 20000, "all of them, of one lane");
        for (double q = 0; q <= 1; q += 0.125) {
            double a = perf_hist_quantile(&whole, q), b = perf_hist_quantile(&host, q);
            CHECK(a <= b * 1.008 && a >= b / 1.008, "form %d q %g: %g, host %g", form, q, a, b);
        }
        free(device);
        free(image);
    }
}

static void bad_arguments()
{
    uint64_t image[512], device[2];
    size_t   need = perf_kernel_bytes(2, 4);

    CHECK(need > 0 && need < sizeof image, "small");
    CHECK(!perf_kernel_bytes(0, 1) && !perf_kernel_bytes(1, 0) && !perf_kernel_bytes(1u << 21, 1) &&
          !perf_kernel_bytes(1, 1u << 25) && !perf_kernel_bytes(1u << 20, 1u << 24) &&
          !perf_kernel_bytes(~0u, ~0u), "out of range");
    CHECK(perf_kernel_bytes(1u << 20, 1) && perf_kernel_bytes(1, 1u << 24), "in range");
    uintptr_t at = (reinterpret_cast<uintptr_t>(device) + 15) & ~static_cast<uintptr_t>(15);
    void     *to = reinterpret_cast<void *>(at), *odd = reinterpret_cast<void *>(at + 8);
    void     *askew = reinterpret_cast<char *>(image) + 4;
    CHECK(perf_kernel_prepare(image, need, to, 2, 4, 0) == PERF_OK, "good");
    CHECK(perf_kernel_prepare(NULL, need, to, 2, 4, 0) == PERF_EINVAL &&
          perf_kernel_prepare(image, need - 1, to, 2, 4, 0) == PERF_EINVAL &&
          perf_kernel_prepare(image, need, NULL, 2, 4, 0) == PERF_EINVAL &&
          perf_kernel_prepare(image, need, odd, 2, 4, 0) == PERF_EINVAL &&
          perf_kernel_prepare(askew, need, to, 2, 4, 0) == PERF_EINVAL &&
          perf_kernel_prepare(image, sizeof image, to, 0, 4, 0) == PERF_EINVAL, "refused");
    perf_kernel_event one;
    CHECK(perf_kernel_decode(image, need, &one, 1, &info) == PERF_OK && info.events == 0 &&
          info.rings == 0 && info.cycle_ns <= 0, "an empty buffer is fine");
    CHECK(perf_kernel_decode(NULL, need, &one, 1, &info) == PERF_EINVAL &&
          perf_kernel_decode(askew, need - 4, &one, 1, &info) == PERF_EINVAL &&
          perf_kernel_decode(image, need - 1, &one, 1, &info) == PERF_EFORMAT &&
          perf_kernel_decode(image, 8, &one, 1, &info) == PERF_EFORMAT &&
          perf_kernel_decode(image, 0, &one, 1, &info) == PERF_EFORMAT && info.events == 0,
          "refused");
    CHECK(perf_kernel_trace_save(NULL, image, need, NULL, 0, 0) == PERF_EINVAL &&
          perf_kernel_trace_save("", image, need, NULL, 0, 0) == PERF_EINVAL &&
          perf_kernel_trace_save("/no such folder/x.json", image, need, NULL, 0, 0) == PERF_EIO &&
          perf_kernel_trace_save("/no such folder/x.json", image, need - 1, NULL, 0, 0) ==
              PERF_EFORMAT, "refused");
}

/* For trace.py: 3 SMs, warps together and after each other, names that JSON and viewers dislike. */
static void a_trace(const char *path)
{
    static char long_name[2000];
    memset(long_name, 'x', sizeof long_name - 1);
    const char *names[] = {"load", "\"quoted\\\"\n\xff", long_name, NULL, "instant"};
    m = machine_new();
    m.cycle_ns = 0.5;
    memory            x = memory_new(31, 3, 0);
    machine_sink pair[2];
    for (uint32_t round = 0; round < 5; round++)
        for (uint32_t sm = 0; sm < 3; sm++) {
            for (uint32_t i = 0; i < 2; i++) {
                on_sm(sm, 1000000u * round, i);
                m.block[1] = sm;
                perf_kernel_open(&pair[i], memory_buffer(&x));
            }
            for (uint32_t id = 0; id < 4; id++) {
                perf_kernel_stamp begin = perf_kernel_begin();
                machine_run(10000);
                for (uint32_t i = 0; i < 2; i++) {
                    if (id == 0)
                        perf_kernel_instant(&pair[i], 4, round);
                    else                /* the third of each meets a full ring                    */
                        perf_kernel_end(&pair[i], round == 4 ? 7 : round == 3 ? 3 : id, begin);
                }
            }
            for (uint32_t i = 0; i < 2; i++)
                perf_kernel_close(&pair[i]);
        }
    memory_back(&x);
    CHECK(perf_kernel_trace_save(path, x.image, x.bytes, names, 5, 1000000) == PERF_OK, "saved");
    memory_free(&x);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        a_trace(argv[1]);
        return check_done();
    }
    what_is_recorded();
    a_full_ring();
    a_count_that_comes_round();
    who_is_not_recorded();
    an_open_ring();
    a_kernel_cut_short();
    a_clock_read_in_halves();
    long_kernels();
    cycles_to_ns();
    tracks();
    clocks_of_chips();
    sums_and_histograms();
    bad_arguments();
    return check_done();
}
