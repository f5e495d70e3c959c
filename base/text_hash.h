/// A hash of texts that is the same in all processes, on any machine.
#ifndef XGBGPU_BASE_TEXT_HASH_H_
#define XGBGPU_BASE_TEXT_HASH_H_

#include <cstdint>
#include <string_view>

namespace xgbgpu {

/// From  Fowler, Noll, Vo: FNV-1a
inline std::uint64_t HashText(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_TEXT_HASH_H_
