/// A word that processes of one host share: one of them tells the others something once.
#ifndef XGBGPU_COLLECTIVE_HOST_WORD_H_
#define XGBGPU_COLLECTIVE_HOST_WORD_H_

#include <cstdint>
#include <string>

namespace xgbgpu {

/// Processes share the word if they have opened it by the same name, before one of them closed the name. Where there is
/// no shared memory, each has a word of its own. Threads may use it at the same time.
class HostWord {
 public:
  /// Opens the word of this name, which nobody has used before for another purpose, or makes it. It is not set then.
  explicit HostWord(std::string const& name);
  ~HostWord();
  HostWord(HostWord const&) = delete;
  HostWord& operator=(HostWord const&) = delete;

  /// From now on nobody else opens it. To be called when all have.
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
