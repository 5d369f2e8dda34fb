/* One program: marks in another file, read in a third.  argv[1]: calls that are to be found. */
#include <stdlib.h>

void mark(void);
int  total(void);

int main(int argc, char **argv)
{
    int i;

    for (i = 0; i < 10; i++)
        mark();
    return argc < 2 || total() != atoi(argv[1]);
}
