/// Refuses JSON texts of users on which XGBoost's parser would end the process.
#ifndef XGBGPU_PLUGIN_ENTRY_TEXT_CHECK_H_
#define XGBGPU_PLUGIN_ENTRY_TEXT_CHECK_H_

#include "models/model_bytes.h"

namespace xgbgpu::plugin {

/// Throws InvalidArgument for a JSON text on which XGBoost's parser would end the process. Does nothing for null.
inline void CheckText(char const* json) {
  if (json == nullptr) return;
  Bytes bytes{json};
  CheckBytes(&bytes, Format::kJson);
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ENTRY_TEXT_CHECK_H_
