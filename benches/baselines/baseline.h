/* How the programs of this folder are called: each file is one eval and defines `value` and `derivative`. */
#ifndef BASELINE_H
#define BASELINE_H
#include <stdint.h>

struct call {
    const int64_t *n;        /* sizes and other integers */
    const double *const *x;  /* arrays of numbers; a number is an array of one */
    const int64_t *const *i; /* arrays of integers */
    double *const *y;        /* where results go, numbers */
    int64_t *const *j;       /* and integers */
};

void value(const struct call *c);
void derivative(const struct call *c);
#endif
