# cython: language_level=3
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy

cdef extern from "dominate.h" nogil:
    int dominates(const double *a, const double *b, int n)

cdef int by_first(const void *a, const void *b) noexcept nogil:
    cdef double x = (<const double *>a)[0], y = (<const double *>b)[0]
    return (x > y) - (x < y)

cdef class Problem:
    """Points with n objectives each; solve() returns those that no other one beats."""
    cdef double *points
    cdef Py_ssize_t count
    cdef int n

    def __cinit__(self, double[:, ::1] points):
        self.count, self.n = points.shape[0], <int>points.shape[1]
        if self.count == 0:
            raise ValueError("no points")
        self.points = <double *>malloc(self.count * self.n * sizeof(double))
        if not self.points:
            raise MemoryError()
        memcpy(self.points, &points[0, 0], self.count * self.n * sizeof(double))

    def __dealloc__(self):
        free(self.points)

    cdef void sort(self) noexcept nogil:
        qsort(self.points, self.count, self.n * sizeof(double), by_first)

    cdef Py_ssize_t sweep(self) noexcept nogil:
        """Moves the front to the beginning; after the sort only earlier points can beat one."""
        cdef Py_ssize_t i, j, kept = 0
        cdef double *p = self.points
        for i in range(self.count):
            for j in range(kept):
                if dominates(p + j * self.n, p + i * self.n, self.n):
                    break
            else:
                memcpy(p + kept * self.n, p + i * self.n, self.n * sizeof(double))
                kept += 1
        return kept

    def solve(self):
        with nogil:
            self.sort()
            self.count = self.sweep()
        return [tuple([self.points[i * self.n + k] for k in range(self.n)])
                for i in range(self.count)]
