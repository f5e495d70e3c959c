// Functions in front that enter and leave a process group: parameters are checked, and the group is watched.
#include <xgboost/c_api.h>
#include <xgboost/json.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/message.h"
#include "base/quoted.h"
#include "entry/text_check.h"
#include "errors/fail.h"
#include "group/process_group.h"
#include "xgb/c_functions.h"
#include "xgb/caller.h"
#include "xgb/next_function.h"
#include "xgbgpu/error.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

constexpr char kCommunicator[] = "checking parameters of the communicator";

/// The time limit of the workers' communicator, if no other is set.
constexpr std::chrono::seconds kUsualLimit{1800};

/// Returns the seconds that an argument `name=value` of the communicator sets as its time limit, else `otherwise`.
std::chrono::seconds TimeLimit(std::string_view argument, std::chrono::seconds otherwise) {
  std::string const name = std::string{kTimeLimit} + '=';
  if (argument.substr(0, name.size()) != name) return otherwise;
  return std::chrono::seconds{std::atoi(std::string{argument.substr(name.size())}.c_str())};
}

/// Checks an argument `name=value`: Rabit copies a name and a value of any length into 256 bytes each.
void CheckRabitArgument(std::string_view argument) {
  if (!kHasRabit) return;
  constexpr std::size_t kMost = 255;
  std::string_view const name = argument.substr(0, argument.find('='));
  std::size_t const value = argument.size() - std::min(argument.size(), name.size() + 1);
  if (name.size() <= kMost && value <= kMost) return;
  Throw<InvalidArgument>("Parameter ", Quoted(name), " of the communicator has ",
                         name.size() > kMost ? "a name" : "a value", " of ", name.size() > kMost ? name.size() : value,
                         " bytes; allowed: up to ", kMost);
}

/// Checks `config`, the JSON text that XGCommunicatorInit is given. Returns the time limit.
std::chrono::seconds CheckCommunicator(char const* config) {
  CheckText(config);
  std::chrono::seconds limit = kUsualLimit;
  xgboost::Json const json = xgboost::Json::Load(xgboost::StringView{config});
  for (auto const& [name, value] : xgboost::get<xgboost::Object const>(json)) {
    std::string argument = name + '=';
    if (xgboost::IsA<xgboost::String>(value)) argument += xgboost::get<xgboost::String const>(value);
    if (xgboost::IsA<xgboost::Integer>(value)) argument += std::to_string(xgboost::get<xgboost::Integer const>(value));
    CheckRabitArgument(argument);
    limit = TimeLimit(argument, limit);
  }
  return limit;
}

}  // namespace

extern "C" {

XGBGPU_EXPORT int XGCommunicatorInit(char const* config) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGCommunicatorInit);
  std::chrono::seconds limit = kUsualLimit;
  bool const passes = config == nullptr || Passes(kCommunicator, [&] { limit = CheckCommunicator(config); });
  int result = -1;
  ProcessGroup::Enter(limit, [&] {
    if (passes) result = kNext(config);
  });
  return result;
}

XGBGPU_EXPORT int XGCommunicatorFinalize(void) {
  XGBGPU_CHECK_CALLER(-1);
  static auto* const kNext = XGBGPU_NEXT(XGCommunicatorFinalize);
  bool const has_failed = ProcessGroup::Leaves();
  int const result = kNext();
  // In a group that has failed it may fail, too. Python would raise this error in place of the one that says why.
  return has_failed ? 0 : result;
}

XGBGPU_EXPORT bool RabitInit(int n, char* arguments[]) {
  XGBGPU_CHECK_CALLER(false);
  static auto* const kNext = XGBGPU_NEXT(RabitInit);
  std::chrono::seconds limit = kUsualLimit;
  bool const passes = Passes(kCommunicator, [&] {
    for (int i = 0; i < n; ++i) {
      CheckRabitArgument(arguments[i]);
      limit = TimeLimit(arguments[i], limit);
    }
  });
  bool result = false;
  ProcessGroup::Enter(limit, [&] { result = passes && kNext(n, arguments); });
  return result;
}

XGBGPU_EXPORT bool RabitFinalize() {
  XGBGPU_CHECK_CALLER(false);
  static auto* const kNext = XGBGPU_NEXT(RabitFinalize);
  ProcessGroup::Leaves();
  return kNext();
}

}  // extern "C"

}  // namespace xgbgpu::plugin
