/* GradBench `ht`: distances of the points of a skinned mesh, posed by 26 parameters, from measured ones, and their Jacobian.
 *
 * The Jacobian goes through the parameters: each turns one bone, whose derivative is passed on to the bones that hang on it, and only these move
 * vertices. The first six parameters turn and move the mesh as a whole. */
#include "baseline.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BONES = 22, ANGLES = 26 };

typedef double matrix[16];

struct model {
    int64_t vertices, count;
    int is_complicated, is_mirrored;
    const double *theta, *relatives, *inverses, *rest, *weights, *points, *us;
    const int64_t *parents, *triangles, *correspondences;
};

static void multiply(const double *a, const double *b, double *c) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double sum = 0;
            for (int k = 0; k < 4; k++) sum += a[4 * i + k] * b[4 * k + j];
            c[4 * i + j] = sum;
        }
}

/* Which angle of a bone each parameter from the sixth on is, and of which bone: four for each finger, two of them of its second bone. */
static void place(int k, int *bone, int *angle) {
    static const int joint[4] = {0, 0, 1, 2}, angles[4] = {0, 1, 0, 0};
    *bone = 2 + 4 * ((k - 6) / 4) + joint[(k - 6) % 4];
    *angle = angles[(k - 6) % 4];
}

/* Rz(p1) Ry(p2) Rx(p0); or its derivative by p0 (by = 0) or p1 (by = 1). */
static void euler(const double *p, int by, double *r) {
    const double sx = sin(p[0]), cx = cos(p[0]), sz = sin(p[1]), cz = cos(p[1]), sy = sin(p[2]), cy = cos(p[2]);
    const double x1 = by == 0 ? 0 : 1, xs = by == 0 ? cx : sx, xc = by == 0 ? -sx : cx;
    const double z1 = by == 1 ? 0 : 1, zs = by == 1 ? cz : sz, zc = by == 1 ? -sz : cz, last = by >= 0 ? 0 : 1;
    const matrix rx = {x1, 0, 0, 0, 0, xc, -xs, 0, 0, xs, xc, 0, 0, 0, 0, 1};
    const matrix ry = {cy, 0, sy, 0, 0, 1, 0, 0, -sy, 0, cy, 0, 0, 0, 0, 1};
    const matrix rz = {zc, -zs, 0, 0, zs, zc, 0, 0, 0, 0, z1, 0, 0, 0, 0, last};
    matrix both;
    multiply(ry, rx, both);
    multiply(rz, both, r);
}

/* The rotation around r by |r|, and its derivatives by r. */
static void angle_axis(const double *r, double rotation[9], double by[3][9]) {
    const double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2], norm = sqrt(square);
    if (norm < 0.0001) {
        for (int i = 0; i < 9; i++) rotation[i] = i % 4 == 0;
        memset(by, 0, sizeof(double) * 27);
        return;
    }
    const double u[3] = {r[0] / norm, r[1] / norm, r[2] / norm}, s = sin(norm), c = cos(norm);
    const double turn[9] = {0, -u[2], u[1], u[2], 0, -u[0], -u[1], u[0], 0};
    for (int i = 0; i < 9; i++) rotation[i] = (i % 4 == 0) * c + turn[i] * s + u[i / 3] * u[i % 3] * (1 - c);
    for (int k = 0; k < 3; k++) {
        double v[3];
        for (int i = 0; i < 3; i++) v[i] = ((i == k) - u[i] * u[k]) / norm;
        const double dturn[9] = {0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0};
        for (int i = 0; i < 9; i++)
            by[k][i] = u[k] * (-(i % 4 == 0) * s + turn[i] * c + u[i / 3] * u[i % 3] * s) + dturn[i] * s
                       + (v[i / 3] * u[i % 3] + u[i / 3] * v[i % 3]) * (1 - c);
    }
}

/* The angles of each bone. */
static void pose(const double *theta, double angles[BONES][3]) {
    memset(angles, 0, sizeof(double) * 3 * BONES);
    for (int k = 6; k < ANGLES; k++) {
        int bone, angle;
        place(k, &bone, &angle);
        angles[bone][angle] = theta[k];
    }
}

/* What each bone does to a point at rest, and the matrices on the way. */
static void pose_bones(const struct model *m, double angles[BONES][3], matrix *absolutes, matrix *transforms) {
    for (int b = 0; b < BONES; b++) {
        matrix turn, relative;
        euler(angles[b], -1, turn);
        multiply(m->relatives + 16 * b, turn, relative);
        if (m->parents[b] < 0)
            memcpy(absolutes[b], relative, sizeof(matrix));
        else
            multiply(absolutes[m->parents[b]], relative, absolutes[b]);
        multiply(absolutes[b], m->inverses + 16 * b, transforms[b]);
    }
}

/* Sum over some bones of weight × transform × point, the first three components. */
static void skin(const struct model *m, int64_t v, const matrix *transforms, const int *bones, int count, double *out) {
    const double *rest = m->rest + 4 * v, *weights = m->weights + BONES * v;
    out[0] = out[1] = out[2] = 0;
    for (int t = 0; t < count; t++) {
        const double *a = transforms[bones[t]], w = weights[bones[t]];
        for (int i = 0; i < 3; i++) out[i] += w * (a[4 * i] * rest[0] + a[4 * i + 1] * rest[1] + a[4 * i + 2] * rest[2] + a[4 * i + 3] * rest[3]);
    }
    if (m->is_mirrored) out[0] = -out[0];
}

static void apply(const double *rotation, const double *p, double *out) {
    for (int i = 0; i < 3; i++) out[i] = rotation[3 * i] * p[0] + rotation[3 * i + 1] * p[1] + rotation[3 * i + 2] * p[2];
}

/* What is measured at correspondence `i` of an array of vertices. */
static void measured(const struct model *m, int64_t i, const double *mesh, double *out) {
    const int64_t at = m->correspondences[i];
    if (!m->is_complicated) {
        memcpy(out, mesh + 3 * at, sizeof(double) * 3);
        return;
    }
    const int64_t *corner = m->triangles + 3 * at;
    const double u = m->us[2 * i], v = m->us[2 * i + 1];
    for (int d = 0; d < 3; d++) out[d] = u * mesh[3 * corner[0] + d] + v * mesh[3 * corner[1] + d] + (1 - u - v) * mesh[3 * corner[2] + d];
}

/* The vertices of the mesh, before (`local`) and after it is turned as a whole. */
static void vertices(const struct model *m, const matrix *transforms, const double *rotation, double *local, double *mesh) {
    int all[BONES];
    for (int b = 0; b < BONES; b++) all[b] = b;
    for (int64_t v = 0; v < m->vertices; v++) {
        skin(m, v, transforms, all, BONES, local + 3 * v);
        apply(rotation, local + 3 * v, mesh + 3 * v);
        for (int d = 0; d < 3; d++) mesh[3 * v + d] += m->theta[3 + d];
    }
}

/* n: vertices count complicated mirrored. x: theta relatives inverses rest weights points us. i: parents triangles correspondences. */
static struct model model(const struct call *c) {
    return (struct model){.vertices = c->n[0], .count = c->n[1], .is_complicated = (int)c->n[2], .is_mirrored = (int)c->n[3],
        .theta = c->x[0], .relatives = c->x[1], .inverses = c->x[2], .rest = c->x[3], .weights = c->x[4], .points = c->x[5], .us = c->x[6],
        .parents = c->i[0], .triangles = c->i[1], .correspondences = c->i[2]};
}

void value(const struct call *c) {
    const struct model m = model(c);
    double *local = malloc(sizeof(double) * 6 * m.vertices), *mesh = local + 3 * m.vertices, angles[BONES][3], rotation[9], by[3][9];
    matrix absolutes[BONES], transforms[BONES];
    pose(m.theta, angles);
    pose_bones(&m, angles, absolutes, transforms);
    angle_axis(m.theta, rotation, by);
    vertices(&m, transforms, rotation, local, mesh);
    for (int64_t i = 0; i < m.count; i++) {
        double at[3];
        measured(&m, i, mesh, at);
        for (int d = 0; d < 3; d++) c->y[0][3 * i + d] = m.points[3 * i + d] - at[d];
    }
    free(local);
}

/* The bones that move when bone `first` is turned by one of its angles, and how their transforms change. */
static int moving(const struct model *m, int first, int angle, double angles[BONES][3], const matrix *absolutes, matrix *changes, int *bones) {
    int count = 0, moves[BONES] = {0};
    matrix changed[BONES], relative, turn;
    for (int b = first; b < BONES; b++) {
        if (b == first) {
            matrix slope;
            euler(angles[b], angle, turn);
            multiply(m->relatives + 16 * b, turn, slope);
            if (m->parents[b] < 0)
                memcpy(changed[b], slope, sizeof(matrix));
            else
                multiply(absolutes[m->parents[b]], slope, changed[b]);
        } else if (m->parents[b] >= 0 && moves[m->parents[b]]) {
            euler(angles[b], -1, turn);
            multiply(m->relatives + 16 * b, turn, relative);
            multiply(changed[m->parents[b]], relative, changed[b]);
        } else
            continue;
        moves[b] = 1;
        multiply(changed[b], m->inverses + 16 * b, changes[b]);
        bones[count++] = b;
    }
    return count;
}

/* One row for each residual: two columns by `us` where there are any, then 26. */
void derivative(const struct call *c) {
    const struct model m = model(c);
    const int first = m.is_complicated ? 2 : 0, width = first + ANGLES;
    double *local = malloc(sizeof(double) * 9 * m.vertices), *mesh = local + 3 * m.vertices, *slope = mesh + 3 * m.vertices;
    double angles[BONES][3], rotation[9], by[3][9], *out = c->y[0];
    matrix absolutes[BONES], transforms[BONES], changes[BONES];
    pose(m.theta, angles);
    pose_bones(&m, angles, absolutes, transforms);
    angle_axis(m.theta, rotation, by);
    vertices(&m, transforms, rotation, local, mesh);
    for (int64_t i = 0; i < m.count; i++)
        for (int d = 0; d < 3; d++) {
            double *row = out + (3 * i + d) * width;
            if (first) {
                const int64_t *corner = m.triangles + 3 * m.correspondences[i];
                row[0] = mesh[3 * corner[2] + d] - mesh[3 * corner[0] + d];
                row[1] = mesh[3 * corner[2] + d] - mesh[3 * corner[1] + d];
            }
            for (int k = 3; k < 6; k++) row[first + k] = k - 3 == d ? -1 : 0;
        }
    for (int k = 0; k < ANGLES; k++) {
        if (k >= 3 && k < 6) continue;
        int bone, angle, bones[BONES], count = 0;
        if (k >= 6) {
            place(k, &bone, &angle);
            count = moving(&m, bone, angle, angles, absolutes, changes, bones);
        }
        for (int64_t v = 0; v < m.vertices; v++) {
            if (k < 3) {
                apply(by[k], local + 3 * v, slope + 3 * v);
            } else {
                double moved[3];
                skin(&m, v, changes, bones, count, moved);
                apply(rotation, moved, slope + 3 * v);
            }
        }
        for (int64_t i = 0; i < m.count; i++) {
            double at[3];
            measured(&m, i, slope, at);
            for (int d = 0; d < 3; d++) out[(3 * i + d) * width + first + k] = -at[d];
        }
    }
    free(local);
}
