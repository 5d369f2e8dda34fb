/* Macros that real programs define before they include us: windows.h, X11, <complex.h>, the
 * one-letter sizes of every CUDA tutorial, autoconf's, and words of a program's own.  A header that uses one of them as a name breaks.     */
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

#endif /* HOSTILE_H */
