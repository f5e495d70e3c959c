/// Lines of ours on XGBoost's log, and lines of XGBoost that are kept from it.
#ifndef XGBGPU_PLUGIN_ERRORS_NOTICE_H_
#define XGBGPU_PLUGIN_ERRORS_NOTICE_H_

#include <string>

namespace xgbgpu::plugin {

/// A warning that a process shows once for each `key`, and not while warnings are switched off.
void WarnOnce(std::string const& key, std::string const& text);

/// WarnOnce for what all workers of a process group would say in the same words: the first of them says it.
void WarnGroupOnce(std::string const& key, std::string const& text);

/// Something worth to know that a process shows once for each `key`, from verbosity 2 on.
void InformOnce(std::string const& key, std::string const& text);

/// While it is alive and `on`, XGBoost logs nothing on this thread.
class QuietScope {
 public:
  explicit QuietScope(bool on);
  ~QuietScope();
  QuietScope(QuietScope const&) = delete;
  QuietScope& operator=(QuietScope const&) = delete;

 private:
  bool on_;
  int verbosity_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ERRORS_NOTICE_H_
