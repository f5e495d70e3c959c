/// Exceptions of the engine. The engine never prints, exits or aborts.
#ifndef XGBGPU_ERROR_H_
#define XGBGPU_ERROR_H_

#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>

#include "xgbgpu/api.h"

namespace xgbgpu {

/// Base class of the exceptions that the engine throws on purpose, but for OutOfHostMemory.
class XGBGPU_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A parameter or an input is not allowed. The text names it, its value and the choices.
class XGBGPU_API InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// This build, backend or version cannot serve a correct request. The text names an alternative.
class XGBGPU_API Unsupported : public Error {
 public:
  using Error::Error;
};

/// Host memory is short, and the size is known. Takes the place of std::bad_alloc; needs no memory itself.
class XGBGPU_API OutOfHostMemory : public std::bad_alloc {
 public:
  explicit OutOfHostMemory(std::size_t bytes) : bytes_{bytes} {}
  char const* what() const noexcept override { return "out of memory of the host"; }

  std::size_t bytes() const { return bytes_; }      ///< that were asked for
  char const* purpose() const { return purpose_; }  ///< the purpose of the memory; null: unknown
  /// Sets the purpose if it is unknown, so that the innermost scope decides. `purpose` must be a literal.
  void SetPurpose(char const* purpose) {
    if (purpose_ == nullptr) purpose_ = purpose;
  }

 private:
  std::size_t bytes_;
  char const* purpose_{nullptr};
};

/// A CUDA device failed. The text names the operation and a remedy. The call has changed nothing.
class XGBGPU_API DeviceError : public Error {
 public:
  using Error::Error;
};

/// Device memory is short. The text names the size, the purpose and the free memory.
class XGBGPU_API OutOfDeviceMemory : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

}  // namespace xgbgpu

#endif  // XGBGPU_ERROR_H_
