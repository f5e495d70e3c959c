// Decides between bins in core and in pages on a device, and makes pages.
#include "matrix/paged_builder_cuda.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/message.h"
#include "core/fixed_point.h"
#include "core/row_slice.h"
#include "cuda/array_download.h"
#include "cuda/device.h"
#include "matrix/matrix_builder_cuda.h"
#include "matrix/matrix_cuda.h"
#include "matrix/paged_bins_cuda.h"
#include "page/memory_policy.h"
#include "quantile/quantile_policy.h"
#include "xgbgpu/array_source.h"

namespace xgbgpu::cuda {

namespace {

/// Pinned memory, which the device copies at the bus's full speed.
class PinnedPages final : public PageMemory {
 public:
  void* Allocate(std::size_t bytes) override {
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, bytes, cudaHostAllocPortable) == cudaSuccess) return memory;
    cudaGetLastError();
    return nullptr;
  }
  void Free(void* memory) noexcept override { cudaFreeHost(memory); }
};

/// Rows of an array, numbered from 0.
class ArrayWindow final : public RowSource {
 public:
  ArrayWindow(RowSource const& whole, DenseValues const& values, std::uint64_t rows, int threads)
      : whole_{whole}, values_{values}, rows_{rows}, threads_{threads} {}
  std::uint64_t rows() const override { return rows_; }
  FeatureIndex features() const override { return whole_.features(); }
  Span<std::uint8_t const> categorical() const override { return whole_.categorical(); }
  std::optional<DenseValues> dense() const override { return values_; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    ForEachBatchOf({values_, 0, rows_}, features(), threads_, visit);
  }

 private:
  RowSource const& whole_;
  DenseValues values_;
  std::uint64_t rows_;
  int threads_;
};

/// Consecutive rows of a batch, numbered from 0.
class BatchRows final : public RowSource {
 public:
  BatchRows(RowSource const& whole, RowBatch const& batch, std::uint64_t first, std::uint64_t n)
      : whole_{whole}, rows_{0, batch.offsets.subspan(first, n + 1), batch.entries} {}
  std::uint64_t rows() const override { return rows_.rows(); }
  FeatureIndex features() const override { return whole_.features(); }
  Span<std::uint8_t const> categorical() const override { return whole_.categorical(); }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override { visit(rows_); }

 private:
  RowSource const& whole_;
  RowBatch rows_;
};

/// Calls visit(rows, first row) for consecutive rows of the source, at most `most_rows` at a time. Reads and cuts
/// arrays and batches once. A visit has rows of one array or batch only.
void ForEachWindow(RowSource const& source, std::uint64_t most_rows, int threads,
                   std::function<void(RowSource const&, std::uint64_t)> const& visit) {
  if (source.arrays()) {
    source.ForEachArray([&](ArrayBatch const& array) {
      for (std::uint64_t first = 0; first < array.rows; first += most_rows) {
        DenseValues const values = FromRow(array.values, first, source.features());
        visit(ArrayWindow{source, values, std::min(most_rows, array.rows - first), threads}, array.first_row + first);
      }
    });
    return;
  }
  source.ForEachBatch([&](RowBatch const& batch) {
    for (std::uint64_t first = 0; first < batch.rows(); first += most_rows) {
      visit(BatchRows{source, batch, first, std::min(most_rows, batch.rows() - first)}, batch.first_row + first);
    }
  });
}

/// Returns the bytes of the bins of all rows.
double BinBytes(DeviceLayout const& layout, LayoutFacts const& facts) {
  auto const rows = static_cast<double>(facts.rows);
  if (layout.dense) return rows * layout.tiles * layout.tile_columns * layout.symbol_bytes;
  double const places = layout.tile.empty() ? sizeof(std::uint64_t) : layout.tiles * sizeof(std::uint32_t);
  return rows * places + static_cast<double>(facts.stored) * layout.symbol_bytes;
}

/// Returns true if a training may take all free memory: there is no limit, or the limit is above the free memory.
bool IsAllThatIsFree(std::size_t bytes, MemoryLimits const& limits) {
  return limits.training_bytes == 0 || bytes < limits.training_bytes;
}

/// The memory of a training in pages, and its division into pages.
struct PagedMemory {
  MemoryLimits const& limits;
  std::size_t bytes;
  DevicePagePolicy const& policy;

  std::uint64_t RowsOf(double of_bytes, double row_bytes) const {
    auto const rows = static_cast<std::uint64_t>(of_bytes / row_bytes);
    return std::max(kRowStep, rows / kRowStep * kRowStep);
  }
  std::uint64_t PageRows(double row_bytes) const {
    double const most =
        std::min(static_cast<double>(policy.page_bytes), policy.page_share * static_cast<double>(bytes));
    return RowsOf(std::max(static_cast<double>(policy.least_page_bytes), most), row_bytes);
  }
  std::uint64_t WindowRows(double row_bytes) const {
    return RowsOf(policy.window_share * static_cast<double>(bytes), row_bytes);
  }
  /// Returns an empty store for the pages of `matrix`.
  std::shared_ptr<PagedBins> NoPages(DeviceMatrix const& matrix) const {
    return std::make_shared<PagedBins>(
        matrix.view, matrix.tiles, policy.kept_share,
        PageStore::Options{HostPageBytes(limits), limits.cache_folder, std::make_shared<PinnedPages>()});
  }

  /// Throws InvalidArgument if the training has no room for its rows, a page in flight, and a level of a small tree.
  void CheckLimit(std::uint64_t rows, double row_bytes, std::uint64_t cells, int device) const {
    double const of_page =
        static_cast<double>(policy.pages_at_once) * row_bytes + static_cast<double>(policy.list_bytes);
    double const least = static_cast<double>(rows * policy.paged_row_bytes) +
                         static_cast<double>(std::min(rows, PageRows(row_bytes))) * of_page +
                         static_cast<double>(policy.least_histograms * cells * sizeof(GradientSum)) +
                         static_cast<double>(policy.least_other_bytes);
    if (least <= static_cast<double>(bytes)) return;
    bool const is_free = IsAllThatIsFree(bytes, limits);
    Throw<InvalidArgument>(
        is_free ? "Of the free memory " : "gpu_memory_limit is ", bytes,
        is_free ? " bytes are for a training, and one on " : " bytes, and a training on ", rows,
        " rows takes more on CUDA device ", device, ", even with its bins in pages: ", policy.paged_row_bytes,
        " bytes for each row (more with weights or several classes), and room for pages and histograms; allowed: ",
        static_cast<std::uint64_t>(least) + 1, " or more");
  }
};

/// Returns the bytes of a training in pages, which leaves some free memory to other programs.
std::size_t BytesOfPaged(std::size_t bytes, MemoryLimits const& limits, DevicePagePolicy const& policy) {
  if (!IsAllThatIsFree(bytes, limits)) return bytes;
  return static_cast<std::size_t>(policy.free_share * static_cast<double>(bytes));
}

double RowBytes(DeviceLayout const& layout, LayoutFacts const& facts) {
  return std::max(1.0, BinBytes(layout, facts) / static_cast<double>(facts.rows));
}

/// Returns a matrix without bins, for a training that may take `bytes` bytes.
std::unique_ptr<DeviceMatrix> MatrixForPages(Cuts const& cuts, DeviceLayout const& layout, LayoutFacts const& facts,
                                             int device, std::size_t bytes) {
  auto result = std::make_unique<DeviceMatrix>(device);
  result->cuts = cuts;
  result->cut_ptr = Upload(&result->arena, "cuts", cuts.ptr.data(), cuts.ptr.size());
  SetDeviceLayout(layout, facts.rows, facts.stored, result.get());
  result->tile_array = Upload(&result->arena, "tiles", result->tiles.data(), result->tiles.size());
  result->view.tile = result->tile_array.data();
  result->training_bytes = bytes;
  return result;
}

/// Adds rows of `part` in pages. Its first row is row first_row of the whole.
void AddPages(DeviceMatrix const& part, std::uint64_t first_row, std::uint64_t page_rows, DeviceArena* arena,
              PagedBins* pages) {
  for (std::uint64_t first = 0; first < part.view.rows; first += page_rows) {
    pages->Add(part, first_row, first, std::min(page_rows, part.view.rows - first), arena);
  }
}

DeviceLayout LayoutOf(DeviceMatrix const& matrix) {
  DeviceMatrixView const& view = matrix.view;
  return {view.dense, matrix.mostly_stored, view.symbol_bytes, view.tile_columns, view.tiles, view.cells, matrix.tiles};
}

/// Returns the facts of the data. The training's limit bounds tiles of dense data; apart from these tiles the layout is
/// independent of the free memory.
LayoutFacts FactsWithin(std::uint64_t rows, std::vector<std::uint64_t> const& present, MemoryLimits const& limits) {
  LayoutFacts facts = FactsOnDevice(rows, present);
  if (limits.training_bytes != 0) facts.room = std::min<std::size_t>(facts.room, limits.training_bytes);
  return facts;
}

}  // namespace

std::size_t LimitInBytes(MemoryLimits const& limits, int sharers) {
  std::size_t const free = CurrentMemory().free / static_cast<std::size_t>(sharers);
  return limits.training_bytes == 0 ? free : std::min(free, static_cast<std::size_t>(limits.training_bytes));
}

std::unique_ptr<DeviceMatrix> MakePages(RowSource const& rows, Cuts const& cuts, DeviceLayout layout,
                                        LayoutFacts const& own, BuildOptions const& options, MemoryLimits const& limits,
                                        std::size_t bytes, DevicePagePolicy const& policy) {
  PagedMemory const memory{limits, BytesOfPaged(bytes, limits, policy), policy};
  double const row_bytes = RowBytes(layout, own);
  memory.CheckLimit(own.rows, row_bytes, layout.cells, options.device);
  std::uint64_t const page_rows = memory.PageRows(row_bytes);
  // Dense bins are made for several pages together. Sparse bins need more memory in between.
  std::uint64_t const in_window =
      layout.dense ? std::max<std::uint64_t>(1, memory.WindowRows(row_bytes) / page_rows) : 1;
  auto result = MatrixForPages(cuts, layout, own, options.device, memory.bytes);
  auto const pages = memory.NoPages(*result);
  DeviceArena arena{"Quantising the matrix on the GPU"};
  std::optional<KeyColumns> no_columns;
  bool const complete = own.stored == own.rows * rows.features();
  ForEachWindow(rows, page_rows * in_window, options.threads, [&](RowSource const& window, std::uint64_t first_row) {
    MatrixBuilder builder{window, cuts, options, &arena};
    std::optional<std::uint64_t> stored;
    if (complete) stored = window.rows() * rows.features();
    builder.SetLayout(layout, stored);
    if (!builder.Bin(&no_columns, std::nullopt, bytes)) {
      Throw<OutOfDeviceMemory>(
          "Quantising the matrix on CUDA device ", options.device, " takes more than the ", bytes,
          " bytes that it may take there, for a page of ", window.rows(), " rows of ", rows.features(),
          " columns; possible: ",
          IsAllThatIsFree(bytes, limits) ? "free some memory of the device" : "a larger gpu_memory_limit");
    }
    AddPages(*builder.Finish(), first_row, page_rows, &arena, pages.get());
  });
  result->pages = pages;
  return result;
}

std::shared_ptr<DeviceMatrix const> MatrixWithin(std::shared_ptr<DeviceMatrix const> matrix, MemoryLimits const& limits,
                                                 DevicePagePolicy const& policy) {
  DeviceLayout const layout = LayoutOf(*matrix);
  LayoutFacts facts{};
  facts.rows = matrix->view.rows;
  facts.stored = matrix->stored;
  // The matrix exists already, so a limit is compared with the whole training, not with the free memory beside the
  // matrix.
  std::size_t const bytes = limits.training_bytes != 0 ? static_cast<std::size_t>(limits.training_bytes)
                                                       : BytesOfPaged(CurrentMemory().free, limits, policy);
  bool const may_stay = limits.training_bytes == 0 || InCoreBytes(layout, facts, policy) <= bytes;
  if (matrix->pages == nullptr && may_stay) return matrix;
  PagedMemory const memory{limits, bytes, policy};
  memory.CheckLimit(facts.rows, RowBytes(layout, facts), layout.cells, matrix->device);
  std::shared_ptr<DeviceMatrix> const result = MatrixForPages(matrix->cuts, layout, facts, matrix->device, bytes);
  if (matrix->pages != nullptr) {  // pages use the cuts and tiles of the matrix they were made with
    result->pages = std::shared_ptr<PagedBins const>{matrix, matrix->pages.get()};
    return result;
  }
  auto const pages = memory.NoPages(*result);
  DeviceArena arena{"Moving bins to pages"};
  AddPages(*matrix, 0, memory.PageRows(RowBytes(layout, facts)), &arena, pages.get());
  result->pages = pages;
  return result;
}

std::size_t InCoreBytes(DeviceLayout const& layout, LayoutFacts const& facts, DevicePagePolicy const& policy) {
  double const bins = BinBytes(layout, facts);
  double beside_bins = layout.dense ? static_cast<double>(policy.copies) * bins : 0;
  if (layout.tiles > policy.most_copied_tiles) {
    beside_bins = std::min(beside_bins, static_cast<double>(policy.histograms * layout.cells * sizeof(GradientSum)));
  }
  return static_cast<std::size_t>(bins + beside_bins +
                                  static_cast<double>(facts.rows) * static_cast<double>(policy.row_bytes)) +
         policy.other_bytes;
}

std::unique_ptr<DeviceMatrix> BuildMatrixWithin(RowSource const& source, CutRequest const& wanted,
                                                BuildOptions const& options, MemoryLimits const& limits,
                                                DevicePagePolicy const& policy) {
  std::size_t const limit = LimitInBytes(limits);
  BuildOptions within = options;
  if (limits.training_bytes != 0) within.memory_bytes = std::max(limit / 2, QuantilePolicy{}.least_bytes);
  std::size_t const budget = MemoryBudget(within);
  DeviceArena arena{"Quantising the matrix on the GPU"};
  Quantiles quantiles = FindQuantiles(source, wanted, within, &arena);
  CheckShape(source);
  LayoutFacts const facts = FactsWithin(source.rows(), quantiles.present, limits);
  DeviceLayout layout = ChooseDeviceLayout(quantiles.cuts, facts);
  if (InCoreBytes(layout, facts, policy) <= limit) {
    return BinInCore(source, std::move(quantiles), within, budget, &arena);
  }
  quantiles.columns.reset();
  return MakePages(source, quantiles.cuts, std::move(layout), facts, options, limits, limit, policy);
}

std::unique_ptr<DeviceMatrix> QuantiseMatrixWithin(RowSource const& source, Cuts cuts, BuildOptions const& options,
                                                   MemoryLimits const& limits, DevicePagePolicy const& policy) {
  std::size_t const limit = LimitInBytes(limits);
  CheckShape(source);
  host::RowSizes sizes = host::MeasureRows(source, options.threads);
  LayoutFacts const facts = FactsWithin(source.rows(), sizes.column, limits);
  DeviceLayout layout = ChooseDeviceLayout(cuts, facts);
  if (InCoreBytes(layout, facts, policy) <= limit) {
    sizes = {};
    return QuantiseMatrix(source, std::move(cuts), options);
  }
  return MakePages(source, cuts, std::move(layout), facts, options, limits, limit, policy);
}

}  // namespace xgbgpu::cuda
