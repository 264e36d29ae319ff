/* A system without memory: run with a limit on the address space. */
#include "model.h"

#include <string.h>

int main(void) {
    double value;
    model_context *c = model_open();
    if (!c) return 2;
    if (model_table(c, 400000000, 0) != MODEL_ERROR_MEMORY) return 3;
    if (!strstr(model_message(c), "needs 3200000000 bytes")) return 4;
    if (!strstr(model_message(c), "the system does not give it")) return 5;
    if (model_careful(c, 1, &value) || value != 2) return 6;
    model_close(c);
    return 0;
}
