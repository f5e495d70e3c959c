/// What a booster was told.
#ifndef XGBGPU_PLUGIN_ENTRY_KNOWN_WORDS_H_
#define XGBGPU_PLUGIN_ENTRY_KNOWN_WORDS_H_

#include <xgboost/c_api.h>

#include "params/device_words.h"

namespace xgbgpu::plugin {

/// Returns what the booster was told, or what its loaded configuration says.
KnownWords WordsOf(BoosterHandle booster);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ENTRY_KNOWN_WORDS_H_
