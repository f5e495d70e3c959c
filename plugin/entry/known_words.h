/// Reads the parameters that a booster has.
#ifndef XGBGPU_PLUGIN_ENTRY_KNOWN_WORDS_H_
#define XGBGPU_PLUGIN_ENTRY_KNOWN_WORDS_H_

#include <xgboost/c_api.h>

#include "params/device_words.h"

namespace xgbgpu::plugin {

/// Returns the parameters that were set in the booster, or that its loaded configuration has.
KnownWords WordsOf(BoosterHandle booster);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ENTRY_KNOWN_WORDS_H_
