#!/bin/sh
# PERF_AT_EXIT: the environment asks for a report and a trace at the end of a program; without it
# nothing is printed.
. "$(dirname "$0")/../lib.sh"
need gcc
start_work
cd "$work"
cat > program.c <<'C'
#define PERF_AT_EXIT 1
#include "perf.h"
int main(void) { PERF_SCOPE("whole"); return 0; }
C
try "compiles" gcc -O2 -I"$root" program.c -o program
try "silent" test -z "$(./program 2>&1)"
try "silent at 0" test -z "$(PERF_REPORT=0 ./program 2>&1)"
try "silent at nothing" test -z "$(PERF_REPORT='' PERF_TRACE='' ./program 2>&1)"
PERF_REPORT=diagnosis ./program 2>diagnosis
try "PERF_REPORT=diagnosis needs no other macro" grep -q '^diagnosis: no scope was called 8 times' diagnosis
PERF_REPORT=jsn ./program 2>jsn
try "PERF_REPORT=jsn is named" grep -q 'PERF_REPORT=jsn is none of' jsn
try "and the table follows" grep -q whole jsn
for view in 1 table tree csv json; do
    PERF_REPORT=$view ./program 2>view
    try "PERF_REPORT=$view is known" sh -c '! grep -q "is none of" view'
done
printf '#define PERF_AT_EXIT 1\n#define PERF_DIAGNOSIS 0\n#include "perf.h"\nint main(void) { PERF_SCOPE("whole"); return 0; }\n' >without.c
try "compiles without the five lines" gcc -O0 -I"$root" without.c -o without
PERF_REPORT=diagnosis ./without 2>without.txt
try "what is not there says what to do" grep -q 'one file has to define PERF_DIAGNOSIS' without.txt
for header in perf_memory.h perf_diagnosis.h perf_report.h perf_bound.h perf_proc.h perf_trace.h; do
    printf '#define PERF_AT_EXIT 1\n#include "%s"\n#include "perf.h"\nint main(void) { PERF_SCOPE("whole"); return 0; }\n' "$header" >first.c
    try "PERF_AT_EXIT above $header" gcc -O0 -Wall -Wextra -Werror -I"$root" first.c -o first
    PERF_REPORT=diagnosis ./first 2>first.txt
    try "and it has the five lines" grep -q '^diagnosis: no scope' first.txt
done
for view in 1 tree csv json; do
    PERF_REPORT=$view ./program 2>"$view"
    try "PERF_REPORT=$view" grep -q whole "$view"
done
PERF_TRACE=t.json ./program
try "PERF_TRACE" grep -q whole t.json
cat >forks.c <<'C'
#define PERF_AT_EXIT 1
#include "perf.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int at, down[2], status = 1;
    if (pipe(down))
        return 2;
    { PERF_SCOPE("of the parent"); at = fork(); }
    if (at == 0) {                              /* ends after its parent has saved */
        char end;
        if (argc > 1) { PERF_SCOPE("of the child"); }
        close(down[1]);
        exit(read(down[0], &end, 1) != 0);
    }
    return argc > 2 && (close(down[1]), wait(&status) < 0 || status);
}
C
try "a program that forks" gcc -O0 -I"$root" forks.c -o forks
try "PERF_TRACE of a child" sh -c 'PERF_TRACE=fork.json ./forks 1 wait && cat fork.json.* >child'
try "it has what the child did" grep -q 'of the child' child
try "and the parent's is the parent's" grep -q 'of the parent' fork.json
try "no file of a child that did nothing" sh -c 'rm fork.json* && PERF_TRACE=fork.json ./forks && sleep 0.2 && ls fork.json && ! ls fork.json.*'
cat >many.c <<'C'
#define PERF_AT_EXIT 1
#include "perf.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int i, at, status = 0;
    char name[32];
    for (i = 0; i < 1000 && status == 0; i++) {  /* what a parent reads of its children has an end */
        snprintf(name, sizeof name, "of child %d", i);
        at = fork();
        if (at == 0) {
            perf_scope s = perf_scope_begin(name);
            perf_scope_end(&s);
            if (i < 999)
                _exit(0);
            exit(0);
        }
        if (at < 0 || waitpid(at, &status, 0) != at)
            return 1;
    }
    return access(argv[argc - 1], F_OK) == 0;
}
C
try "a program with many children" gcc -O0 -I"$root" many.c -o many
try "PERF_TRACE of the last is not its parent's" sh -c 'PERF_TRACE=many.json ./many many.json && grep -q "of child 999" many.json.*'
# A program that starts others, and programs that end together: each keeps its trace.
cat >starts.c <<'C'
#define PERF_AT_EXIT 1
#include "perf_trace.h"
#include <stdlib.h>
int main(int argc, char **argv)
{
    int status;
    { PERF_SCOPE("of the starter"); status = argc > 1 ? system(argv[1]) : 0; }
    return status != 0;
}
C
cat >moves.c <<'C'
#define PERF_AT_EXIT 1
#include "perf_trace.h"
#include <stdio.h>
#include <unistd.h>
int main(void)                          /* puts another file in the place of its stream */
{
    char  own[64];
    FILE *f = fopen("other", "wb");
    (void)snprintf(own, sizeof own, "s.pftrace.%ld", (long)getpid());
    { PERF_SCOPE("moves"); }
    return !f || fclose(f) || rename("other", own);
}
C
try "a program that loses its stream" gcc -O0 -I"$root" moves.c -o moves
try "a program that starts another" gcc -O0 -I"$root" starts.c -o starts
try "PERF_TRACE of both" sh -c 'PERF_TRACE=s.json ./starts ./program >said 2>&1'
try "nothing is said" test ! -s said
try "the starter has FILE" grep -q 'of the starter' s.json
try "the started one has FILE.PID" sh -c 'test "$(cat s.json.* | grep -c whole)" -eq 1'
try "no trace of another process of this number is replaced" sh -c 'echo other >"n.json.$$" &&
    exec env PERF_TRACE=n.json "PERF_TRACE_OWNER=1 n.json" ./program'
try "but has one beside it" sh -c 'grep -q other n.json.*[0-9] && grep -q whole n.json.*.2 && test "$(ls n.json* | wc -l)" -eq 2'
try "and so it is the second time" sh -c 'PERF_TRACE=s.json ./starts "./starts ./program" && grep -q "of the starter" s.json &&
    test "$(cat s.json.* | grep -c whole)" -eq 2 && test "$(cat s.json.* | grep -c "of the starter")" -eq 1'
try "an exec is no start" sh -c 'rm -f s.json* && PERF_TRACE=s.json ./starts "exec ./starts" && test "$(ls s.json.* | wc -l)" -eq 1'
try "streams of both" sh -c 'PERF_TRACE_STREAM=s.pftrace ./starts ./starts && grep -q starter s.pftrace && grep -q starter s.pftrace.*'
try "a stream that is not whole has its own name" sh -c 'PERF_TRACE_STREAM=s.pftrace ./starts "sh -c \"PERF_TRACE_STREAM=s.pftrace exec ./moves\"" 2>&1 |
    grep -q "^perf.h: the trace in /.*/s.pftrace.[0-9]* is not whole"'
try "nothing is made beside a device" sh -c 'PERF_TRACE=/dev/stdout ./starts ./program | grep -q "of the starter" && ! ls /dev/stdout.*'
try "another process has saved meanwhile" sh -c 'PERF_TRACE=m.json ./starts "env -u PERF_TRACE_OWNER ./program" 2>said &&
    grep -q whole m.json && cat m.json.* | grep -q "of the starter"'
try "but a file of its own name is its own" sh -c 'rm -f o.json* && PERF_TRACE=o.json ./starts "PERF_TRACE=p.json ./program" &&
    grep -q whole p.json && ! ls p.json.*'
try "who asks for a report alone owns no trace" sh -c 'rm -f p.json* && PERF_REPORT=1 ./starts "PERF_TRACE=p.json ./program" 2>report &&
    grep -q whole p.json && ! ls p.json.*'
try "also of its trace, below one that streams" sh -c 'rm -f p.json* s.pftrace* && PERF_TRACE_STREAM=s.pftrace ./starts \
    "PERF_TRACE=p.json ./starts" 2>heard && test ! -s heard && grep -q starter p.json && ! ls p.json.* &&
    grep -q starter s.pftrace && test "$(ls s.pftrace.* | wc -l)" -eq 1'
# A program that becomes others keeps what it has streamed before.
cat >turns.c <<'C'
#define PERF_AT_EXIT 1
#include "perf_trace.h"
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int  turn = argc > 1 ? argv[1][0] - '0' : 0;
    char name[] = "turn 0", next[] = "0";
    name[5] = (char)('0' + turn);
    { perf_scope s = perf_scope_begin(name); perf_scope_end(&s); }
    next[0] = (char)('0' + turn - 1);
    (void)perf_trace_stream_flush();
    if (turn > 0)
        execl(argv[0], argv[0], next, (char *)NULL);
    return turn;
}
C
try "a program that runs exec on itself" gcc -O0 -Wall -I"$root" turns.c -o turns
try "keeps all its streams" sh -c 'PERF_TRACE_STREAM=x.pftrace ./turns 3 2>heard && test ! -s heard && grep -q "turn 3" x.pftrace &&
    test "$(cat x.pftrace x.pftrace.* | grep -ao "turn [0-3]" | sort -u | wc -l)" -eq 4 && test "$(ls x.pftrace* | wc -l)" -eq 4'
try "also one that another one started" sh -c 'rm -f x.pftrace* && PERF_TRACE_STREAM=x.pftrace ./starts "exec ./turns 2" 2>heard &&
    test ! -s heard && test "$(cat x.pftrace.* | grep -ao "turn [0-3]" | sort -u | wc -l)" -eq 3'
try "and has one trace" sh -c 'rm -f x.json* && PERF_TRACE=x.json ./turns 2 && grep -q "turn 0" x.json && ! ls x.json.*'
# Two images with PERF_AT_EXIT: one report, one trace, of all that both recorded, up to the last end.
cat >image.c <<'C'
#define PERF_AT_EXIT 1
#include "perf_trace.h"
void image(void);
void image(void) { PERF_SCOPE("in the image"); }
__attribute__((destructor)) static void late(void) { PERF_SCOPE("late in the image"); }
C
cat >images.c <<'C'
#define PERF_AT_EXIT 1
#include "perf_trace.h"
#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    void  *image, *(*run)(void);
    if (argc > 4)
        setenv("PERF_REPORT", argv[2], 1);
    image = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    run = image ? (void *(*)(void))dlsym(image, "image") : NULL;
    if (argc > 2)
        setenv("PERF_REPORT", argv[2], 1);
    if (run)
        run();
    if (image && argc > 3)
        dlclose(image);
    { PERF_SCOPE("whole"); }
    return !run;
}
C
try "an image" gcc -O0 -fPIC -shared -I"$root" image.c -o image.so
try "a program that opens it" gcc -O0 -I"$root" images.c -o images -ldl
report='in the image|late in the image|whole|'
of()                                    # the scopes of the tables in FILE
{
    test "$(sed -n 's/^\([a-z ]*[a-z]\)   .*/\1/p' "$1" | grep -v '^scope' | sort | tr '\n' '|')" = "$2"
}
PERF_REPORT=1 ./images ./image.so 2>heard
try "two images, one report" of heard "$report"
try "of both" test "$(grep -c '^scope ' heard)" -eq 1
PERF_REPORT=1 ./images ./image.so 1 close 2>heard
try "also when one is closed before" of heard "$report"
try "and it is one" test "$(grep -c '^scope ' heard)" -eq 1
./images ./image.so 1 2>heard
try "also when it is asked for late" test "$(grep -c '^scope ' heard)" -eq 1
./images ./image.so 1 close before 2>heard
try "and between both starts" of heard "$report"
try "which is one" test "$(grep -c '^scope ' heard)" -eq 1
PERF_REPROT=1 ./images ./image.so 2>heard
try "a slip is said once" test "$(wc -l <heard)" -eq 1
try "two images, one stream" sh -c 'PERF_TRACE_STREAM=i.pftrace PERF_TRACE=i.json ./images ./image.so 2>heard && test ! -s heard &&
    ls i.json i.pftrace && ! ls i.json.* i.pftrace.* 2>/dev/null && grep -q "late in" i.json && grep -aq "late in" i.pftrace'
cat >saves.c <<'C'
#define PERF_AT_EXIT 1
#include "perf_trace.h"
int main(int argc, char **argv)
{
    { PERF_SCOPE("before"); }
    if (argc > 1)
        return argv[1][0] == 'p' ? perf_trace_save_perfetto("v.json") : perf_trace_save("v.json");
    return freopen("w.json", "w", stdout) == NULL;
}
C
try "a program that saves its own" gcc -O0 -I"$root" saves.c -o saves
try "is no other process" sh -c 'for how in c p; do PERF_TRACE=v.json ./saves $how 2>own && test ! -s own && ! ls v.json.*; done'
try "and may redirect its output" sh -c 'PERF_TRACE=/dev/stdout ./saves && grep -q before w.json'
try "which is said" grep -q '^perf.h: another process has written m.json: this trace is in m.json.[0-9]*$' said
try "a trace that cannot be written is said" test -n "$(PERF_TRACE=no/such/t.json ./program 2>&1)"
PERF_REPROT=1 PERF_CONFIG=none ./program 2>said
try "a slip of the pen is said" grep -qx 'perf.h: PERF_REPROT is set, did you mean PERF_REPORT?' said
try "and nothing else" test "$(wc -l <said)" -eq 1
PERF_MODE=1 PERF_CONFIG=none ./program 2>said
try "other people's variables are theirs" test ! -s said
PERF_REPORT=1 PERF_MODE=1 PERF_CONFIG=none ./program 2>said
try "but the report names them" grep -q '^note: PERF_MODE is set, but is none of PERF_REPORT, ' said
try "and not those of Linux' perf" sh -c '! grep PERF_CONFIG said'

# Who asks for a report where nobody makes one is told so, once.
unheard='perf.h: PERF_REPORT, PERF_TRACE, PERF_TRACE_STREAM need a file with PERF_AT_EXIT 1'
cat >marks.c <<'C'
#include "perf_scope.h"
void mark(void);
void mark(void) { PERF_SCOPE("mark"); perf_count("count", 1.0); }
C
printf '#include "perf_scope.h"\nvoid mark(void);\nint main(void) { { PERF_SCOPE("main"); } mark(); return 0; }\n' >main.c
cat >reads.c <<'C'
#include "perf.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void mark(void);
int main(void)
{
    int status = 1;
    mark();
    perf_enable(0);
    if (!fork())
        exit(0);
    return wait(&status) < 0 || status;
}
C
try 'a program that only marks' gcc -O0 -I"$root" main.c marks.c -o marks
try 'one that switches recording and forks' gcc -O0 -I"$root" reads.c marks.c -o reads
for of in marks reads; do
    try "$of: silent" test -z "$("./$of" 2>&1)"
    try "$of: silent at 0" test -z "$(PERF_REPORT=0 "./$of" 2>&1)"
    try "$of: silent at nothing" test -z "$(PERF_REPORT='' "./$of" 2>&1)"
    try "$of: PERF_REPORT" test "$(PERF_REPORT=1 "./$of" 2>&1)" = "$unheard"
    try "$of: PERF_TRACE" test "$(PERF_TRACE=./t.json "./$of" 2>&1)" = "$unheard"
    try "$of: PERF_TRACE_STREAM" test "$(PERF_TRACE_STREAM=./s "./$of" 2>&1)" = "$unheard"
done
try 'PERF_TRACE_STREAM without its header' \
    test "$(PERF_TRACE_STREAM=s ./program 2>&1)" = \
    'perf.h: PERF_TRACE_STREAM needs perf_trace.h in the file with PERF_AT_EXIT 1'
printf '#define PERF_AT_EXIT 1\n#include "perf_trace.h"\nint main(void) { PERF_SCOPE("whole"); return 0; }\n' >stream.c
try 'with its header' gcc -O0 -I"$root" stream.c -o stream
try 'nothing is said' test -z "$(PERF_TRACE_STREAM=s ./stream 2>&1)"
PERF_RUN_LABEL=1 PERF_PLACEMENT=xx PERF_AB=perf-ab PERF_REPORT=1 ./program 2>said
try 'variables of results, perf-ab and perfh are known' sh -c '! grep -q "is none of" said'
PERF_TRACE=t.json PERF_REPORT=1 ./program 2>said
try 'who has PERF_AT_EXIT is not told' sh -c '! grep -q "need a file" said'
finish
