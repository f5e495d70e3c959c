#include "notice.h"

#include <xgboost/logging.h>

#include <mutex>
#include <set>

namespace xgbgpu::plugin {

void WarnOnce(std::string const& key, std::string const& text) {
  using Logger = xgboost::ConsoleLogger;
  if (!Logger::ShouldLog(Logger::LogVerbosity::kWarning)) return;
  static std::mutex mutex;
  static std::set<std::string> shown;
  {
    std::lock_guard<std::mutex> lock{mutex};
    if (!shown.insert(key).second) return;
  }
  LOG(WARNING) << "xgboost-gpu: " << text;
}

QuietScope::QuietScope(bool on) : on_{on}, verbosity_{static_cast<int>(xgboost::ConsoleLogger::GlobalVerbosity())} {
  if (on_) xgboost::ConsoleLogger::Configure({{"verbosity", "0"}});
}

QuietScope::~QuietScope() {
  if (on_) xgboost::ConsoleLogger::Configure({{"verbosity", std::to_string(verbosity_)}});
}

}  // namespace xgbgpu::plugin
