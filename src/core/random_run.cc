// Fills runs of random blocks with the vector unit.
#include "core/random_run.h"

namespace xgbgpu {

namespace {

// Inside this file: the compiler would show the function that chooses between its versions, hidden symbols or not.
XGBGPU_VECTOR void Fill(RandomStream const& stream, std::uint32_t first, std::uint32_t* words) {
  for (int i = 0; i < kRandomRun; ++i) {
    RandomBlock const block = stream.Block(first + static_cast<std::uint32_t>(i));
    for (int w = 0; w < 4; ++w) words[4 * i + w] = block.word[w];
  }
}

}  // namespace

void FillRandom(RandomStream const& stream, std::uint32_t first, std::uint32_t* words) { Fill(stream, first, words); }

}  // namespace xgbgpu
