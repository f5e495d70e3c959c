/// Options of the benchmarks: "--name=value". Google Benchmark reads what is left.
#ifndef XGBGPU_BENCH_OPTIONS_H_
#define XGBGPU_BENCH_OPTIONS_H_

#include <algorithm>
#include <cstdio>
#include <functional>
#include <sstream>
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

/// Returns the parts of "a,b,…".
inline std::vector<std::string> Split(std::string const& list) {
  std::vector<std::string> parts;
  std::istringstream stream{list};
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

/// Tells whether each name is that of a set. Prints the first that is not.
template <typename Set>
bool AreSets(std::vector<std::string> const& names, std::vector<Set> const& sets) {
  for (std::string const& name : names) {
    if (std::any_of(sets.begin(), sets.end(), [&](Set const& set) { return name == set.name; })) continue;
    std::fprintf(stderr, "--set has '%s'; allowed:", name.c_str());
    for (Set const& set : sets) std::fprintf(stderr, " %s", set.name);
    std::fprintf(stderr, "\n");
    return false;
  }
  return true;
}

}  // namespace xgbgpu::bench

#endif  // XGBGPU_BENCH_OPTIONS_H_
