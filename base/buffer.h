/// Owning array without initialisation: the stage that fills a big array writes it in parallel.
#ifndef XGBGPU_BASE_BUFFER_H_
#define XGBGPU_BASE_BUFFER_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "xgbgpu/span.h"

namespace xgbgpu {

/// Move-only and 64-byte aligned. The contents are undefined until written. Throws std::bad_alloc.
template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : size_{size} {
    if (size != 0) {
      data_.reset(static_cast<T*>(::operator new(size * sizeof(T), kAlignment)));
      // Rows are read in random order. Huge pages keep their addresses in the TLB. The hint may fail without harm.
      if (bytes() >= kHugePage) AdviseHugePages();
    }
  }

  /// Grows the buffer to at least `size` elements. The contents are lost if it grows.
  void Reserve(std::size_t size) {
    if (size > size_) {
      *this = Buffer{};  // release first: the peak is one buffer, not two
      *this = Buffer{size};
    }
  }

  T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  T& operator[](std::size_t i) const { return data_.get()[i]; }
  Span<T> span() const { return {data(), size_}; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  static constexpr std::size_t kHugePage = std::size_t{1} << 21;

  void AdviseHugePages() {
    constexpr std::uintptr_t kPage = 4096;
    auto const begin = (reinterpret_cast<std::uintptr_t>(data()) + kPage - 1) / kPage * kPage;
    auto const end = reinterpret_cast<std::uintptr_t>(data() + size_) / kPage * kPage;
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  }
  struct Free {
    void operator()(T* p) const { ::operator delete(p, kAlignment); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_{0};
};

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_BUFFER_H_
