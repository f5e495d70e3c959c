// Keeps whether gpu_hist trains in the place of XGBoost's hist with device=cuda.
#include "params/take_hist.h"

#include <atomic>
#include <cstdlib>
#include <string>

#include "base/quoted.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

constexpr char kVariable[] = "XGBGPU_TAKE_HIST";

enum class Choice { kOfEnvironment, kNo, kYes };
std::atomic<Choice> choice{Choice::kOfEnvironment};

bool ReadVariable() {
  char const* const found = std::getenv(kVariable);
  std::string const value = found == nullptr ? "" : found;
  if (value.empty() || value == "0") return false;
  if (value == "1") return true;
  throw InvalidArgument{std::string{"Environment variable "} + kVariable + " is " + Quoted(value) + "; allowed: 0, 1"};
}

}  // namespace

bool TakesHist() {
  Choice const chosen = choice.load();
  return chosen == Choice::kOfEnvironment ? ReadVariable() : chosen == Choice::kYes;
}

void TakeHist(bool takes) { choice.store(takes ? Choice::kYes : Choice::kNo); }

}  // namespace xgbgpu::plugin
