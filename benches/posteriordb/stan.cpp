// The log density, its gradient and draws of a Stan program, for beside.py.
//
// `PROGRAM DATA serve` answers the lines of standard input; `PROGRAM DATA sample PREFIX CHAINS
// WARMUP DRAWS SEED` runs Stan's sampler with CmdStan's default settings, chain after chain, and
// writes PREFIX.1.csv and so on. Compiled once, and linked with the code of each program.

#include <stan/callbacks/interrupt.hpp>
#include <stan/callbacks/stream_logger.hpp>
#include <stan/callbacks/stream_writer.hpp>
#include <stan/callbacks/writer.hpp>
#include <stan/io/empty_var_context.hpp>
#include <stan/io/json/json_data.hpp>
#include <stan/math.hpp>
#include <stan/model/model_base.hpp>
#include <stan/model/model_functional.hpp>
#include <stan/services/sample/hmc_nuts_diag_e_adapt.hpp>
#include <stan/services/util/create_rng.hpp>

#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using Model = stan::model::model_base;
using Vector = Eigen::VectorXd;

stan::model::model_base &new_model(stan::io::var_context &data, unsigned int seed,
                                   std::ostream *messages);

static void density(const Model &model, const Vector &at, double &value, Vector &gradient) {
  stan::math::gradient(stan::model::model_functional<Model>(model, nullptr), at, value, gradient);
}

// Coordinates stand behind lp, the rate of acceptance and five facts about the trajectory.
struct LastCoordinates : stan::callbacks::writer {
  std::vector<double> row;
  using stan::callbacks::writer::operator();
  void operator()(const std::vector<double> &values) override { row = values; }
};

static int run(Model &model, unsigned int seed, unsigned int chain, int warmup, int draws,
               stan::callbacks::writer &sample, stan::callbacks::writer &diagnostic) {
  stan::io::empty_var_context no_start;
  stan::callbacks::interrupt interrupt;
  std::ostringstream ignored;
  stan::callbacks::stream_logger logger(ignored, ignored, ignored, std::cerr, std::cerr);
  stan::callbacks::writer start;
  return stan::services::sample::hmc_nuts_diag_e_adapt(
      model, no_start, seed, chain, 2.0, warmup, draws, 1, false, 0, 1.0, 0.0, 10, 0.8, 0.05, 0.75,
      10.0, 75, 50, 25, interrupt, logger, start, sample, diagnostic);
}

static Vector vector_of(std::istream &words, size_t count) {
  Vector out(count);
  std::string word;
  for (size_t k = 0; k < count; ++k) {
    words >> word;
    out[k] = std::stod(word);
  }
  return out;
}

static void print(const std::vector<std::string> &names) {
  for (const std::string &name : names) std::cout << name << ' ';
  std::cout << std::endl;
}

static void answer(Model &model, const std::string &line) {
  std::istringstream words(line);
  std::string command;
  words >> command;
  size_t count = model.num_params_r();
  if (command == "names" || command == "coordinates") {
    std::vector<std::string> names;
    if (command == "names") model.constrained_param_names(names, false, false);
    else model.unconstrained_param_names(names, false, false);
    print(names);
  } else if (command == "at") {
    Vector at = vector_of(words, count), gradient(count);
    double value;
    density(model, at, value, gradient);
    std::cout << value;
    for (double slope : gradient) std::cout << ' ' << slope;
    std::cout << std::endl;
  } else if (command == "values") {
    Vector at = vector_of(words, count), values;
    stan::rng_t rng = stan::services::util::create_rng(1, 1);
    model.write_array(rng, at, values, false, false, nullptr);
    for (double value : values) std::cout << value << ' ';
    std::cout << std::endl;
  } else if (command == "time") {
    size_t times;
    words >> times;
    Vector at = vector_of(words, count), gradient(count);
    double value;
    auto begun = std::chrono::steady_clock::now();
    for (size_t k = 0; k < times; ++k) density(model, at, value, gradient);
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    std::cout << took.count() << std::endl;
  } else if (command == "settle") {
    int iterations;
    words >> iterations;
    stan::callbacks::writer none;
    LastCoordinates last;
    run(model, 1, 1, iterations, 1, none, last);
    for (size_t k = 0; k < count; ++k) std::cout << last.row.at(7 + k) << ' ';
    std::cout << std::endl;
  } else {
    std::cout << "error: no such command" << std::endl;
  }
}

int main(int count, char **words) {
  std::vector<std::string> arguments(words, words + count);
  std::ifstream file(arguments.at(1));
  stan::json::json_data data(file);
  Model &model = new_model(data, 1, nullptr);
  std::cout.precision(17);
  if (arguments.at(2) == "sample") {
    int chains = std::stoi(arguments.at(4));
    for (int chain = 1; chain <= chains; ++chain) {
      std::ofstream out(arguments.at(3) + "." + std::to_string(chain) + ".csv");
      stan::callbacks::stream_writer sample(out, "# ");
      stan::callbacks::writer diagnostic;
      int code = run(model, std::stoi(arguments.at(7)), chain, std::stoi(arguments.at(5)),
                     std::stoi(arguments.at(6)), sample, diagnostic);
      if (code != 0) return code;
    }
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) {
    try {
      answer(model, line);
    } catch (const std::exception &failure) {
      std::string text = failure.what();
      for (char &letter : text) letter = letter == '\n' ? ' ' : letter;
      std::cout << "error: " << text << std::endl;
    }
  }
}
