// Makes orders of rows: the given order and shuffled orders.
#include "core/fixed_point.h"
#include "core/random.h"
#include "xgbgpu/encode.h"

namespace xgbgpu {

RowOrder GivenOrder(std::uint64_t rows) { return {rows, true, 0, 0, {}}; }

RowOrder ShuffledOrder(std::uint64_t rows, std::uint64_t seed, std::uint32_t number) {
  RowOrder order{rows, false, 0, 0, {}};
  auto const bits = static_cast<std::uint32_t>(CeilLog2(rows));
  order.low_bits = bits / 2;
  order.high_bits = bits - bits / 2;
  RandomStream const stream{seed, RandomPurpose::kRowOrder, number, 0};
  for (std::uint32_t round = 0; round < RowOrder::kRounds; ++round) order.keys[round] = stream.Word(round);
  return order;
}

}  // namespace xgbgpu
