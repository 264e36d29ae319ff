/* GradBench `lstm`: loss of predicting a sequence of characters, and its gradient by the weights.
 *
 * The suite's gradient by hand carries the derivatives along with the states, a slow method. This one is reverse mode by hand: what each layer
 * does at each step is kept, seven numbers for each component, and read backwards. */
#include "baseline.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* What a layer did at a step, an array of b each. */
enum { FORGET, INGATE, OUTGATE, CHANGE, CELL, TANH_CELL, HIDDEN, KEPT };

struct model {
    int64_t layers, b, c;
    const double *main, *extra, *state, *sequence;
};

/* One layer at one step. `before` are hidden and cell state, which become those behind it; `kept` is what the reverse pass wants. */
static void layer(const struct model *m, int64_t l, const double *x, double *hidden, double *cell, double *kept) {
    const int64_t b = m->b;
    const double *w = m->main + 2 * l * 4 * b, *bias = w + 4 * b;
    for (int64_t j = 0; j < b; j++) {
        const double forget = sigmoid(w[j] * x[j] + bias[j]);
        const double ingate = sigmoid(w[b + j] * hidden[j] + bias[b + j]);
        const double outgate = sigmoid(w[2 * b + j] * x[j] + bias[2 * b + j]);
        const double change = tanh(w[3 * b + j] * hidden[j] + bias[3 * b + j]);
        if (kept) {
            kept[FORGET * b + j] = forget, kept[INGATE * b + j] = ingate, kept[OUTGATE * b + j] = outgate, kept[CHANGE * b + j] = change;
            kept[CELL * b + j] = cell[j], kept[HIDDEN * b + j] = hidden[j];
        }
        cell[j] = cell[j] * forget + ingate * change;
        const double t = tanh(cell[j]);
        hidden[j] = outgate * t;
        if (kept) kept[TANH_CELL * b + j] = t;
    }
}

/* The loss; `tape` has room for c - 1 steps of all layers, `ahead` for the predictions of all steps, or both are null. */
static double loss(const struct model *m, double *tape, double *ahead) {
    const int64_t b = m->b, layers = m->layers;
    double *state = malloc(sizeof(double) * 2 * layers * b), *x = malloc(sizeof(double) * b), *y = malloc(sizeof(double) * b), total = 0;
    memcpy(state, m->state, sizeof(double) * 2 * layers * b);
    for (int64_t t = 0; t + 1 < m->c; t++) {
        const double *input = m->sequence + t * b, *wanted = input + b;
        for (int64_t j = 0; j < b; j++) x[j] = input[j] * m->extra[j];
        for (int64_t l = 0; l < layers; l++) {
            double *hidden = state + 2 * l * b;
            layer(m, l, x, hidden, hidden + b, tape ? tape + (t * layers + l) * KEPT * b : 0);
            memcpy(x, hidden, sizeof(double) * b);
        }
        double sum = 2;
        for (int64_t j = 0; j < b; j++) {
            y[j] = x[j] * m->extra[b + j] + m->extra[2 * b + j];
            const double e = exp(y[j]);
            sum += e;
            if (ahead) ahead[t * b + j] = e;
        }
        const double norm = log(sum);
        for (int64_t j = 0; j < b; j++) {
            total += wanted[j] * (y[j] - norm);
            if (ahead) ahead[t * b + j] /= sum;
        }
    }
    free(state), free(x), free(y);
    return -total / (double)((m->c - 1) * b);
}

static void gradient(const struct model *m, double *g_main, double *g_extra) {
    const int64_t b = m->b, layers = m->layers, c = m->c;
    double *tape = malloc(sizeof(double) * (c - 1) * layers * KEPT * b), *ahead = malloc(sizeof(double) * (c - 1) * b);
    double *state_ct = calloc(2 * layers * b, sizeof(double)), *x_ct = malloc(sizeof(double) * b);
    const double seed = -1 / (double)((c - 1) * b);
    memset(g_main, 0, sizeof(double) * layers * 8 * b);
    memset(g_extra, 0, sizeof(double) * 3 * b);
    loss(m, tape, ahead);
    for (int64_t t = c - 2; t >= 0; t--) {
        const double *input = m->sequence + t * b, *wanted = input + b, *last = tape + (t * layers + layers - 1) * KEPT * b;
        double count = 0;
        for (int64_t j = 0; j < b; j++) count += wanted[j];
        for (int64_t j = 0; j < b; j++) {
            const double y_ct = seed * (wanted[j] - count * ahead[t * b + j]);
            const double x = last[OUTGATE * b + j] * last[TANH_CELL * b + j];
            g_extra[b + j] += y_ct * x;
            g_extra[2 * b + j] += y_ct;
            x_ct[j] = y_ct * m->extra[b + j];
        }
        for (int64_t l = layers - 1; l >= 0; l--) {
            const double *kept = tape + (t * layers + l) * KEPT * b, *below = kept - KEPT * b, *w = m->main + 2 * l * 4 * b;
            double *gw = g_main + 2 * l * 4 * b, *gb = gw + 4 * b, *hidden_ct = state_ct + 2 * l * b, *cell_ct = hidden_ct + b;
            for (int64_t j = 0; j < b; j++) {
                const double forget = kept[FORGET * b + j], ingate = kept[INGATE * b + j], outgate = kept[OUTGATE * b + j];
                const double change = kept[CHANGE * b + j], t_cell = kept[TANH_CELL * b + j], hidden = kept[HIDDEN * b + j];
                const double x = l > 0 ? below[OUTGATE * b + j] * below[TANH_CELL * b + j] : input[j] * m->extra[j];
                const double out_ct = hidden_ct[j] + x_ct[j], new_ct = cell_ct[j] + out_ct * outgate * (1 - t_cell * t_cell);
                const double f = new_ct * kept[CELL * b + j] * forget * (1 - forget), i = new_ct * change * ingate * (1 - ingate);
                const double o = out_ct * t_cell * outgate * (1 - outgate), g = new_ct * ingate * (1 - change * change);
                gw[j] += f * x, gw[b + j] += i * hidden, gw[2 * b + j] += o * x, gw[3 * b + j] += g * hidden;
                gb[j] += f, gb[b + j] += i, gb[2 * b + j] += o, gb[3 * b + j] += g;
                x_ct[j] = f * w[j] + o * w[2 * b + j];
                hidden_ct[j] = i * w[b + j] + g * w[3 * b + j];
                cell_ct[j] = new_ct * forget;
            }
        }
        for (int64_t j = 0; j < b; j++) g_extra[j] += x_ct[j] * input[j];
    }
    free(tape), free(ahead), free(state_ct), free(x_ct);
}

/* n: layers b c. x: main extra state sequence. */
static struct model model(const struct call *c) {
    return (struct model){c->n[0], c->n[1], c->n[2], c->x[0], c->x[1], c->x[2], c->x[3]};
}

void value(const struct call *c) {
    const struct model m = model(c);
    c->y[0][0] = loss(&m, 0, 0);
}

/* The gradient by the main parameters, row by row, then by the others. */
void derivative(const struct call *c) {
    const struct model m = model(c);
    gradient(&m, c->y[0], c->y[0] + m.layers * 8 * m.b);
}
