/// A word in memory that processes of one host share, for a single notice.
#ifndef XGBGPU_COLLECTIVE_HOST_WORD_H_
#define XGBGPU_COLLECTIVE_HOST_WORD_H_

#include <cstdint>
#include <string>

namespace xgbgpu {

/// Processes share the word if they open it by the same name before one of them closes the name. Without shared memory
/// each process has its own word. Thread-safe.
class HostWord {
 public:
  /// Opens the word of this name, or makes it with the value 0. A name serves one purpose only.
  explicit HostWord(std::string const& name);
  ~HostWord();
  HostWord(HostWord const&) = delete;
  HostWord& operator=(HostWord const&) = delete;

  /// Closes the name: no process can open the word by it any more. Called after all processes have opened it.
  void CloseName();
  void Set() { __atomic_store_n(word_, 1U, __ATOMIC_RELEASE); }
  bool IsSet() const { return __atomic_load_n(word_, __ATOMIC_ACQUIRE) != 0; }

 private:
  std::string path_;
  std::uint32_t own_{0};
  std::uint32_t* word_{&own_};
};

}  // namespace xgbgpu

#endif  // XGBGPU_COLLECTIVE_HOST_WORD_H_
