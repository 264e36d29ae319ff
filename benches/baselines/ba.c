/* GradBench `ba`: errors of projections of points by cameras, and their sparse Jacobian by rows.
 *
 * The Jacobian of an observation is worked out by hand: the derivative of the rotated point by the axis and by the point, then the chain rule
 * through projection and distortion. */
#include "baseline.h"
#include <math.h>

static void cross(const double *a, const double *b, double *c) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* p, rotated around r by |r|. */
static void rotate(const double *r, const double *p, double *y) {
    const double square = dot(r, r);
    double turned[3];
    if (square == 0) {
        cross(r, p, turned);
        for (int i = 0; i < 3; i++) y[i] = p[i] + turned[i];
        return;
    }
    const double angle = sqrt(square), c = cos(angle), s = sin(angle), u[3] = {r[0] / angle, r[1] / angle, r[2] / angle};
    const double along = dot(u, p) * (1 - c);
    cross(u, p, turned);
    for (int i = 0; i < 3; i++) y[i] = p[i] * c + turned[i] * s + u[i] * along;
}

/* The same, with its derivatives by r and by p: y_r[i][k] = ∂y[i] / ∂r[k]. */
static void rotate_with(const double *r, const double *p, double *y, double y_r[3][3], double y_p[3][3]) {
    static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double square = dot(r, r);
    double turned[3];
    if (square == 0) {
        cross(r, p, turned);
        for (int i = 0; i < 3; i++) y[i] = p[i] + turned[i];
        for (int k = 0; k < 3; k++) {
            cross(unit[k], p, turned);
            for (int i = 0; i < 3; i++) y_r[i][k] = turned[i], y_p[i][k] = i == k;
        }
        return;
    }
    const double angle = sqrt(square), c = cos(angle), s = sin(angle), u[3] = {r[0] / angle, r[1] / angle, r[2] / angle};
    const double up = dot(u, p);
    cross(u, p, turned);
    for (int i = 0; i < 3; i++) y[i] = p[i] * c + turned[i] * s + u[i] * up * (1 - c);
    for (int k = 0; k < 3; k++) {
        double du[3], du_p[3], e_turned[3];
        for (int i = 0; i < 3; i++) du[i] = ((i == k) - u[i] * u[k]) / angle;
        const double dup = dot(du, p);
        cross(du, p, du_p);
        cross(u, unit[k], e_turned);
        for (int i = 0; i < 3; i++) {
            y_r[i][k] = u[k] * (-p[i] * s + turned[i] * c + u[i] * up * s) + du_p[i] * s + (du[i] * up + u[i] * dup) * (1 - c);
            y_p[i][k] = (i == k) * c + e_turned[i] * s + u[i] * u[k] * (1 - c);
        }
    }
}

/* n: n m p. x: cameras points weights features. i: camera point. */
void value(const struct call *c) {
    const int64_t p = c->n[2];
    for (int64_t i = 0; i < p; i++) {
        const double *cam = c->x[0] + 11 * c->i[0][i], *point = c->x[1] + 3 * c->i[1][i], w = c->x[2][i], *seen = c->x[3] + 2 * i;
        const double from[3] = {point[0] - cam[3], point[1] - cam[4], point[2] - cam[5]};
        double at[3];
        rotate(cam, from, at);
        const double a = at[0] / at[2], b = at[1] / at[2], square = a * a + b * b;
        const double bent = 1 + cam[9] * square + cam[10] * square * square;
        c->y[0][2 * i] = w * (a * bent * cam[6] + cam[7] - seen[0]);
        c->y[0][2 * i + 1] = w * (b * bent * cam[6] + cam[8] - seen[1]);
        c->y[1][i] = 1 - w * w;
    }
}

/* Two rows of 15 entries: by the camera, the point and the weight. */
static void block(const double *cam, const double *point, double w, const double *seen, double *rows) {
    const double from[3] = {point[0] - cam[3], point[1] - cam[4], point[2] - cam[5]};
    double at[3], at_r[3][3], at_p[3][3];
    rotate_with(cam, from, at, at_r, at_p);
    const double z = 1 / at[2], a = at[0] * z, b = at[1] * z, square = a * a + b * b, f = cam[6];
    const double bent = 1 + cam[9] * square + cam[10] * square * square, slope = cam[9] + 2 * cam[10] * square;
    /* The bent image by (a, b), then by the rotated point. */
    const double by[2][2] = {{bent + 2 * a * a * slope, 2 * a * b * slope}, {2 * a * b * slope, bent + 2 * b * b * slope}};
    const double image[2] = {a, b};
    for (int e = 0; e < 2; e++) {
        double *row = rows + 15 * e;
        const double back[3] = {by[e][0] * z, by[e][1] * z, -(by[e][0] * a + by[e][1] * b) * z};
        for (int k = 0; k < 3; k++) {
            row[k] = w * f * (back[0] * at_r[0][k] + back[1] * at_r[1][k] + back[2] * at_r[2][k]);
            row[11 + k] = w * f * (back[0] * at_p[0][k] + back[1] * at_p[1][k] + back[2] * at_p[2][k]);
            row[3 + k] = -row[11 + k];
        }
        row[6] = w * image[e] * bent;
        row[7] = e == 0 ? w : 0;
        row[8] = e == 1 ? w : 0;
        row[9] = w * f * image[e] * square;
        row[10] = w * f * image[e] * square * square;
        row[14] = image[e] * bent * f + cam[7 + e] - seen[e];
    }
}

/* y: vals. j: rows cols. */
void derivative(const struct call *c) {
    const int64_t n = c->n[0], m = c->n[1], p = c->n[2], by_weight = 11 * n + 3 * m;
    int64_t *rows = c->j[0], *cols = c->j[1];
    double *vals = c->y[0];
    for (int64_t i = 0; i < p; i++) {
        const int64_t camera = c->i[0][i], point = c->i[1][i];
        block(c->x[0] + 11 * camera, c->x[1] + 3 * point, c->x[2][i], c->x[3] + 2 * i, vals + 30 * i);
        for (int e = 0; e < 2; e++) {
            int64_t *col = cols + 30 * i + 15 * e;
            rows[2 * i + e] = 30 * i + 15 * e;
            for (int k = 0; k < 11; k++) col[k] = 11 * camera + k;
            for (int k = 0; k < 3; k++) col[11 + k] = 11 * n + 3 * point + k;
            col[14] = by_weight + i;
        }
    }
    for (int64_t i = 0; i < p; i++) {
        rows[2 * p + i] = 30 * p + i;
        cols[30 * p + i] = by_weight + i;
        vals[30 * p + i] = -2 * c->x[2][i];
    }
    rows[3 * p] = 31 * p;
}
