// Keeps the first CUDA device busy until standard input ends, as another user of it would. It grows trees, and takes,
// fills and gives back memory, so that kernels and allocations get in the way of a training.

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "cuda/device.h"
#include "support/grow.h"
#include "trees_cuda/equality_case.h"

namespace xgbgpu::testing {
namespace {

bool InputHasEnded() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char text[64];
  return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, text, sizeof(text)) <= 0;
}

void Load() {
  EqualityCase c{901, 60000, 40, 1.0, Values::kContinuous, 256, Loss::kLogistic, {}, 1, {}};
  CaseRows const rows{c};
  auto const matrix = HostMatrix(rows, c.max_bin, 2);
  auto const builder = MakeTreeBuilder(BackendKind::kCuda, *matrix, 2);
  auto const gradients = CaseLoss{c, rows}.Gradients(std::vector<float>(c.rows));
  DeviceArena arena{"The load"};
  Stream const stream;
  for (std::uint32_t round = 0; !InputHasEnded(); ++round) {
    builder->Grow(c.params, gradients, {round, 0});
    DeviceBuffer<char> const buffer{&arena, "memory to fill", (round % 7 + 1) << 24};
    FillBytes(buffer.data(), static_cast<int>(round), buffer.size(), stream, "filling memory");
    stream.Wait("filling memory");
  }
}

}  // namespace
}  // namespace xgbgpu::testing

int main() {
  try {
    xgbgpu::testing::Load();
  } catch (std::exception const& e) {
    std::fprintf(stderr, "load: %s\n", e.what());
    return 1;
  }
  return 0;
}
