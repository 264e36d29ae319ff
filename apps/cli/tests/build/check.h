/* The checks of programs that call libraries: each that fails prints its place. */
#include <math.h>
#include <stdio.h>

static int failures;

#define CHECK(condition) \
    do { \
        if (!(condition)) { printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); failures++; } \
    } while (0)

static int near(double a, double b) {
    return fabs(a - b) <= 1e-12 * (1 + fabs(b));
}
