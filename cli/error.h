/// The error that ends the program.
#ifndef XGBGPU_CLI_ERROR_H_
#define XGBGPU_CLI_ERROR_H_

#include <stdexcept>
#include <string>

namespace xgbgpu::cli {

/// A mistake of the user or a refusal of the machine, in words for the user. `main` prints it and exits with status 1.
class Error : public std::runtime_error {
 public:
  explicit Error(std::string const& message) : std::runtime_error(message) {}
};

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_ERROR_H_
