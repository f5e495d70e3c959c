/// XGBoost's C API as classes that throw.
#ifndef XGBGPU_CLI_XGBOOST_C_H_
#define XGBGPU_CLI_XGBOOST_C_H_

#include <xgboost/c_api.h>

#include <string>
#include <utility>
#include <vector>

namespace xgbgpu::cli {

/// Throws Error with XGBoost's last message, less its place in the source and its stack trace, if a call of the C API
/// returned an error.
void Check(int status);

/// From now on this thread prints what XGBoost logs with control characters escaped, and not by the megabyte.
void EscapeLog();

void SetVerbosity(int verbosity);

/// Returns the configuration (JSON) for XGBoosterPredictFromDMatrix, to predict by the trees of rounds begin … end.
std::string PredictConfig(bool margins, int begin, int end);

/// Owns a DMatrixHandle.
class DMatrix {
 public:
  /// Loads data as XGBoost's `data` parameter describes it: path, path?format=libsvm, path#cache. Throws Error naming
  /// `option`.
  DMatrix(std::string const& option, std::string const& uri);
  DMatrix(DMatrix&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
  DMatrix& operator=(DMatrix&&) = delete;
  ~DMatrix() {
    if (handle_ != nullptr) {
      XGDMatrixFree(handle_);
    }
  }

  DMatrixHandle Handle() const { return handle_; }

 private:
  DMatrixHandle handle_ = nullptr;
};

/// Owns a BoosterHandle.
class Booster {
 public:
  explicit Booster(std::vector<DMatrixHandle> const& cached);
  Booster(Booster const&) = delete;
  Booster& operator=(Booster const&) = delete;
  ~Booster() { XGBoosterFree(handle_); }

  BoosterHandle Handle() const { return handle_; }

  void SetParameters(std::vector<std::pair<std::string, std::string>> const& parameters);
  /// The format follows the name: .json, .ubj, else XGBoost's binary format. The binary format is read under any name.
  /// Throws Error naming the file.
  void Load(std::string const& path);
  void Save(std::string const& path);

 private:
  BoosterHandle handle_ = nullptr;
};

/// Joins the workers that a tracker started (one worker when there is no tracker), and leaves them at the end. It hands
/// over only settings of the communicator: XGBoost 1.7 copies each into 256 bytes without checking its length.
/// (plugin/entry/group_functions.cc checks it.)
class Communicator {
 public:
  explicit Communicator(std::vector<std::pair<std::string, std::string>> const& settings);
  Communicator(Communicator const&) = delete;
  Communicator& operator=(Communicator const&) = delete;
  ~Communicator() { XGCommunicatorFinalize(); }

  bool IsDistributed() const { return XGCommunicatorIsDistributed() != 0; }
  bool IsFirst() const { return XGCommunicatorGetRank() == 0; }
};

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_XGBOOST_C_H_
