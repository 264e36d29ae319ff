/* How the programs of this folder are called: each file is one eval and defines `value` and `derivative`. */
#ifndef BASELINE_H
#define BASELINE_H
#include <stdint.h>
#include <stdlib.h>

struct call {
    const int64_t *n;        /* sizes and other integers */
    const double *const *x;  /* arrays of numbers; a number is an array of one */
    const int64_t *const *i; /* arrays of integers */
    double *const *y;        /* where results go, numbers */
    int64_t *const *j;       /* and integers */
};

void value(const struct call *c);
void derivative(const struct call *c);

#ifdef COUNTS
/* How many bytes are allocated, and how many were at most since `most_bytes` was 0. */
int64_t bytes, most_bytes;

static void *counted_calloc(size_t count, size_t size) {
    int64_t *memory = calloc(1, count * size + 16);
    if (!memory) abort();
    *memory = (int64_t)(count * size);
    bytes += *memory;
    if (bytes > most_bytes) most_bytes = bytes;
    return memory + 2;
}

static void counted_free(void *memory) {
    if (!memory) return;
    int64_t *start = (int64_t *)memory - 2;
    bytes -= *start;
    free(start);
}

#define malloc(size) counted_calloc(size, 1)
#define calloc(count, size) counted_calloc(count, size)
#define free(memory) counted_free(memory)
#endif
#endif
