/* Calls of many sizes, each in exactly the memory that is foretold for it. */
#include "matrices.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 12 };

static int failures;

static double drawn(void) {
    return rand() / (double)RAND_MAX - 0.5;
}

/* A context in a new block of so many bytes. */
static matrices_context *opened(void **memory, uint64_t bytes) {
    free(*memory);
    *memory = malloc((size_t)bytes);
    return matrices_open(*memory, bytes);
}

#define FITS(BYTES, CALL) \
    do { \
        uint64_t bytes = BYTES; \
        matrices_context *c = opened(&memory, bytes); \
        if (!c || (CALL) == MATRICES_ERROR_MEMORY || matrices_peak(c) > bytes) { \
            printf("%s, n = %d: %d of %d bytes: %s\n", #CALL, (int)n, (int)matrices_peak(c), (int)bytes, matrices_message(c)); \
            failures++; \
        } \
    } while (0)

int main(void) {
    static double a[MOST * MOST], b[MOST * MOST], x[MOST], y[MOST * MOST], z[MOST * MOST], value;
    void *memory = NULL;
    for (int round = 0; round < 10; round++) {
        for (int64_t n = 0; n < MOST; n++) {
            int64_t m = rand() % MOST;
            for (int k = 0; k < MOST * MOST; k++) a[k] = drawn(), b[k] = drawn();
            for (int k = 0; k < MOST; k++) x[k] = drawn();
            for (int64_t i = 0; i < n; i++) {
                a[i * n + i] = (double)n;
                for (int64_t j = 0; j < i; j++) a[i * n + j] = a[j * n + i];
            }
            FITS(matrices_solved_bytes(n), matrices_solved(c, n, a, b, &value));
            FITS(matrices_solved_grad_bytes(n), matrices_solved_grad(c, n, a, b, &value, y, z));
            FITS(matrices_eigen_grad_bytes(n), matrices_eigen_grad(c, n, a, &value, y));
            FITS(matrices_singular_grad_bytes(m, n), matrices_singular_grad(c, m, n, b, &value, y));
            FITS(matrices_product_grad_bytes(n), matrices_product_grad(c, n, a, b, &value, y, z));
            FITS(matrices_scanned_grad_bytes(n), matrices_scanned_grad(c, n, x, &value, y));
            FITS(matrices_sorted_bytes(n), matrices_sorted(c, n, x, y));
        }
    }
    free(memory);
    return failures != 0;
}
