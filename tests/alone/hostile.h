/* Macros that real programs define before they include us: windows.h, X11, <complex.h>, and the
 * one-letter sizes of every CUDA tutorial.  A header that uses one of them as a name breaks.     */
#ifndef HOSTILE_H
#define HOSTILE_H

#undef min                              /* <windows.h> has some of them too */
#undef max
#undef near
#undef far
#undef small
#undef interface

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
#define likely(x) (x)
#define unlikely(x) (x)

#endif /* HOSTILE_H */
