// Writes to XGBoost's log, each line once for its key.
#include "errors/notice.h"

#include <xgboost/c_api.h>
#include <xgboost/logging.h>

#include <mutex>
#include <set>

namespace xgbgpu::plugin {

namespace {

using Logger = xgboost::ConsoleLogger;

/// Returns true if the log would show the line, and has not shown one for the key.
bool IsNew(Logger::LogVerbosity level, std::string const& key) {
  if (!Logger::ShouldLog(level)) return false;
  static std::mutex mutex;
  static std::set<std::string> shown;
  std::lock_guard<std::mutex> lock{mutex};
  return shown.insert(key).second;
}

}  // namespace

void WarnOnce(std::string const& key, std::string const& text) {
  if (IsNew(Logger::LogVerbosity::kWarning, key)) LOG(WARNING) << "xgboost-gpu: " << text;
}

void WarnGroupOnce(std::string const& key, std::string const& text) {
  if (XGCommunicatorGetRank() == 0) WarnOnce(key, text);
}

void InformOnce(std::string const& key, std::string const& text) {
  if (IsNew(Logger::LogVerbosity::kInfo, key)) LOG(INFO) << "xgboost-gpu: " << text;
}

QuietScope::QuietScope(bool on) : on_{on}, verbosity_{static_cast<int>(xgboost::ConsoleLogger::GlobalVerbosity())} {
  if (on_) xgboost::ConsoleLogger::Configure({{"verbosity", "0"}});
}

QuietScope::~QuietScope() {
  if (on_) xgboost::ConsoleLogger::Configure({{"verbosity", std::to_string(verbosity_)}});
}

}  // namespace xgbgpu::plugin
