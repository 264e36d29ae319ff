/* A library whose reals have 32 bits. */
#include "single.h"

#include <stdio.h>

static int failures = 0;

static void is(const char *what, double found, double expected) {
    const double off = found - expected;
    if (off > 1e-6 || off < -1e-6) {
        printf("%s is %.9g, not %.9g\n", what, found, expected);
        failures++;
    }
}

int main(void) {
    const float x[3] = {1.0f, 2.0f, 3.5f}, y[3] = {0.0f, 2.5f, 3.0f};
    float value = 0, slope[3] = {0}, longer[4] = {0};
    single_context *context = single_open();
    if (SINGLE_REAL_BITS != 32 || sizeof(float) != 4) return 2;
    if (!context) return 3;
    if (single_distance(context, 3, x, y, 2.0f, &value)) return 4;
    is("the value", value, 0.1875);
    if (single_distance_grad(context, 3, x, y, 2.0f, &value, slope)) return 5;
    is("the value", value, 0.1875);
    is("the gradient", slope[0], 0.25);
    is("the gradient", slope[2], 0.125);
    if (single_longer(context, 3, x, longer)) return 6;
    is("the last", longer[3], 0.1f);
    is("the third", longer[2], 3.5);
    if (longer[3] != 0.1f) failures++;
    single_close(context);
    return failures;
}
