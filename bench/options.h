/// Options of the benchmarks: "--name=value". Google Benchmark reads what is left.
#ifndef XGBGPU_BENCH_OPTIONS_H_
#define XGBGPU_BENCH_OPTIONS_H_

#include <functional>
#include <string>
#include <vector>

namespace xgbgpu::bench {

struct Option {
  char const* name;
  std::function<void(std::string const& value)> set;
};

/// Calls set for every option given, and returns the arguments that are none of them, the program's name first.
inline std::vector<char*> TakeOptions(int argc, char** argv, std::vector<Option> const& options) {
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    std::string const argument = argv[i];
    bool taken = false;
    for (Option const& option : options) {
      std::string const prefix = std::string{"--"} + option.name + "=";
      if (argument.rfind(prefix, 0) != 0) continue;
      option.set(argument.substr(prefix.size()));
      taken = true;
    }
    if (!taken) rest.push_back(argv[i]);
  }
  return rest;
}

}  // namespace xgbgpu::bench

#endif  // XGBGPU_BENCH_OPTIONS_H_
