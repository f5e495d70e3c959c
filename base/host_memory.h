/// The error of host memory that could not be had: it knows how much was asked for, and what for.
#ifndef XGBGPU_BASE_HOST_MEMORY_H_
#define XGBGPU_BASE_HOST_MEMORY_H_

#include <cstddef>
#include <new>

#include "xgbgpu/api.h"

namespace xgbgpu {

/// Is thrown in place of std::bad_alloc where the size is known. Needs no memory itself.
class XGBGPU_API OutOfHostMemory : public std::bad_alloc {
 public:
  explicit OutOfHostMemory(std::size_t bytes) : bytes_{bytes} {}
  char const* what() const noexcept override { return "out of memory of the host"; }

  std::size_t bytes() const { return bytes_; }
  char const* purpose() const { return purpose_; }  ///< null: unknown
  /// Sets the purpose if it is unknown, so that the innermost scope decides. `purpose` must be a literal.
  void SetPurpose(char const* purpose) {
    if (purpose_ == nullptr) purpose_ = purpose;
  }

 private:
  std::size_t bytes_;
  char const* purpose_{nullptr};
};

/// Calls work(), which needs memory for `purpose`: an OutOfHostMemory that leaves it says so.
template <typename F>
auto WithMemoryFor(char const* purpose, F&& work) -> decltype(work()) {
  try {
    return work();
  } catch (OutOfHostMemory& e) {
    e.SetPurpose(purpose);
    throw;
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_HOST_MEMORY_H_
