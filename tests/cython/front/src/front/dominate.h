/* Does point a beat point b: nowhere worse, somewhere better?  Smaller is better. */
static int dominates(const double *a, const double *b, int n)
{
    int i, better = 0;

    for (i = 0; i < n; i++) {
        if (a[i] > b[i])
            return 0;
        better |= a[i] < b[i];
    }
    return better;
}
