/* Fits a line by gradient descent.
 *
 *   lambada build line.lam loss --grad w,b -o out
 *   cc line.c -Iout out/libline.a -lm -o line && ./line
 */
#include <stdio.h>
#include <stdlib.h>

#include "line.h"

enum { N = 4, D = 2 };

int main(void) {
    const double x[N][D] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}}, y[N] = {1, 3, 4, 6}; /* 2 x0 + 3 x1 + 1 */
    double w[D] = {0, 0}, b = 0, value = 0, w_ct[D], b_ct;
    line_context *context = line_open();
    for (int step = 0; step < 2000; step++) {
        if (line_loss_grad(context, N, D, w, b, x[0], y, &value, w_ct, &b_ct)) {
            fprintf(stderr, "%s\n", line_message(context));
            return EXIT_FAILURE;
        }
        for (int j = 0; j < D; j++) w[j] -= 0.5 * w_ct[j];
        b -= 0.5 * b_ct;
    }
    line_close(context);
    printf("w = %.4f %.4f, b = %.4f, loss = %.4f\n", w[0], w[1], b, value);
    return EXIT_SUCCESS;
}
