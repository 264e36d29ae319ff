/* Two models in one program, and threads with a context each. */
#include "model.h"
#include "other.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static void *work(void *given) {
    double scale = *(double *)given, w[2], b_ct, value, x[6] = {1, 2, 3, 4, 5, 6}, y[3] = {0, 0, 0}, w_ct[2];
    model_context *model = model_open();
    other_context *other = other_open();
    intptr_t wrong = 0;
    int k;
    int64_t deep;
    w[0] = scale;
    w[1] = 0;
    for (k = 0; k < 2000; k++) {
        wrong += model_loss_grad(model, 3, 2, w, 0, x, y, &value, w_ct, &b_ct) != 0;
        wrong += value < 35 * scale * scale / 3 - 1e-9 || value > 35 * scale * scale / 3 + 1e-9;
        wrong += other_loss(other, 2, w, &value) != 0;
    }
    wrong += model_depth(model, -1, &deep) != MODEL_ERROR_MEMORY;
    model_close(model);
    other_close(other);
    return (void *)wrong;
}

int main(void) {
    pthread_t threads[4];
    double scales[4] = {1, 2, 3, 4};
    intptr_t wrong = 0;
    pthread_attr_t small;
    int k;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 20);
    for (k = 0; k < 4; k++) {
        if (pthread_create(&threads[k], k % 2 ? &small : 0, work, &scales[k])) return 2;
    }
    for (k = 0; k < 4; k++) {
        void *result;
        pthread_join(threads[k], &result);
        wrong += (intptr_t)result;
    }
    return wrong != 0;
}
