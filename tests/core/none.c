/* A program that marks and never reads: nothing is kept, and the switch of the image says so.  It also holds
 * somebody else's note, which looks like ours but for its text.                                   */
#if defined(__ELF__) && !defined(__arm__)          /* in front of the header, which has ours */
__asm__(".pushsection .note.aaa,\"a\",%note\n.balign 4\n.long 4, 4, 0x50455246\n.ascii \"abc\\0\"\n.long 0\n"
        ".popsection");
#endif

#include "perf_scope.h"
#include "../inside.h"

void mark(void);

/* Every call there is, and ends of what nobody began. */
static int others(void)
{
    perf_scope s = perf_scope_begin("scope"), odd = PERF_ZERO;
    perf_async a = perf_async_begin("span", 7);
    perf_fiber from = PERF_ZERO, to = PERF_ZERO;
    perf_lap   lap = perf_lap_begin();
    int        kept;

    PERF_LAP(&lap, "lap");
    perf_count("count", 1);
    perf_instant("instant");
    perf_scope_value("value", 2);
    perf_scope_text("text", "words");
    perf_thread_name("main");
    perf_fiber_switch(&from, &to);
    perf_fiber_switch(0, 0);
    kept = s.rec || lap.rec || from.rec || to.rec;
    perf_async_end(&a);
    perf_async_end(&a);
    perf_async_end(0);
    perf_scope_end(&s);
    perf_scope_end(&s);
    perf_scope_end(0);
    odd.rec = (core_recorder *)(void *)&odd;   /* of an image whose core is not ours */
    perf_scope_end(&odd);
    perf_lap_end(&lap, "end");
    perf_lap_end(0, "end");
    return kept || a.open || odd.rec;
}

int main(void)
{
    mark();
    mark();
    return others() || !core_is_nowhere();
}
