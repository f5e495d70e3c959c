/// monotone_constraints and interaction_constraints as users write them. XGBoost's parser reads the JSON of the latter.
#include "fuzz.h"
#include "params/constraint_text.h"
#include "xgbgpu/error.h"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text = xgbgpu::fuzz::Text(data, size);
  try {
    for (int const direction : xgbgpu::plugin::ParseMonotoneConstraints(text)) {
      if (direction < -1 || direction > 1) std::abort();
    }
  } catch (xgbgpu::InvalidArgument const&) {
  }
  try {
    xgbgpu::plugin::ParseInteractionConstraints(text);
  } catch (xgbgpu::InvalidArgument const&) {
  }
  return 0;
}
