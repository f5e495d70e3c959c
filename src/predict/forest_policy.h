/// Tuning numbers of prediction with a forest on a multiprocessor.
#ifndef XGBGPU_PREDICT_FOREST_POLICY_H_
#define XGBGPU_PREDICT_FOREST_POLICY_H_

#include <cstddef>
#include <cstdint>

namespace xgbgpu {

struct ForestPolicy {
  /// Rows (and threads) of a block, the best first: with more rows each tree is read from L2 less often.
  std::uint32_t block_rows[4]{512, 256, 128, 64};
  /// Most bytes of a chunk of trees in shared memory: four trees of 511 nodes. One of two buffers is filled during the
  /// walk through the other. A larger tree stays in device memory.
  std::size_t chunk_bytes{16 << 10};
  /// Least number of blocks of one multiprocessor, while there is a choice: one block computes while another waits for
  /// its rows.
  std::size_t resident{2};
  /// Shared memory that the system takes for each block.
  std::size_t block_overhead{1 << 10};
  /// Rows of a block whose values stay in device memory, because 64 rows do not fit shared memory.
  std::uint32_t unstaged_rows{256};
  /// Approximate bytes that a tree reads of an unstaged row: eight sectors. Wide rows are staged for many trees only.
  std::size_t tree_bytes{256};
};

/// Symmetric trees: a thread has four rows and reads each test once. A block of 512 rows of 28 columns leaves room for
/// another. The tests and leaves of 15 trees of 8 levels are a chunk. A tree reads one value at each of about eight
/// levels.
constexpr ForestPolicy kLevelForestPolicy{{1024, 512, 256, 128}, 16 << 10, 2, 1 << 10, 512, 32};

/// Most trees of a chunk: one for each lane of the search for the chunk's end.
constexpr std::uint32_t kMostChunkTrees = 32;

/// The division of rows and memory in a launch.
struct ForestPlan {
  std::uint32_t block_rows;
  std::uint32_t columns;      ///< columns of each row in shared memory
  bool staged;                ///< false: values stay in device memory
  std::uint32_t chunk_words;  ///< words of one buffer
  std::uint32_t buffers;      ///< 1 or 2
  std::size_t bytes;          ///< shared memory of a block

  constexpr std::size_t row_bytes() const { return staged ? std::size_t{block_rows} * columns * sizeof(float) : 0; }
};

/// The facts that decide on a plan. Words are of 8 bytes.
struct ForestLoad {
  std::uint64_t rows;
  std::uint32_t columns;  ///< most tested features
  std::uint64_t trees;
  std::uint64_t words;  ///< words of the trees
  int processors;
  std::size_t block_bytes;      ///< most shared memory of one block
  std::size_t processor_bytes;  ///< shared memory of one multiprocessor
};

/// Returns the plan with the most rows a block for which every multiprocessor has `resident` blocks, in its memory and
/// in the data; otherwise the plan with the fewest rows that fit. If none fit, or if staging does not pay, values stay
/// in device memory.
constexpr ForestPlan MakeForestPlan(ForestLoad const& load, ForestPolicy const& policy = {}) {
  constexpr std::size_t kWord = 8;
  std::size_t const wanted = load.words * kWord;
  std::size_t const chunk = wanted < policy.chunk_bytes ? wanted : policy.chunk_bytes;
  ForestPlan plan{policy.unstaged_rows,
                  load.columns,
                  false,
                  static_cast<std::uint32_t>(chunk / kWord),
                  wanted <= policy.chunk_bytes && load.trees <= kMostChunkTrees ? 1U : 2U,
                  0};
  std::size_t const chunks = plan.buffers * chunk;
  bool const worth = load.columns * sizeof(float) <= load.trees * policy.tree_bytes;
  for (std::uint32_t const rows : policy.block_rows) {
    std::size_t const bytes = std::size_t{rows} * load.columns * sizeof(float) + chunks;
    if (!worth || bytes > load.block_bytes) continue;
    if (plan.staged) {
      // A smaller block is better only if the larger one leaves multiprocessors with too few blocks.
      std::size_t const resident = load.processor_bytes / (plan.bytes + policy.block_overhead);
      std::uint64_t const blocks = load.rows / plan.block_rows;
      if (resident >= policy.resident && blocks >= policy.resident * static_cast<std::uint64_t>(load.processors)) break;
    }
    plan.staged = true;
    plan.block_rows = rows;
    plan.bytes = bytes;
  }
  if (!plan.staged) plan.bytes = chunks;
  return plan;
}

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_FOREST_POLICY_H_
