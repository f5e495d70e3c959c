/// Hashes of 64 bits that are equal in all processes and on all machines.
#ifndef XGBGPU_BASE_HASH_H_
#define XGBGPU_BASE_HASH_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#define XXH_INLINE_ALL  // no library to link
#include <xxhash.h>

namespace xgbgpu {

/// Returns a hash of `size` bytes. It detects accidents; it is no defence against intent.
/// From  Collet, "XXH3", in xxHash 0.8; no later version changes its values
inline std::uint64_t HashBytes(void const* bytes, std::size_t size) { return XXH3_64bits(bytes, size); }

inline std::uint64_t HashText(std::string_view text) { return HashBytes(text.data(), text.size()); }

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_HASH_H_
