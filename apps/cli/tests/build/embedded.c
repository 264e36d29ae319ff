/* Calls a library in memory of its own; nothing asks a system for more. */
#include "model.h"

#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t store[8192];

static void derivatives(void) {
    double w[2] = {1, 2}, b = 0.5, x[6] = {1, 2, 3, 4, 5, 6}, y[3] = {1, 2, 3}, value, w_ct[2], b_ct;
    uint64_t bytes = model_loss_grad_bytes(3, 2);
    model_context *c = model_open(store, bytes);
    CHECK(c && bytes <= sizeof store);
    for (int k = 0; k < 3; k++) {
        CHECK(model_loss_grad(c, 3, 2, w, b, x, y, &value, w_ct, &b_ct) == 0);
        CHECK(near(value, (4.5 * 4.5 + 9.5 * 9.5 + 14.5 * 14.5) / 3));
        CHECK(near(w_ct[1], 2 * (4.5 * 2 + 9.5 * 4 + 14.5 * 6) / 3) && near(b_ct, 2 * (4.5 + 9.5 + 14.5) / 3));
    }
    CHECK(model_peak(c) <= bytes);
    model_close(c);
    CHECK(!model_open(store, 16) && !model_open(0, sizeof store));
    CHECK(model_loss_grad_bytes(-1, 2) > sizeof store && model_loss_grad_bytes((int64_t)1 << 62, 2) > sizeof store);
}

/* Sizes with which the memory that is foretold is the memory that is taken, to the last block; with less, calls fail and say how much it is. */
static void exact(void) {
    static double xs[500], ys[500], all[250000];
    char *odd = (char *)store + 1;
    for (int64_t n = 0; n < 100; n++) {
        uint64_t bytes = model_wider_bytes(n);
        model_context *c = model_open(odd, bytes);
        CHECK(c && model_wider(c, n, xs, ys) == 0 && ys[n] == 1);
        CHECK(model_peak(c) <= bytes && model_peak(c) + 128 > bytes);
        c = model_open(store, bytes - 384);
        CHECK(n < 60 || (c && model_wider(c, n, xs, ys) == MODEL_ERROR_MEMORY && strstr(model_message(c), "more than the workspace has")));
    }
    for (int64_t n = 1; n < 20; n++) {
        uint64_t bytes = model_outer_bytes(n, n + 1);
        model_context *c = model_open(odd, bytes);
        CHECK(c && model_outer(c, n, n + 1, xs, ys, all) == 0 && model_peak(c) <= bytes);
        CHECK(bytes <= sizeof store);
        bytes = model_softened_grad_bytes(n);
        c = model_open(odd, bytes);
        CHECK(c && model_softened_grad(c, n, xs, &all[0], ys) == 0 && model_peak(c) <= bytes);
    }
}

/* Results whose sizes data decide are in the memory of the caller, too. */
static void found(void) {
    double xs[4] = {-1, 2, -3, 4}, value;
    const double *positive;
    int64_t size, root;
    model_context *c = model_open(store, sizeof store);
    CHECK(model_positive(c, 4, xs, &positive, &size) == 0 && size == 2 && positive[0] == 2 && positive[1] == 4);
    CHECK((const char *)positive > (char *)store && (const char *)positive < (char *)store + sizeof store);
    CHECK(model_same(c, 4, xs, xs) == 0 && xs[3] == 4);
    CHECK(model_depth(c, 100, &root) == 0);
    CHECK(model_depth(c, -1, &root) == MODEL_ERROR_MEMORY && strstr(model_message(c), "the recursion is too deep"));
    CHECK(model_careful(c, 3, &value) == MODEL_ERROR_CHECK && strstr(model_message(c), "index 3 is out of range for size 3"));
    CHECK(model_careful(c, 2, &value) == 0 && value == 3 && !*model_message(c));
    model_limit(c, 1000);
    CHECK(model_outer(c, 4, 4, xs, xs, 0) == 0);
    model_limit(c, 1);
    CHECK(model_outer(c, 4, 4, xs, xs, 0) == MODEL_ERROR_MEMORY);
    model_limit(c, UINT64_MAX);
    model_cancel(c);
    CHECK(model_loss(c, 4, 1, xs, 1, xs, xs, &value) == 0 || strstr(model_message(c), "cancelled"));
}

/* The parts of cotangents for which there is nothing are zeros beside the arrays. */
static void zeros(void) {
    double xs[4] = {-1, 2, -3, 4}, value = 0, xs_ct[4] = {0};
    bool positive = true;
    int64_t k = 0;
    uint64_t bytes = model_pick_vjp_bytes(4, 2);
    model_context *c = model_open(store, bytes);
    CHECK(c && model_pick_vjp(c, 4, xs, 2, 5, &value, &positive, &k, xs_ct) == 0);
    CHECK(value == -3 && !positive && k == 2 && xs_ct[2] == 5 && xs_ct[0] == 0);
}

/* Numbers in messages are those of printf. */
static void numbers(void) {
    static const double some[] = {1, 0.1, 1e22, 5e-324, -2.5e-7, 123456.789, 0.00012, 100, 1.7976931348623157e308, 2.2250738585072014e-308, -0.0, 9007199254740993.0, 4.35};
    model_context *c = model_open(store, sizeof store);
    uint64_t random = 88172645463325252u;
    for (int k = 0; k < 20000; k++) {
        double x, value;
        char wanted[64];
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        memcpy(&x, &random, sizeof x);
        if (k < (int)(sizeof some / sizeof *some)) x = some[k];
        if (x != x) continue;
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(wanted, sizeof wanted, "%.*g", digits, x);
            if (strtod(wanted, 0) == x) break;
        }
        CHECK(model_small(c, x, &value) == MODEL_ERROR_CHECK);
        if (!strstr(model_message(c), wanted)) {
            printf("%s: %s\n", wanted, model_message(c));
            failures++;
        }
    }
}

int main(void) {
    derivatives();
    exact();
    found();
    zeros();
    numbers();
    return failures != 0;
}
