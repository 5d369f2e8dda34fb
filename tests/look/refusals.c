/* Sentences of perf-ab look for what this machine may not be able to show: yama, containers.      */
#include "../../tools/look_target.h"

static int passed, failed;

static void says(int why, char scope, unsigned owner, unsigned reader, const char *words)
{
    look_refusal r;
    look_target  t;
    int          good;

    memset(&t, 0, sizeof t);
    t.pid = 77;
    r.why = why;
    r.scope = scope;
    r.owner = owner;
    r.reader = reader;
    (void)look_refuse(&t, &r);
    good = strstr(t.error, words) != NULL && strstr(t.error, "process 77") != NULL;
    passed += good;
    failed += !good;
    if (!good)
        printf("FAILED: errno %d, scope %c, users %u and %u: %s\n", why, scope ? scope : '-', owner,
               reader, t.error);
}

int main(void)
{
    says(ESRCH, 0, 1000, 1000, "has ended");
    says(EPERM, 0, 1001, 1000, "belongs to user 1001");
    says(EPERM, '1', 1001, 1000, "belongs to user 1001");
    says(EPERM, '1', 1000, 1000, "ptrace_scope is 1 (sudo perf-ab");
    says(EPERM, '2', 1000, 1000, "ptrace_scope is 2 (sudo perf-ab");
    says(EPERM, '3', 1000, 0, "ptrace_scope is 3 (it stays so");
    says(EPERM, '0', 1000, 1000, "container without CAP_SYS_PTRACE");
    says(EPERM, '1', 1000, 0, "container without CAP_SYS_PTRACE");
    says(EPERM, 0, 0, 0, "container without CAP_SYS_PTRACE");
    printf("refusals: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
