/// Sizes of memory as users write them.
#ifndef XGBGPU_CORE_MEMORY_TEXT_H_
#define XGBGPU_CORE_MEMORY_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace xgbgpu {

/// What TextToBytes reads, for messages.
constexpr char kMemoryTexts[] =
    "0, or 1 byte to 1024TiB: bytes, or a number with KB, MB, GB, TB, or with KiB, MiB, GiB, TiB (K or Ki means KiB, "
    "and "
    "so on), such as 16GiB or 1.5 GB";

/// Returns the bytes that `text` stands for, rounded down; nothing if it is not in kMemoryTexts. Units may be in small
/// letters; that of bytes alone is B or nothing. A size above 0 never becomes 0.
std::optional<std::uint64_t> TextToBytes(std::string const& text);

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_MEMORY_TEXT_H_
