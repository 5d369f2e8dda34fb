/* Shared objects in the order of the arguments: "before" and "after" mark (whether the core is there
 * already), "core" reads.  A core that others use is closed at once: it must stay.              */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *symbol(const char *file, const char *name, void **handle)
{
    void *p;

    *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    p = *handle ? dlsym(*handle, name) : NULL;
    if (!p) {
        printf("%s: %s\n", file, dlerror());
        exit(2);
    }
    return p;
}

int main(int argc, char **argv)
{
    void *handle, *p;
    void (*mark)(void) = NULL;
    int (*total)(void) = NULL;
    int i, k, wanted = 0, got;

    for (i = 1; i + 1 < argc; i += 2) {
        p = symbol(argv[i + 1], strcmp(argv[i], "core") ? "mark" : "total", &handle);
        if (!strcmp(argv[i], "core")) {
            memcpy(&total, &p, sizeof p);
            if (mark) {                         /* it was there before: found by the installer   */
                (void)dlclose(handle);
                mark();
                wanted++;
            }
        } else {
            memcpy(&mark, &p, sizeof p);
            for (k = 0; k < 3; k++)
                mark();
            wanted += total ? 3 : 0;
        }
    }
    if (!total)
        return 3;
    got = total();
    printf("%d calls, wanted %d\n", got, wanted);
    return got != wanted;
}
