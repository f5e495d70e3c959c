/// The bytes of a file, mapped for reading.
#ifndef XGBGPU_PLUGIN_BRIDGE_MAPPED_FILE_H_
#define XGBGPU_PLUGIN_BRIDGE_MAPPED_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace xgbgpu::bridge {

class MappedFile {
 public:
  /// Throws BridgeError if the file cannot be read.
  explicit MappedFile(std::string const& path);
  ~MappedFile();
  MappedFile(MappedFile const&) = delete;
  MappedFile& operator=(MappedFile const&) = delete;

  std::string_view bytes() const { return {data_, size_}; }

 private:
  char const* data_{nullptr};
  std::size_t size_{0};
};

}  // namespace xgbgpu::bridge

#endif  // XGBGPU_PLUGIN_BRIDGE_MAPPED_FILE_H_
