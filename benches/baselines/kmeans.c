/* GradBench `kmeans`: the cost of a clustering, and Newton's direction.
 *
 * The direction is a closed form, as in the suite: the gradient of a centroid is twice the sum of its distances to the points that are nearest to
 * it, and the Hessian is diagonal, twice their number. No second derivative is taken. */
#include "baseline.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t nearest(const double *p, const double *centroids, int64_t k, int64_t d, double *least) {
    int64_t best = 0;
    *least = INFINITY;
    for (int64_t c = 0; c < k; c++) {
        double square = 0;
        for (int64_t j = 0; j < d; j++) {
            const double t = p[j] - centroids[c * d + j];
            square += t * t;
        }
        if (square < *least) *least = square, best = c;
    }
    return best;
}

/* n: n k d. x: points centroids. */
void value(const struct call *c) {
    const int64_t n = c->n[0], k = c->n[1], d = c->n[2];
    double total = 0, least;
    for (int64_t i = 0; i < n; i++) {
        nearest(c->x[0] + i * d, c->x[1], k, d, &least);
        total += least;
    }
    c->y[0][0] = total;
}

void derivative(const struct call *c) {
    const int64_t n = c->n[0], k = c->n[1], d = c->n[2];
    const double *points = c->x[0], *centroids = c->x[1];
    double *slope = c->y[0], *curvature = calloc(k, sizeof(double)), least;
    memset(slope, 0, sizeof(double) * k * d);
    for (int64_t i = 0; i < n; i++) {
        const int64_t best = nearest(points + i * d, centroids, k, d, &least);
        for (int64_t j = 0; j < d; j++) slope[best * d + j] += 2 * (centroids[best * d + j] - points[i * d + j]);
        curvature[best] += 2;
    }
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < d; j++) slope[t * d + j] /= curvature[t];
    free(curvature);
}
