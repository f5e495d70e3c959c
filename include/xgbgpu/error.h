/// Exceptions of the engine. It never prints, exits or aborts; plugin/errors/boundary.h turns these into XGBoostError.
#ifndef XGBGPU_ERROR_H_
#define XGBGPU_ERROR_H_

#include <stdexcept>
#include <string>

#include "xgbgpu/api.h"

namespace xgbgpu {

/// Base of everything the engine throws on purpose.
class XGBGPU_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A parameter or an input is outside what is allowed. The text names it, its value and the choices.
class XGBGPU_API InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A correct request that this build, backend or version cannot serve. The text says what can.
class XGBGPU_API Unsupported : public Error {
 public:
  using Error::Error;
};

/// A CUDA device failed. The text says what was being done and what can be tried; nothing has changed by the call.
class XGBGPU_API DeviceError : public Error {
 public:
  using Error::Error;
};

/// Device memory is short. The text says what was needed, for what, and what is free.
class XGBGPU_API OutOfDeviceMemory : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

}  // namespace xgbgpu

#endif  // XGBGPU_ERROR_H_
