// Fits a line by gradient descent.
//
//   lambada build ../c/line.lam loss --grad w,b -o out
//   c++ -std=c++17 line.cpp -Iout out/libline.a -lm -o line && ./line
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

#include "line.h"

// A context that closes itself; a thread has one of its own.
class Line {
public:
    Line() : context(line_open(), line_close) {
        if (!context) throw std::bad_alloc();
    }

    double gradient(const std::vector<double> &w, double b, const std::vector<double> &x, const std::vector<double> &y,
                    std::vector<double> &w_ct, double &b_ct) {
        double value;
        w_ct.resize(w.size());
        if (line_loss_grad(context.get(), static_cast<int64_t>(y.size()), static_cast<int64_t>(w.size()), w.data(), b, x.data(), y.data(),
                           &value, w_ct.data(), &b_ct))
            throw std::runtime_error(line_message(context.get()));
        return value;
    }

private:
    std::unique_ptr<line_context, decltype(&line_close)> context;
};

int main() {
    const std::vector<double> x{0, 0, 1, 0, 0, 1, 1, 1}, y{1, 3, 4, 6};
    std::vector<double> w{0, 0}, w_ct;
    double b = 0, b_ct = 0, value = 0;
    Line line;
    for (int step = 0; step < 2000; step++) {
        value = line.gradient(w, b, x, y, w_ct, b_ct);
        for (std::size_t j = 0; j < w.size(); j++) w[j] -= 0.5 * w_ct[j];
        b -= 0.5 * b_ct;
    }
    std::printf("w = %.4f %.4f, b = %.4f, loss = %.4f\n", w[0], w[1], b, value);
}
