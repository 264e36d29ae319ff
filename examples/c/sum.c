/* The same on a cluster: each process has points of its own, and the gradient is the mean of theirs.
 *
 *   lambada build line.lam loss --grad w,b -o out --portable
 *   mpicc sum.c -Iout out/libline.a -lm -o sum && mpirun -n 4 ./sum
 */
#include <mpi.h>
#include <stdio.h>

#include "line.h"

enum { N = 1000, D = 2 };

int main(int argc, char **argv) {
    static double x[N][D], y[N];
    double theta[D + 1] = {0, 0, 0}; /* w, then b */
    int rank, processes;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    for (int i = 0; i < N; i++) {
        int point = rank * N + i;
        x[i][0] = (point % 10) / 10.0;
        x[i][1] = (point / 10 % 10) / 10.0;
        y[i] = 2 * x[i][0] + 3 * x[i][1] + 1;
    }
    line_context *context = line_open();
    for (int step = 0; step < 2000; step++) {
        double own[D + 1], mean[D + 1];
        if (line_loss_grad(context, N, D, theta, theta[D], x[0], y, 0, own, &own[D])) {
            fprintf(stderr, "process %d: %s\n", rank, line_message(context));
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        MPI_Allreduce(own, mean, D + 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int j = 0; j <= D; j++) theta[j] -= 0.5 * mean[j] / processes;
    }
    line_close(context);
    if (rank == 0) printf("w = %.4f %.4f, b = %.4f\n", theta[0], theta[1], theta[2]);
    MPI_Finalize();
    return 0;
}
