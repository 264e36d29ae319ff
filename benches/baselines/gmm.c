/* GradBench `gmm`: log posterior of a Gaussian mixture model, and its gradient by all but the points.
 *
 * One pass over the points. For each point and component the forward part stores what the reverse part needs in small local arrays
 * (d numbers for the centered point, d for its image), the softmax weights then scale the contributions to the gradient. */
#include "baseline.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double logsumexp(const double *x, int n) {
    double m = x[0], s = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > m) m = x[i];
    for (int i = 0; i < n; i++) s += exp(x[i] - m);
    return m + log(s);
}

static double log_gamma_distrib(double a, int p) {
    double r = 0.25 * p * (p - 1) * log(M_PI);
    for (int j = 0; j < p; j++) r += lgamma(a - 0.5 * j);
    return r;
}

/* exp q, and the sum of the q of each component. */
static void preprocess(int d, int k, const double *q, double *diagonal, double *sum_q) {
    for (int c = 0; c < k; c++) {
        sum_q[c] = 0;
        for (int j = 0; j < d; j++) {
            diagonal[c * d + j] = exp(q[c * d + j]);
            sum_q[c] += q[c * d + j];
        }
    }
}

/* The point, centered, and its image under the triangle; gives the square of its length. */
static double image_of(int d, const double *x, const double *mu, const double *diagonal, const double *l, double *centered, double *image) {
    double square = 0;
    for (int j = 0; j < d; j++) {
        centered[j] = x[j] - mu[j];
        image[j] = diagonal[j] * centered[j];
    }
    for (int i = 0; i < d; i++)
        for (int j = i + 1; j < d; j++) image[j] += *l++ * centered[i];
    for (int j = 0; j < d; j++) square += image[j] * image[j];
    return square;
}

static double prior(int d, int k, int m, double gamma, const double *diagonal, const double *sum_q, const double *l) {
    const int tri = d * (d - 1) / 2, dof = d + m + 1;
    double value = k * ((double)dof * d * (log(gamma) - 0.5 * log(2)) - log_gamma_distrib(0.5 * dof, d));
    for (int c = 0; c < k; c++) {
        double squares = 0;
        for (int j = 0; j < d; j++) squares += diagonal[c * d + j] * diagonal[c * d + j];
        for (int t = 0; t < tri; t++) squares += l[c * tri + t] * l[c * tri + t];
        value -= 0.5 * gamma * gamma * squares - m * sum_q[c];
    }
    return value;
}

static double objective(int d, int k, int n, const double *alpha, const double *mu, const double *q, const double *l, const double *x, double gamma,
                        int m) {
    const int tri = d * (d - 1) / 2;
    double *diagonal = malloc(sizeof(double) * k * d), *sum_q = malloc(sizeof(double) * k);
    double *centered = malloc(sizeof(double) * d), *image = malloc(sizeof(double) * d), *density = malloc(sizeof(double) * k);
    double value = 0;
    preprocess(d, k, q, diagonal, sum_q);
    for (int p = 0; p < n; p++) {
        for (int c = 0; c < k; c++)
            density[c] = alpha[c] + sum_q[c]
                         - 0.5 * image_of(d, x + p * d, mu + c * d, diagonal + c * d, l + c * tri, centered, image);
        value += logsumexp(density, k);
    }
    value -= n * (0.5 * d * log(2 * M_PI) + logsumexp(alpha, k));
    value += prior(d, k, m, gamma, diagonal, sum_q, l);
    free(diagonal), free(sum_q), free(centered), free(image), free(density);
    return value;
}

static void gradient(int d, int k, int n, const double *alpha, const double *mu, const double *q, const double *l, const double *x, double gamma,
                     int m, double *g_alpha, double *g_mu, double *g_q, double *g_l) {
    const int tri = d * (d - 1) / 2;
    double *diagonal = malloc(sizeof(double) * k * d), *sum_q = malloc(sizeof(double) * k);
    double *centered = malloc(sizeof(double) * k * d), *image = malloc(sizeof(double) * k * d);
    double *density = malloc(sizeof(double) * k), *back = malloc(sizeof(double) * d);
    memset(g_alpha, 0, sizeof(double) * k);
    memset(g_mu, 0, sizeof(double) * k * d);
    memset(g_q, 0, sizeof(double) * k * d);
    memset(g_l, 0, sizeof(double) * k * tri);
    preprocess(d, k, q, diagonal, sum_q);
    for (int p = 0; p < n; p++) {
        for (int c = 0; c < k; c++)
            density[c] = alpha[c] + sum_q[c]
                         - 0.5 * image_of(d, x + p * d, mu + c * d, diagonal + c * d, l + c * tri, centered + c * d, image + c * d);
        const double lse = logsumexp(density, k);
        for (int c = 0; c < k; c++) {
            const double weight = exp(density[c] - lse), *xc = centered + c * d, *y = image + c * d, *lc = l + c * tri;
            double *gl = g_l + c * tri;
            g_alpha[c] += weight;
            for (int j = 0; j < d; j++) {
                g_q[c * d + j] += weight * (1 - y[j] * diagonal[c * d + j] * xc[j]);
                back[j] = diagonal[c * d + j] * y[j];
            }
            for (int i = 0; i < d; i++)
                for (int j = i + 1; j < d; j++) {
                    back[i] += *lc++ * y[j];
                    *gl++ -= weight * xc[i] * y[j];
                }
            for (int j = 0; j < d; j++) g_mu[c * d + j] += weight * back[j];
        }
    }
    const double lse_alpha = logsumexp(alpha, k);
    for (int c = 0; c < k; c++) {
        g_alpha[c] -= n * exp(alpha[c] - lse_alpha);
        for (int j = 0; j < d; j++) g_q[c * d + j] += m - gamma * gamma * diagonal[c * d + j] * diagonal[c * d + j];
        for (int t = 0; t < tri; t++) g_l[c * tri + t] -= gamma * gamma * l[c * tri + t];
    }
    free(diagonal), free(sum_q), free(centered), free(image), free(density), free(back);
}

/* n: d k n m. x: alpha mu q l x gamma. */
void value(const struct call *c) {
    c->y[0][0] = objective(c->n[0], c->n[1], c->n[2], c->x[0], c->x[1], c->x[2], c->x[3], c->x[4], c->x[5][0], c->n[3]);
}

void derivative(const struct call *c) {
    gradient(c->n[0], c->n[1], c->n[2], c->x[0], c->x[1], c->x[2], c->x[3], c->x[4], c->x[5][0], c->n[3], c->y[0], c->y[1], c->y[2], c->y[3]);
}
