#!/bin/sh
# Page faults of a command, by perf stat and by us: within 3 %.  Skips where perf is not there.
. "$(dirname "$0")/../lib.sh"
need gcc
start_work
cd "$work"
perf stat -x, -e page-faults true >said 2>&1 || skip "perf stat does not work here: $(head -n 1 said)"

cat >counts.c <<'C'
#include "perf_counters.h"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **word)
{
    perf_counters_opts o = PERF_ZERO;
    perf_counters      c;
    int                gate[2];
    char               x = 0;

    if (count < 2 || pipe(gate))
        return 9;
    o.process = (int)fork();
    if (!o.process) {
        if (read(gate[0], &x, 1) == 1)
            execvp(word[1], word + 1);
        _exit(9);
    }
    o.kernel = 1;
    c = perf_counters_open(&o);
    if (write(gate[1], &x, 1) != 1 || waitpid(o.process, NULL, 0) < 0)
        return 9;
    (void)perf_counters_stop(&c);
    printf("%.0f\n", c.value[PERF_COUNTER_PAGE_FAULTS]);
    return 0;
}
C
try 'a program that counts' gcc -O1 -D_GNU_SOURCE -I "$root" counts.c -o counts -lm
command='head -c 9000000 /dev/zero | sort >/dev/null'
for turn in 1 2 3; do
    tried=$((tried + 1))
    theirs=$(perf stat -x, -e page-faults sh -c "$command" 2>&1 | cut -d, -f1)
    ours=$(./counts sh -c "$command")
    case $ours in *[!0-9]* | '') skip "page faults cannot be counted here: $ours" ;; esac
    apart=$((ours - theirs))
    [ "$((apart * apart * 1111))" -le "$((theirs * theirs))" ] ||
        fail "turn $turn: $ours page faults, by perf stat $theirs"
done
finish
