/* Value and gradient of examples/gmm.lam, written by hand: the yardstick of the compiler.
 *
 * One pass over the points. For each point and component the forward part stores what the reverse part needs in small local arrays
 * (d numbers for the centered point, d for its image), the softmax weights then scale the contributions to the gradient. */
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

double gmm_gradient(int d, int k, int n, const double *alpha, const double *mu, const double *q, const double *l, const double *x, double gamma,
                    int m, double *g_alpha, double *g_mu, double *g_q, double *g_l) {
    const int tri = d * (d - 1) / 2;
    double *diagonal = malloc(sizeof(double) * k * d), *sum_q = calloc(k, sizeof(double));
    double *centered = malloc(sizeof(double) * k * d), *image = malloc(sizeof(double) * k * d);
    double *density = malloc(sizeof(double) * k), *back = malloc(sizeof(double) * d);
    memset(g_alpha, 0, sizeof(double) * k);
    memset(g_mu, 0, sizeof(double) * k * d);
    memset(g_q, 0, sizeof(double) * k * d);
    memset(g_l, 0, sizeof(double) * k * tri);
    for (int c = 0; c < k; c++)
        for (int j = 0; j < d; j++) {
            diagonal[c * d + j] = exp(q[c * d + j]);
            sum_q[c] += q[c * d + j];
        }
    double value = 0;
    for (int p = 0; p < n; p++) {
        for (int c = 0; c < k; c++) {
            double *xc = centered + c * d, *y = image + c * d, square = 0;
            const double *lc = l + c * tri;
            for (int j = 0; j < d; j++) {
                xc[j] = x[p * d + j] - mu[c * d + j];
                y[j] = diagonal[c * d + j] * xc[j];
            }
            for (int i = 0; i < d; i++)
                for (int j = i + 1; j < d; j++) y[j] += *lc++ * xc[i];
            for (int j = 0; j < d; j++) square += y[j] * y[j];
            density[c] = alpha[c] + sum_q[c] - 0.5 * square;
        }
        double lse = logsumexp(density, k);
        value += lse;
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
    double lse_alpha = logsumexp(alpha, k);
    value -= n * (0.5 * d * log(2 * M_PI) + lse_alpha);
    for (int c = 0; c < k; c++) g_alpha[c] -= n * exp(alpha[c] - lse_alpha);
    const int dof = d + m + 1;
    double prior = (double)dof * d * (log(gamma) - 0.5 * log(2)) - log_gamma_distrib(0.5 * dof, d);
    value += k * prior;
    for (int c = 0; c < k; c++) {
        double squares = 0;
        for (int j = 0; j < d; j++) {
            double e = diagonal[c * d + j];
            squares += e * e;
            g_q[c * d + j] += m - gamma * gamma * e * e;
        }
        for (int t = 0; t < tri; t++) {
            squares += l[c * tri + t] * l[c * tri + t];
            g_l[c * tri + t] -= gamma * gamma * l[c * tri + t];
        }
        value -= 0.5 * gamma * gamma * squares - m * sum_q[c];
    }
    free(diagonal), free(sum_q), free(centered), free(image), free(density), free(back);
    return value;
}
