/* GradBench `det`: a determinant by expansion along the first row, recursively, and its gradient: each element's minor, as in the suite.
 *
 * The columns that remain are a list, from which a column is taken out and to which it is given back. */
#include "baseline.h"
#include <stdlib.h>

/* Of the rows from `row` on, but for the row `without`; the list of columns begins behind the place `ell`. */
static double minor(const double *a, int64_t ell, int64_t row, int64_t without, int64_t *next) {
    if (row == without) row++;
    if (row == ell) return 1;
    double sum = 0, sign = 1;
    for (int64_t before = ell, j = next[ell]; j < ell; before = j, j = next[j]) {
        next[before] = next[j];
        sum += sign * a[row * ell + j] * minor(a, ell, row + 1, without, next);
        next[before] = j;
        sign = -sign;
    }
    return sum;
}

static void all_columns(int64_t ell, int64_t *next) {
    next[ell] = 0;
    for (int64_t j = 0; j < ell; j++) next[j] = j + 1;
}

/* n: ell. x: A, row by row. */
void value(const struct call *c) {
    const int64_t ell = c->n[0];
    int64_t *next = malloc(sizeof(int64_t) * (ell + 1));
    all_columns(ell, next);
    c->y[0][0] = minor(c->x[0], ell, 0, -1, next);
    free(next);
}

void derivative(const struct call *c) {
    const int64_t ell = c->n[0];
    int64_t *next = malloc(sizeof(int64_t) * (ell + 1));
    for (int64_t i = 0; i < ell; i++)
        for (int64_t j = 0; j < ell; j++) {
            all_columns(ell, next);
            next[j == 0 ? ell : j - 1] = j + 1;
            c->y[0][i * ell + j] = ((i + j) % 2 == 0 ? 1 : -1) * minor(c->x[0], ell, 0, i, next);
        }
    free(next);
}
