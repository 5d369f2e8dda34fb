/* Macros that real programs define before they include us: windows.h, X11, <complex.h>, Qt, kernels
 * and small systems, test frameworks, the one-letter sizes of every CUDA tutorial, autoconf's, and
 * words of a program's own.  A header that uses one of them as a name breaks.                    */
#ifndef HOSTILE_H
#define HOSTILE_H

#undef min                              /* <windows.h> has some of them too */
#undef max
#undef near
#undef far
#undef small
#undef interface
#undef I                                /* <complex.h> */

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define near
#define far
#define small char
#define interface struct
#define I (0.0)
#define N (1 << 20)
#define M 1024
#define K 16
#define Bool int
#define None 0L
#define Status int
#define Success 0
#define True 1
#define False 0
#define VERSION "1.0"
#define PACKAGE "program"
#define NAME "program"
#define X 1
#define Y 2
#define ON 1
#define OFF 0
#define OK 0
#define MAX 100
#define MIN 1
#define MEAN 2
#define TIME 60
#define LOAD 3
#define RUN 1
#define RUNS 10
#define LAST 9
#define STEP 2
#define LEVEL 1
#define SAMPLES 1000
#define BASELINE 1
#define SIZE 64
#define COUNT 5
#define BEGIN {
#define END }
#define DEBUG 1
#define likely(x) (x)
#define unlikely(x) (x)
#define slots                           /* Qt */
#define signals public
#define emit
#define foreach for
#define forever for (;;)
#define weak __attribute__((__weak__))  /* attributes by short names */
#define hidden __attribute__((__visibility__("hidden")))
#define visibility(x) __attribute__((__visibility__(x)))
#define packed __attribute__((__packed__))
#define aligned(x) __attribute__((__aligned__(x)))
#define vector_size(x) __attribute__((__vector_size__(x)))
#define may_alias __attribute__((__may_alias__))
#define noinline __attribute__((__noinline__))
#define cold __attribute__((__cold__))
#define hot __attribute__((__hot__))
#define fail() _fail(__FILE__, __LINE__) /* cmocka */
#define skip() _skip(__FILE__, __LINE__)
#define check(assertion)                /* macOS */
#define verify(assertion)
#define require(assertion, label)
#define mem_alloc(bsize) calloc(1, bsize)       /* <rpc/rpc.h> */
#define mem_free(ptr, bsize) free(ptr)
#define vector __vector                 /* altivec.h */
#define pixel __pixel

#endif /* HOSTILE_H */
