// Says what is wrong with a driver that is older than the CUDA of the build.
#include "backend_cuda/driver_version.h"

#include <sstream>

namespace xgbgpu::cuda {

namespace {

std::string VersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Returns the first word of digits and points: 535.183.01. Empty if there is none.
std::string VersionIn(std::string const& module) {
  std::istringstream words{module};
  for (std::string word; words >> word;) {
    bool const is_version = word.find_first_not_of("0123456789.") == std::string::npos;
    if (is_version && word.find('.') != std::string::npos) return word;
  }
  return {};
}

/// Returns the first driver for a major version of CUDA, as NVIDIA counts drivers; empty if it is not known here.
std::string FirstDriver(int major) { return major == 12 ? "525" : major == 13 ? "580" : ""; }

}  // namespace

std::string WhyTooOld(int driver, int runtime, std::string const& module) {
  std::string const version = VersionIn(module);
  int const major = runtime / 1000;  // a driver runs every minor version
  std::string const first = FirstDriver(major);
  return "the NVIDIA driver" + (version.empty() ? "" : " " + version) + " is for CUDA " + VersionText(driver) +
         "; needed: a driver for CUDA " + VersionText(1000 * major) + " or newer" +
         (first.empty() ? "" : ", which is " + first + " or newer");
}

}  // namespace xgbgpu::cuda
