/* Calls everything that the library offers; compiled as C and as C++. */
#include "model.h"

#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void derivatives(model_context *c) {
    double w[2] = {1, 2}, b = 0.5, x[6] = {1, 2, 3, 4, 5, 6}, y[3] = {1, 2, 3};
    double dx[6] = {1, 0, 0, 0, 0, 0}, value, tangent, w_ct[2], b_ct;
    CHECK(model_loss(c, 3, 2, w, b, x, y, &value) == 0);
    CHECK(near(value, (4.5 * 4.5 + 9.5 * 9.5 + 14.5 * 14.5) / 3));
    CHECK(model_loss_grad(c, 3, 2, w, b, x, y, &value, w_ct, &b_ct) == 0);
    CHECK(near(w_ct[0], 2 * (4.5 * 1 + 9.5 * 3 + 14.5 * 5) / 3));
    CHECK(near(w_ct[1], 2 * (4.5 * 2 + 9.5 * 4 + 14.5 * 6) / 3));
    CHECK(near(b_ct, 2 * (4.5 + 9.5 + 14.5) / 3));
    CHECK(model_loss_jvp(c, 3, 2, w, b, x, y, dx, &value, &tangent) == 0);
    CHECK(near(tangent, 2 * 4.5 / 3));
    CHECK(model_loss_grad(c, 3, 2, w, b, x, y, 0, 0, &b_ct) == 0);
    CHECK(near(b_ct, 2 * (4.5 + 9.5 + 14.5) / 3));
}

static void structures(model_context *c) {
    double value, width_ct, height_ct, circle_ct, py, px;
    int64_t tags[3] = {MODEL_TAG_RECT, MODEL_TAG_CIRCLE, MODEL_TAG_RECT};
    double radii[3] = {9, 2, 9}, widths[3] = {2, 9, 4}, heights[3] = {3, 9, 5};
    CHECK(model_area(c, MODEL_TAG_RECT, 0, 2, 3, &value) == 0 && value == 6);
    CHECK(model_area_grad(c, MODEL_TAG_RECT, 7, 2, 3, &value, &circle_ct, &width_ct, &height_ct) == 0);
    CHECK(circle_ct == 0 && width_ct == 3 && height_ct == 2);
    CHECK(model_areas(c, 3, tags, radii, widths, heights, &value) == 0 && value == 6 + 12 + 20);
    tags[1] = 2;
    CHECK(model_areas(c, 3, tags, radii, widths, heights, &value) == MODEL_ERROR_ARGUMENT);
    CHECK(strstr(model_message(c), "at 1 is no constructor"));
    CHECK(model_area(c, -1, 0, 2, 3, &value) == MODEL_ERROR_ARGUMENT);
    /* The fields of a record come in the order of its declaration. */
    CHECK(model_turned(c, 1, 2, &py, &px) == 0 && py == 2 && px == -1);
}

static void sizes(model_context *c) {
    double xs[4] = {-1, 2, -3, 4}, ct[2] = {10, 20}, xs_ct[4], wide[5], l[3] = {1, 2, 3}, m[3] = {4, 5, 6}, value;
    const double *found;
    int64_t size, k;
    bool positive;
    CHECK(model_positive(c, 4, xs, &found, &size) == 0 && size == 2 && found[0] == 2 && found[1] == 4);
    CHECK(model_positive(c, 0, 0, &found, &size) == 0 && size == 0);
    CHECK(model_positive_vjp(c, 4, 2, xs, ct, 0, 0, xs_ct) == 0);
    CHECK(xs_ct[0] == 0 && xs_ct[1] == 10 && xs_ct[2] == 0 && xs_ct[3] == 20);
    CHECK(model_positive_vjp(c, 4, 1, xs, ct, 0, 0, xs_ct) == MODEL_ERROR_CHECK);
    CHECK(model_wider(c, 4, xs, wide) == 0 && wide[3] == 4 && wide[4] == 1);
    CHECK(model_triangle(c, 3, l, m, &value) == 0 && value == 21);
    CHECK(model_table(c, 4, xs) == 0 && xs[0] == 0 && xs[3] == 3);
    CHECK(model_pick(c, 4, xs, 2, &value, &positive, &k) == 0 && value == 2 && positive && k == 2);
    CHECK(model_same(c, 4, xs, wide) == 0 && wide[3] == 3);
}

static void recursion(model_context *c) {
    /* Node (Leaf 3) (Leaf 4) */
    int64_t constructors[3] = {0, 0, 1}, ints_at[3] = {0, 0, 0}, reals_at[3] = {0, 1, 2}, ints[2] = {1, 2}, root;
    double reals[2] = {3, 4}, value;
    const int64_t *cons, *at, *rat, *numbers;
    const double *cts;
    int64_t rows, rows_2, rows_3, ints_size, reals_size;
    CHECK(model_total(c, 3, 2, 2, 3, constructors, ints_at, reals_at, ints, reals, &value) == 0 && value == 25);
    CHECK(model_total_grad(c, 3, 2, 2, 3, constructors, ints_at, reals_at, ints, reals, &value, &root, &cons, &rows, &at, &rows_2, &rat,
                           &rows_3, &numbers, &ints_size, &cts, &reals_size) == 0);
    CHECK(rows == 3 && reals_size == 2 && cts[rat[numbers[at[root - 1]] - 1]] == 6);
    CHECK(model_depth(c, 1000, &root) == 0);
    CHECK(model_depth(c, -1, &root) == MODEL_ERROR_MEMORY);
    CHECK(strstr(model_message(c), "the recursion is too deep"));
    CHECK(strstr(model_message(c), "the stack that the thread has"));
}

/* Rows that are none of values: what is wrong with each, and what is said. */
static void wrong_rows(model_context *c) {
    static const struct {
        int64_t root, constructors[3], ints_at[3], reals_at[3], ints[2];
        const char *said;
    } wrong[] = {
        {3, {0, 0, 2}, {0, 0, 0}, {0, 1, 2}, {1, 2}, "2 is no constructor"},
        {3, {0, 0, 100}, {0, 0, 0}, {0, 1, 2}, {1, 2}, "100 is no constructor"},
        {3, {-1, 0, 1}, {0, 0, 0}, {0, 1, 2}, {1, 2}, "-1 is no constructor"},
        {3, {0, 0, 1}, {0, 0, 0}, {0, 1, 2}, {1, 3}, "row 3 contains row 3"},
        {3, {0, 1, 1}, {0, 0, 0}, {0, 1, 2}, {1, 3}, "row 2 contains row 3"},
        {3, {0, 0, 1}, {0, 0, 0}, {0, 1, 2}, {1, 4}, "4 is out of range"},
        {3, {0, 0, 1}, {0, 0, 0}, {0, 1, 2}, {0, 1}, "row 3 contains row 0"},
        {3, {0, 0, 1}, {0, 0, 0}, {0, 1, 2}, {-5, 1}, "-5 is out of range"},
        {3, {0, 0, 1}, {0, 0, 1}, {0, 1, 2}, {1, 2}, "2 is out of range"},
        {3, {0, 0, 1}, {0, 0, INT64_MAX}, {0, 1, 2}, {1, 2}, "is out of range"},
        {3, {0, 0, 1}, {0, 0, 0}, {0, 2, 2}, {1, 2}, "2 is out of range"},
        {3, {0, 0, 1}, {0, 0, 0}, {-1, 1, 2}, {1, 2}, "-1 is out of range"},
        {0, {0, 0, 1}, {0, 0, 0}, {0, 1, 2}, {1, 2}, "0 is out of range"},
        {4, {0, 0, 1}, {0, 0, 0}, {0, 1, 2}, {1, 2}, "4 is out of range"},
        {-1, {0, 0, 1}, {0, 0, 0}, {0, 1, 2}, {1, 2}, "-1 is out of range"},
    };
    double reals[2] = {3, 4}, value;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        int code = model_total(c, 3, 2, 2, wrong[k].root, wrong[k].constructors, wrong[k].ints_at, wrong[k].reals_at, wrong[k].ints, reals, &value);
        if (code != MODEL_ERROR_CHECK || !strstr(model_message(c), wrong[k].said)) {
            printf("wrong rows %d: %d %s\n", (int)k, code, model_message(c));
            CHECK(!"wrong rows");
        }
    }
}

/* A value as deep as there are rows: right, or all of the stack. */
static void deep_rows(model_context *c) {
    enum { DEEP = 400000 };
    static int64_t constructors[2 * DEEP + 1], ints_at[2 * DEEP + 1], reals_at[2 * DEEP + 1], ints[2 * DEEP];
    static double reals[DEEP + 1];
    double value;
    int code;
    for (int64_t k = 0; k < DEEP; k++) {
        /* Row 2 k + 2 is a leaf, row 2 k + 3 a node of it and of the row before it. */
        constructors[2 * k + 1] = 0;
        reals_at[2 * k + 1] = k + 1;
        reals[k + 1] = 1;
        constructors[2 * k + 2] = 1;
        ints_at[2 * k + 2] = 2 * k;
        ints[2 * k] = 2 * k + 1;
        ints[2 * k + 1] = 2 * k + 2;
    }
    reals[0] = 1;
    code = model_total(c, 2 * DEEP + 1, 2 * DEEP, DEEP + 1, 2 * DEEP + 1, constructors, ints_at, reals_at, ints, reals, &value);
    CHECK(code == 0 ? value == DEEP + 1 : code == MODEL_ERROR_MEMORY && strstr(model_message(c), "the stack that the thread has") != 0);
}

static void mistakes(model_context *c) {
    double xs[3] = {1, 2, 3}, value;
    int64_t k;
    bool positive;
    CHECK(model_pick(c, 3, xs, 7, &value, &positive, &k) == MODEL_ERROR_CHECK);
    CHECK(!strcmp(model_message(c), "model.lam:18:57: index 7 is out of range for size 3"));
    CHECK(model_careful(c, -1, &value) == MODEL_ERROR_CHECK);
    CHECK(strstr(model_message(c), "index -1 is out of range for size 3"));
    CHECK(model_careful(c, 1, &value) == 0 && value == 2 && !*model_message(c));
    CHECK(model_loss(c, -3, 2, xs, 0, xs, xs, &value) == MODEL_ERROR_SIZE);
    CHECK(!strcmp(model_message(c), "loss: the size n is -3, which is not between 0 and 2147483647"));
    CHECK(model_loss(c, 3, 2, 0, 0, xs, xs, &value) == MODEL_ERROR_ARGUMENT);
    CHECK(!strcmp(model_message(c), "loss: `w` is a null pointer"));
    CHECK(model_loss(0, 3, 2, xs, 0, xs, xs, &value) == MODEL_ERROR_ARGUMENT);
    CHECK(strstr(model_message(0), "no context"));
    model_limit(c, 100);
    CHECK(model_table(c, 1000, 0) == MODEL_ERROR_MEMORY);
    CHECK(strstr(model_message(c), "1000 elements needs 8000 bytes"));
    CHECK(strstr(model_message(c), "limit of 100 bytes"));
    model_limit(c, UINT64_MAX);
    CHECK(model_careful(c, 1, &value) == 0);
    model_cancel(c);
    CHECK(model_careful(c, 1, &value) == MODEL_ERROR_CANCELLED);
    CHECK(!strcmp(model_message(c), "the call has been cancelled"));
    CHECK(model_careful(c, 1, &value) == 0);
    model_cancel(0);
    model_close(0);
}

/* What a version of the code computes, as far as it has lanes. */
static void lanes(model_context *c, double results[9]) {
    enum { N = 1003, D = 7 };
    static double x[N][D], y[N];
    double w[D], b_ct;
    for (int j = 0; j < D; j++) w[j] = 0.1 * j - 0.2;
    for (int i = 0; i < N; i++) {
        y[i] = i % 5;
        for (int j = 0; j < D; j++) x[i][j] = (7 * i + 3 * j) % 11 - 5;
    }
    CHECK(model_loss_grad(c, N, D, w, 0.5, x[0], y, results, results + 1, &b_ct) == 0);
    results[8] = b_ct;
}

/* All versions of the code do the same. */
static void versions(model_context *c) {
    double first[9], again[9], other[9];
    lanes(c, first);
    for (int64_t bits = 128; bits <= 512; bits *= 2) {
        int64_t given = model_vector_bits(c, bits);
        CHECK(given >= 128 && given <= bits);
#if defined(__GNUC__) && defined(__x86_64__) && !defined(ALONE)
        if (bits == 256 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) CHECK(given == 256);
        if (bits == 512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) CHECK(given == 512);
#endif
        lanes(c, other);
        lanes(c, again);
        CHECK(!memcmp(other, again, sizeof other));
        for (int k = 0; k < 9; k++) CHECK(near(first[k], other[k]));
        derivatives(c);
        structures(c);
        sizes(c);
        recursion(c);
        wrong_rows(c);
        deep_rows(c);
        mistakes(c);
        derivatives(c);
    }
    /* A context opens with the widest one. */
    CHECK(model_vector_bits(c, 127) == 128);
    CHECK(model_vector_bits(0, 512) == 0);
    model_vector_bits(c, INT64_MAX);
    lanes(c, again);
    CHECK(!memcmp(first, again, sizeof first));
}

int main(void) {
    model_context *c = model_open();
    CHECK(c != 0 && strlen(MODEL_VERSION) > 0);
    versions(c);
    model_close(c);
    return failures != 0;
}
