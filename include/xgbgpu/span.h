/// A view of a contiguous array: std::span for C++17, the language of XGBoost's headers.
#ifndef XGBGPU_SPAN_H_
#define XGBGPU_SPAN_H_

#include <cstddef>
#include <type_traits>
#include <vector>

namespace xgbgpu {

/// Does not own its elements.
template <typename T>
class Span {
 public:
  using value_type = std::remove_cv_t<T>;

  constexpr Span() = default;
  constexpr Span(T* data, std::size_t size) : data_{data}, size_{size} {}

  /// Views a vector. A Span of const also binds to a temporary, which must outlive its use.
  template <typename U, typename = std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>>>
  Span(std::vector<U>& v) : Span{v.data(), v.size()} {}  // NOLINT(google-explicit-constructor)
  template <typename U, typename = std::enable_if_t<std::is_convertible_v<U const (*)[], T (*)[]>>>
  Span(std::vector<U> const& v) : Span{v.data(), v.size()} {}  // NOLINT(google-explicit-constructor)
  template <typename U, typename = std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>>>
  constexpr Span(Span<U> other)  // NOLINT(google-explicit-constructor)
      : Span{other.data(), other.size()} {}

  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](std::size_t i) const { return data_[i]; }
  constexpr T& front() const { return data_[0]; }
  constexpr T& back() const { return data_[size_ - 1]; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  constexpr Span subspan(std::size_t offset, std::size_t count) const { return {data_ + offset, count}; }

 private:
  T* data_{nullptr};
  std::size_t size_{0};
};

}  // namespace xgbgpu

#endif  // XGBGPU_SPAN_H_
