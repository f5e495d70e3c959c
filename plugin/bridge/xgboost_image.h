/// An XGBoost that the process has loaded: file, version, and segments with their access rights.
#ifndef XGBGPU_PLUGIN_BRIDGE_XGBOOST_IMAGE_H_
#define XGBGPU_PLUGIN_BRIDGE_XGBOOST_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace xgbgpu::bridge {

struct DlCloser {
  void operator()(void* handle) const;
};
/// A handle of dlopen.
using DlHandle = std::unique_ptr<void, DlCloser>;

/// A part of a library in memory.
struct Segment {
  std::uintptr_t begin;
  std::uintptr_t end;
  bool is_readable;
  bool is_executable;
};

struct XGBoostImage {
  DlHandle handle;
  std::string path;
  int version[3];
  std::uintptr_t version_function;  // address of XGBoostVersion
  std::vector<Segment> segments;

  /// "XGBoost 3.4.1 in '/usr/lib/libxgboost.so'"
  std::string Described() const;
  std::string Release() const;
  std::string Series() const;
  bool IsReadable(std::uintptr_t address, std::size_t size) const;
  bool IsCode(std::uintptr_t address) const;
};

/// Returns the XGBoost that dlopen knows by `path`; with null, the only one of the process. Throws BridgeError if there
/// is none, or if there are several.
XGBoostImage FindXGBoost(char const* path);

/// Throws BridgeError if the C library cannot bind absolute symbols. `glibc`: its version; null in another C library.
void CheckCLibrary(char const* glibc);

}  // namespace xgbgpu::bridge

#endif  // XGBGPU_PLUGIN_BRIDGE_XGBOOST_IMAGE_H_
