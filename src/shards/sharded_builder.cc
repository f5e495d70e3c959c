// Grows one tree on several CUDA devices of this process, with a thread for each.
#include "shards/sharded_builder.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "core/row_slice.h"
#include "cuda/device.h"
#include "objective/leaf_quantile.h"
#include "shards/deal_rows.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

std::vector<std::uint64_t> FirstRows(std::vector<std::shared_ptr<DeviceMatrix const>> const& shards) {
  std::vector<std::uint64_t> first{0};
  for (auto const& shard : shards) first.push_back(first.back() + shard->view.rows);
  return first;
}

std::vector<int> OrdinalsOf(std::vector<std::shared_ptr<DeviceMatrix const>> const& shards) {
  std::vector<int> ordinals;
  for (auto const& shard : shards) ordinals.push_back(shard->device);
  return ordinals;
}

std::mutex turn_mutex;
ShardedBuilder const* last_in_turn = nullptr;  ///< the only builder with trees under way; nullptr: unknown

}  // namespace

/// While this exists, no other builder enqueues or finishes trees, and no tree of another builder is under way on the
/// devices. Kernels that wait for their counterparts on other devices fill a device. Kernels of two builders would wait
/// for counterparts that cannot start.
class ShardedBuilder::Turn {
 public:
  explicit Turn(ShardedBuilder const& builder) : lock_{turn_mutex} {
    if (last_in_turn != &builder) {
      for (int const device : builder.devices_) {
        DeviceScope const scope{device};
        CheckCuda(cudaDeviceSynchronize(), "waiting for another training");
      }
    }
    last_in_turn = &builder;
  }
  /// Its trees are over.
  static void Leave(ShardedBuilder const& builder) {
    std::lock_guard<std::mutex> const lock{turn_mutex};
    if (last_in_turn == &builder) last_in_turn = nullptr;
  }

 private:
  std::lock_guard<std::mutex> lock_;
};

/// Rows that know the builder that grows trees on them.
class ShardedBuilder::Rows final : public ShardedRows {
 public:
  template <typename... Args>
  explicit Rows(ShardedBuilder* builder, Args&&... args)
      : ShardedRows{std::forward<Args>(args)...}, builder_{*builder} {}

  void AdaptLeaves(Tree* tree, std::uint32_t output) override { builder_.AdaptLeaves(tree, this, output); }
  void AddLeafValues(Span<float const> node_values, std::uint32_t output) override {
    builder_.AddLeafValues(node_values, this, output);
  }
  void AddVectorLeaves(VectorTree const& tree) override { builder_.AddVectorLeaves(tree, this); }

 private:
  ResidentRounds& rounds() override { return builder_; }
  void Begin(TrainParams const& params, std::vector<RoundTree> trees) override {
    builder_.Begin(params, this, std::move(trees));
  }
  Tree FinishNext() override { return builder_.FinishNext(); }
  VectorTree MakeVectors(TrainParams const& params, TreeKey key) override {
    return builder_.GrowVectors(params, this, key);
  }

  ShardedBuilder& builder_;
};

ShardedBuilder::ShardedBuilder(std::vector<std::shared_ptr<DeviceMatrix const>> const& shards, int threads,
                               double patience, std::size_t least_shared_bytes)
    : first_{FirstRows(shards)},
      finished_{first_.back()},
      devices_{OrdinalsOf(shards)},
      peers_{devices_, patience},
      threads_{static_cast<int>(shards.size()), [this] { peers_.Abort(); }},
      builders_(shards.size()) {
  int const own_threads = std::max(1, threads / static_cast<int>(shards.size()));
  threads_.Run([&](int shard) {
    auto const s = static_cast<std::size_t>(shard);
    cuda::DeviceShard const place{
        peers_.of(shard), {threads_.of(shard), first_[s], first_.back()}, RowsOf(s), least_shared_bytes};
    builders_[s] = std::make_unique<CudaTreeBuilder>(shards[s], place, own_threads);
  });
}

ShardedBuilder::~ShardedBuilder() {
  Abandon();
  Turn::Leave(*this);
}

/// Calls work(s) for all shards at the same time. If one fails, all trees that were begun are given up.
void ShardedBuilder::RunAll(std::function<void(std::size_t)> const& work) {
  try {
    threads_.Run([&](int shard) { work(static_cast<std::size_t>(shard)); });
  } catch (...) {
    for (auto const& builder : builders_) builder->Abandon();
    peers_.Reset();
    throw;
  }
}

Tree ShardedBuilder::Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  finished_.Forget();
  finished_.CheckGradients(gradients.size());
  std::vector<Tree> trees(builders_.size());
  Turn const turn{*this};
  RunAll([&](std::size_t s) { trees[s] = builders_[s]->Grow(params, gradients.subspan(first_[s], RowsOf(s)), key); });
  finished_.Set(trees[0].size());
  return std::move(trees[0]);
}

/// Calls grow(builder, number) for all shards at the same time.
template <typename F>
VectorTree ShardedBuilder::GrowVectorsInAll(F&& grow) {
  finished_.Forget();
  std::vector<VectorTree> trees(builders_.size());
  Turn const turn{*this};
  RunAll([&](std::size_t s) { trees[s] = grow(builders_[s].get(), s); });
  finished_.Set(trees[0].shape.size());
  return std::move(trees[0]);
}

VectorTree ShardedBuilder::GrowVectors(TrainParams const& params, Span<GradientPair const> gradients,
                                       std::uint32_t outputs, TreeKey key) {
  finished_.CheckGradients(gradients.size(), outputs);
  return GrowVectorsInAll([&](CudaTreeBuilder* builder, std::size_t s) {
    return builder->GrowVectors(params, gradients.subspan(first_[s] * outputs, RowsOf(s) * outputs), outputs, key);
  });
}

VectorTree ShardedBuilder::GrowVectors(TrainParams const& params, ShardedRows* rows, TreeKey key) {
  return GrowVectorsInAll(
      [&](CudaTreeBuilder* builder, std::size_t s) { return builder->GrowVectors(params, rows->shard(s), key); });
}

void ShardedBuilder::AddVectorLeaves(VectorTree const& tree, ShardedRows* rows) {
  finished_.CheckNodes("AddVectorLeaves", tree.shape.size());
  for (std::size_t s = 0; s < builders_.size(); ++s) builders_[s]->AddVectorLeaves(tree, rows->shard(s));
}

void ShardedBuilder::LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const {
  finished_.CheckPositions(positions, sampled_out);
  for (std::size_t s = 0; s < builders_.size(); ++s) {
    builders_[s]->LeafPositions(positions.subspan(first_[s], RowsOf(s)),
                                sampled_out.empty() ? sampled_out : sampled_out.subspan(first_[s], RowsOf(s)));
  }
}

void ShardedBuilder::AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const {
  finished_.CheckNodes("AddLeafValues", node_values.size());
  for (std::size_t s = 0; s < builders_.size(); ++s) {
    builders_[s]->AddLeafValues(node_values, margins + first_[s] * stride, stride);
  }
}

void ShardedBuilder::Trace(std::shared_ptr<TraceFile> file) {
  Abandon();
  for (std::size_t s = 0; s < builders_.size(); ++s) {
    bool const own = file != nullptr && s != 0;
    builders_[s]->Trace(own ? std::make_shared<TraceFile>(file->name() + ".gpu" + std::to_string(s), file.get())
                            : file);
  }
}

MemoryReport ShardedBuilder::memory() const {
  MemoryReport report;
  for (auto const& builder : builders_) {
    MemoryReport const own = builder->memory();
    report.bytes += own.bytes;
    report.peak_bytes += own.peak_bytes;
    report.pages.count += own.pages.count;
    report.pages.on_device += own.pages.on_device;
    report.pages.memory_bytes += own.pages.memory_bytes;
    report.pages.file_bytes += own.pages.file_bytes;
    report.pages.copied_bytes += own.pages.copied_bytes;
    for (auto const& part : own.parts) {
      auto const same = [&](MemoryReport::Part const& p) { return p.name == part.name; };
      auto const found = std::find_if(report.parts.begin(), report.parts.end(), same);
      found == report.parts.end() ? report.parts.push_back(part) : void(found->bytes += part.bytes);
    }
  }
  return report;
}

std::uint64_t ShardedBuilder::memory_version() const {
  std::uint64_t changes = 0;
  for (auto const& builder : builders_) changes += builder->memory_version();
  return changes;
}

std::unique_ptr<ResidentRows> ShardedBuilder::MakeResidentRows(std::uint32_t outputs) {
  ShardedRows::Shards shards;
  for (auto const& builder : builders_) shards.push_back(builder->MakeRows(outputs));
  auto const run_all = [this](std::function<void(std::size_t)> const& work) { RunAll(work); };
  return std::make_unique<Rows>(this, std::move(shards), run_all, [this, outputs] {
    return builders_[0]->MakeRowsOfOthers(first_.back(), outputs, CudaBuilder::RowUse::kTrained);
  });
}

std::unique_ptr<ResidentRows> ShardedBuilder::MakeResidentRows(RowSource const& source, std::uint32_t outputs) {
  std::vector<std::uint64_t> const first = DealRows(source.rows(), builders_.size());
  ShardedRows::Shards shards(first.size() - 1);
  RunAll([&](std::size_t s) {
    if (s >= shards.size()) return;  // rows are few
    RowSlice const own{source, first[s], first[s + 1] - first[s]};
    shards[s] = builders_[s]->MakeRows(own, outputs);
  });
  std::uint64_t const rows = source.rows();
  auto const run_all = [this](std::function<void(std::size_t)> const& work) { RunAll(work); };
  return std::make_unique<Rows>(this, std::move(shards), run_all, [this, rows, outputs] {
    return builders_[0]->MakeRowsOfOthers(rows, outputs, CudaBuilder::RowUse::kEvaluated);
  });
}

void ShardedBuilder::KeepTree(Tree const& tree, std::uint32_t output) {
  try {
    for (auto const& builder : builders_) builder->KeepTree(tree, output);
  } catch (...) {
    ForgetTrees();  // none is kept by some devices alone
    throw;
  }
}

void ShardedBuilder::ForgetTrees() {
  for (auto const& builder : builders_) builder->ForgetTrees();
}

void ShardedBuilder::Begin(TrainParams const& params, ShardedRows* rows, std::vector<RoundTree> trees) {
  Abandon();
  round_ = {params, rows, std::move(trees), 0};
  Turn const turn{*this};
  BeginRest();
}

/// Begins the trees that are not finished. While memory is short on a device, all devices give up speculative margins.
void ShardedBuilder::BeginRest() {
  std::vector<RoundTree> const rest{round_.trees.begin() + static_cast<std::ptrdiff_t>(round_.finished),
                                    round_.trees.end()};
  for (;;) {
    try {
      RunAll([&](std::size_t s) { builders_[s]->Begin(round_.params, round_.rows->shard(s), rest); });
      return;
    } catch (OutOfDeviceMemory const&) {
      if (!GiveUpSpeculative()) throw;
    }
  }
}

Tree ShardedBuilder::FinishNext() {
  finished_.Forget();
  Turn const turn{*this};
  for (;;) {
    try {
      std::vector<Tree> trees(builders_.size());
      RunAll([&](std::size_t s) { trees[s] = builders_[s]->FinishNext(); });
      ++round_.finished;
      finished_.Set(trees[0].size());
      return std::move(trees[0]);
    } catch (OutOfDeviceMemory const&) {
      if (!GiveUpSpeculative()) throw;
      BeginRest();
    }
  }
}

bool ShardedBuilder::GiveUpSpeculative() {
  bool any = false;
  for (std::size_t s = 0; s < builders_.size(); ++s) any = round_.rows->shard(s)->GiveUpSpeculative() || any;
  return any;
}

void ShardedBuilder::Abandon() noexcept {
  finished_.Forget();
  for (auto const& builder : builders_) {
    if (builder != nullptr) builder->Abandon();
  }
  round_ = {};
}

void ShardedBuilder::AdaptLeaves(Tree* tree, ShardedRows* rows, std::uint32_t output) {
  finished_.CheckNodes("AdaptLeaves", tree->size());
  std::vector<NodeIndex const*> positions;
  std::vector<cudaStream_t> streams;
  for (auto const& builder : builders_) {
    positions.push_back(builder->PositionsOnDevice());
    streams.push_back(builder->LastStream());
  }
  rows->QuantileLeaves(output, positions, streams, tree->leaf_value);
  CheckQuantiles(tree->leaf_value);
}

void ShardedBuilder::AddLeafValues(Span<float const> node_values, ShardedRows* rows, std::uint32_t output) {
  finished_.CheckNodes("AddLeafValues", node_values.size());
  for (std::size_t s = 0; s < builders_.size(); ++s) {
    builders_[s]->AddLeafValues(node_values, rows->shard(s), output);
  }
}

}  // namespace xgbgpu
