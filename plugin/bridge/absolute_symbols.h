/// Writes a shared object of absolute symbols: a table of names and addresses, in the dynamic linker's form.
#ifndef XGBGPU_PLUGIN_BRIDGE_ABSOLUTE_SYMBOLS_H_
#define XGBGPU_PLUGIN_BRIDGE_ABSOLUTE_SYMBOLS_H_

#include <cstdint>
#include <map>
#include <string>

namespace xgbgpu::bridge {

/// Returns the bytes of a shared object with this soname, in which each name has its address wherever the object is
/// loaded. It has no code. glibc 2.28 is the first that leaves absolute symbols where they are.
std::string AbsoluteSymbols(std::string const& soname, std::map<std::string, std::uint64_t> const& addresses);

}  // namespace xgbgpu::bridge

#endif  // XGBGPU_PLUGIN_BRIDGE_ABSOLUTE_SYMBOLS_H_
