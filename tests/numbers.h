/* Numbers that tests need and C does not spell the same way everywhere. */
#ifndef PERF_TESTS_NUMBERS_H
#define PERF_TESTS_NUMBERS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define CHECK_NAN ((double)NAN)
#define CHECK_INF ((double)INFINITY)

#define CHECK_UNUSED __attribute__((__unused__))

CHECK_UNUSED static uint64_t check_bits(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

CHECK_UNUSED static double check_from_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 64 random bits by splitmix64 (Steele, Lea, Flood 2014): the same seed gives the same numbers. */
CHECK_UNUSED static uint64_t check_random(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

#endif
