// The histogram kernels against sums on the host, for rows in lists, by paths, and with paths that the kernel tells.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "histogram/histogram_cuda.h"
#include "support/grow.h"

namespace xgbgpu::cuda {
namespace {

/// Each job has a run of rows. Their sizes are `rows_of_jobs`, repeated until there are `jobs`.
struct SumCase {
  char const* name;
  std::vector<std::uint32_t> rows_of_jobs;
  std::uint32_t jobs;
  FeatureIndex features;
  BinIndex bins;
  bool missing{false};
  std::uint32_t unit_rows{128};
  int processors{0};  ///< multiprocessors that are used; 0: all
};

void PrintTo(SumCase const& c, std::ostream* os) { *os << c.name; }

std::vector<SumCase> const kCases{{"OneRow", {1}, 1, 28, 256},
                                  {"TwoRows", {2}, 1, 5, 16, true},
                                  {"OneUnit", {128}, 1, 28, 256},
                                  {"FewUnits", {33 * 128 + 1}, 1, 28, 256},
                                  {"BorderOfUnits", {40 * 128}, 1, 28, 256},
                                  {"AUnitABlock", {264 * 128}, 1, 28, 256},
                                  {"ManyUnits", {100003}, 1, 28, 256, true, 512},
                                  {"FewColumns", {100003}, 1, 3, 256, false, 512},
                                  {"BorderOfBins", {200001}, 1, 28, 40, true, 512},
                                  {"SmallJobs", {1, 5000, 127, 130, 7, 20000, 33, 40001}, 40, 28, 256, true},
                                  {"Tiles", {60001, 12345}, 4, 100, 256},
                                  {"TwoBytes", {50001, 777}, 6, 28, 600, true},
                                  {"ManyBins", {50001, 777}, 6, 3, 2000, true},
                                  {"ManyJobs", {300, 1, 500, 129}, 400, 28, 256, true},
                                  {"ManyRows", {1000000}, 1, 8, 256, false, 512},
                                  {"ManySegmentRows", {2300000}, 1, 8, 256, false, 512, 2},
                                  {"OneProcessor", {5000, 3, 700}, 6, 28, 256, true, 128, 1},
                                  {"TwoProcessors", {5000, 3, 700}, 6, 28, 256, true, 128, 2},
                                  {"ThreeProcessors", {5000, 3, 700}, 6, 100, 256, false, 128, 3},
                                  {"FourProcessors", {5000, 3, 700}, 6, 28, 600, false, 128, 4},
                                  {"FiveProcessors", {5000, 3, 700}, 6, 28, 256, true, 128, 5},
                                  {"AShare", {50003}, 2, 28, 256, true, 512, 33}};

/// Makes random rows, and what kernels read of them. A row has bins and a gradient in either format, and is in a job.
class SumStage {
 public:
  SumStage(SumCase const& c, bool narrow) : c_{c}, limits_{CurrentDeviceLimits()}, narrow_{narrow} {
    if (c.processors != 0) limits_.processors = std::min(limits_.processors, c.processors);
    for (std::uint32_t j = 0; j < c.jobs; ++j) {
      first_row_.push_back(rows_);
      rows_ += c.rows_of_jobs[j % c.rows_of_jobs.size()];
    }
    first_row_.push_back(rows_);
    MakeMatrix();
    MakeGradients();
    LevelState const state{};
    state_ = Upload(&arena_, "state", &state, 1);
    GradientState gradient{};
    gradient.format.narrow = narrow;
    gradient.grad_scale = gradient.hess_scale = kScale;
    gradient_ = Upload(&arena_, "state", &gradient, 1);
    sums_ = {&arena_, "sums", c.jobs * matrix_.view.cells};
    view_ = {matrix_.view, {sums_.data(), matrix_.view.cells}, state_.data(), gradient_.data()};
  }

  std::uint32_t rows() const { return rows_; }
  std::uint32_t first_row(std::uint32_t job) const { return first_row_[job]; }
  std::uint32_t rows(std::uint32_t job) const { return first_row_[job + 1] - first_row_[job]; }
  std::uint32_t Symbol(std::uint32_t row, FeatureIndex f) const { return symbols_[row * std::size_t{c_.features} + f]; }

  /// Sums rows in lists, in a random order.
  void SumLists() {
    std::vector<RowRecord> records(rows_);
    for (std::uint32_t r = 0; r < rows_; ++r) records[r] = {r, narrow_gradients_[r]};
    std::vector<Node> nodes(c_.jobs);
    std::vector<SumJob> jobs;
    std::uint32_t units = 0;
    for (std::uint32_t j = 0; j < c_.jobs; ++j) {
      std::shuffle(records.begin() + first_row(j), records.begin() + first_row(j + 1), random_);
      nodes[j].first_row = first_row(j);
      nodes[j].rows = rows(j);
      nodes[j].list = RowList::kSecond;
      jobs.push_back({static_cast<NodeIndex>(j), static_cast<std::int32_t>(c_.jobs - 1 - j), units});
      units += (rows(j) + c_.unit_rows - 1) / c_.unit_rows;
    }
    auto const on_device = Upload(&arena_, "rows", records.data(), records.size());
    auto const device_nodes = Upload(&arena_, "nodes", nodes.data(), nodes.size());
    auto const device_jobs = Upload(&arena_, "jobs", jobs.data(), jobs.size());
    RowLists lists{};
    lists.lists[1] = on_device.data();
    lists.sum_jobs = device_jobs.data();
    lists.gradients = wide_.data();
    lists.unit_rows = c_.unit_rows;
    Start(c_.jobs, units);
    SumRows(view_, lists, device_nodes.data(), Bounds(), limits_, stream_);
    Compare([](std::uint32_t) { return true; });
  }

  /// Every job sums those of its rows whose path is `job_path`. `path` has the path of every row; empty: all are 0.
  void SumOfPaths(std::vector<std::uint8_t> const& path, std::uint32_t job_path) {
    std::vector<PathJob> jobs = MakePathJobs(job_path);
    auto const device_jobs = UploadJobs(jobs);
    DeviceBuffer<std::uint8_t> const device_path = UploadPaths(path);
    RowPaths paths = PathsOf(device_jobs.data());
    paths.path = path.empty() ? nullptr : device_path.data();
    SumPaths(view_, paths, {}, Bounds(), PathSums::kTold, limits_, stream_);
    Compare([&](std::uint32_t r) { return path.empty() || path[r] == job_path; });
  }

  /// Divides the rows of two siblings, by features 0 and 2, and sums those that go to one child of each. The first
  /// sibling's sums are in the first half of the jobs' slots. `path` has paths at the parents' level, below `depth`
  /// levels. The siblings are `parent`, which is even, and the next.
  void SumPairs(std::vector<std::uint8_t> const& path, int depth, std::uint32_t parent, bool left) {
    if (!PairsFitShared(matrix_.view, Bounds().symbols, limits_)) {
      EXPECT_TRUE(matrix_.view.symbol_bytes == 2 || limits_.block_bytes < 200 << 10);
      return;
    }
    FeatureIndex const second = std::min<FeatureIndex>(2, c_.features - 1);
    std::vector<PathJob> jobs = MakePathJobs(2 * parent + (left ? 0 : 1));
    for (PathJob& job : jobs) {
      job.other_path = 2 * (parent + 1) + (left ? 1 : 0);
      job.other_slot = job.slot + static_cast<std::int32_t>(c_.jobs);
    }
    sums_ = {};
    sums_ = {&arena_, "sums", 2 * c_.jobs * matrix_.view.cells};
    view_.histograms.sums = sums_.data();
    FillBytes(sums_.data(), 0, sums_.size(), stream_, "clearing");
    auto const device_jobs = UploadJobs(jobs);
    std::uint32_t const bin = c_.bins / 3 + 1;
    std::vector<PathSplit> splits(std::size_t{1} << depth, PathSplit{kNoColumn, 0, kNoSymbol, 0});
    splits[parent] = {0, static_cast<std::uint16_t>(bin), kNoSymbol, 0};
    splits[parent + 1] = {second, static_cast<std::uint16_t>(bin / 2), kNoSymbol, 0};
    auto const device_splits = Upload(&arena_, "splits", splits.data(), splits.size());
    DeviceBuffer<std::uint8_t> const device_path = UploadPaths(path), next = UploadPaths({});
    RowPaths paths = PathsOf(device_jobs.data());
    paths.path = device_path.data();
    paths.next_path = next.data();
    paths.splits = device_splits.data();
    paths.depth = depth;
    paths.first = 1U << depth;
    paths.next_first = 2U << depth;
    SumPaths(view_, paths, {}, Bounds(), PathSums::kPairs, limits_, stream_);
    auto const child_of = [&](std::uint32_t r) -> std::uint32_t {
      std::uint32_t const number = paths.first + parent;
      if (path[r] == number) return 2 * parent + (Symbol(r, 0) < bin ? 0 : 1);
      if (path[r] == number + 1) return 2 * (parent + 1) + (Symbol(r, second) < bin / 2 ? 0 : 1);
      return 0xFFFFU;
    };
    Compare([&](std::uint32_t r) { return child_of(r) == jobs[0].path; },
            [&](std::uint32_t r) { return child_of(r) == jobs[0].other_path; });
    std::vector<std::uint8_t> told(next.size());
    CopyToHost(told.data(), next.data(), told.size(), stream_, "reading paths");
    stream_.Wait("reading paths");
    for (std::uint32_t r = 0; r < rows_; ++r) {
      std::uint32_t const child = child_of(r);
      ASSERT_EQ(told[r], child == 0xFFFFU ? 0 : paths.next_first + child) << "row " << r;
    }
  }

  /// Divides the rows of one parent by feature 0, and sums those that go to one child. `path` has paths at the parent's
  /// level, below `depth` levels. If it is empty, the parent is the root, and `parent` is 0.
  void SumWhileDividing(std::vector<std::uint8_t> const& path, int depth, std::uint32_t parent, bool left) {
    std::vector<PathJob> jobs = MakePathJobs(2 * parent + (left ? 0 : 1));
    auto const device_jobs = UploadJobs(jobs);
    std::uint32_t const bin = c_.bins / 3 + 1;
    std::vector<PathSplit> splits(std::size_t{1} << depth, PathSplit{kNoColumn, 0, kNoSymbol, 0});
    splits[parent] = {0, static_cast<std::uint16_t>(bin), kNoSymbol, 0};
    auto const device_splits = Upload(&arena_, "splits", splits.data(), splits.size());
    DeviceBuffer<std::uint8_t> const device_path = UploadPaths(path), next = UploadPaths({});
    RowPaths paths = PathsOf(device_jobs.data());
    paths.path = path.empty() ? nullptr : device_path.data();
    paths.next_path = next.data();
    paths.splits = device_splits.data();
    paths.depth = depth;
    paths.first = 1U << depth;
    paths.next_first = 2U << depth;
    std::uint32_t const number = paths.first + parent;
    auto const is_of_parent = [&](std::uint32_t r) { return path.empty() || path[r] == number; };
    SumPaths(view_, paths, {}, Bounds(), PathSums::kDivide, limits_, stream_);
    Compare([&](std::uint32_t r) { return is_of_parent(r) && (Symbol(r, 0) < bin) == left; });
    std::vector<std::uint8_t> told(next.size());
    CopyToHost(told.data(), next.data(), told.size(), stream_, "reading paths");
    stream_.Wait("reading paths");
    for (std::uint32_t r = 0; r < told.size(); ++r) {
      bool const moved = r < rows_ && is_of_parent(r);
      std::uint32_t const right = moved && Symbol(r, 0) >= bin ? 1 : 0;
      ASSERT_EQ(told[r], moved ? 2 * number + right : 0) << "row " << r;
    }
  }

 private:
  static constexpr double kScale = 1 << 20;
  static constexpr std::size_t kPathPadding = 64;

  void MakeMatrix() {
    matrix_.cuts.ptr.push_back(0);
    for (FeatureIndex f = 0; f < c_.features; ++f) matrix_.cuts.ptr.push_back(matrix_.cuts.ptr.back() + BinsOf(f));
    std::vector<std::uint8_t> missing(c_.features);
    for (FeatureIndex f = 0; f < c_.features; ++f) missing[f] = c_.missing && f % 3 == 1 ? 1 : 0;
    DeviceMatrixView& view = matrix_.view;
    ChooseDeviceLayout(&matrix_, rows_, rows_ * std::uint64_t{c_.features}, missing);
    std::vector<std::uint8_t> records(view.tiles * view.rows * view.record_bytes());
    symbols_.resize(rows_ * std::size_t{c_.features});
    for (std::uint32_t r = 0; r < rows_; ++r) {
      for (FeatureIndex f = 0; f < c_.features; ++f) {
        DeviceTile const& tile = matrix_.tiles[f / view.tile_columns];
        std::uint32_t const symbol = missing[f] != 0 && random_() % 8 == 0 ? tile.bins : random_() % BinsOf(f);
        symbols_[r * std::size_t{c_.features} + f] = static_cast<std::uint16_t>(symbol);
        std::uint8_t* const at = records.data() + (f / view.tile_columns * view.rows + r) * view.record_bytes() +
                                 f % view.tile_columns * view.symbol_bytes;
        at[0] = static_cast<std::uint8_t>(symbol);
        if (view.symbol_bytes == 2) at[1] = static_cast<std::uint8_t>(symbol >> 8);
      }
    }
    matrix_.records = Upload(&matrix_.arena, "bins", records.data(), records.size());
    matrix_.tile_array = Upload(&matrix_.arena, "tiles", matrix_.tiles.data(), matrix_.tiles.size());
    matrix_.cut_ptr = Upload(&matrix_.arena, "cuts", matrix_.cuts.ptr.data(), matrix_.cuts.ptr.size());
    view.records = matrix_.records.data();
    view.tile = matrix_.tile_array.data();
    view.cut_ptr = matrix_.cut_ptr.data();
  }
  BinIndex BinsOf(FeatureIndex f) const { return f % 5 == 4 ? 3 : c_.bins; }

  /// Makes gradients as large as they may be. Sums of narrow ones must not overflow; sums of wide ones need both words.
  void MakeGradients() {
    std::vector<GradientPair> wide;
    for (std::uint32_t r = 0; r < rows_; ++r) {
      std::int32_t const grad = static_cast<std::int32_t>(random_() % 32769) - 16384;
      std::int32_t const hess = 16384 - static_cast<std::int32_t>(random_() % 64);
      narrow_gradients_.push_back({static_cast<std::int16_t>(grad), static_cast<std::int16_t>(hess)});
      wide.push_back({static_cast<float>(grad), static_cast<float>(hess)});
    }
    wide_ = Upload(&arena_, "gradients", wide.data(), wide.size());
    narrow_array_ = Upload(&arena_, "gradients", narrow_gradients_.data(), narrow_gradients_.size());
  }

  LevelBounds Bounds() const {
    std::uint32_t symbols = 0;
    for (DeviceTile const& tile : matrix_.tiles) symbols = std::max(symbols, tile.symbols);
    return {c_.jobs, symbols};
  }

  std::vector<PathJob> MakePathJobs(std::uint32_t path) {
    std::vector<PathJob> jobs;
    std::uint32_t units = 0;
    for (std::uint32_t j = 0; j < c_.jobs; ++j) {
      std::uint32_t const unit_rows = c_.unit_rows * (1 + j % 3), spare = j % 4 * 3;
      jobs.push_back({first_row(j), rows(j), path, static_cast<std::int32_t>(c_.jobs - 1 - j), units, spare, unit_rows,
                      0, 0, kNoSlot});
      units += spare + (rows(j) + unit_rows - 1) / unit_rows;
    }
    Start(c_.jobs, units);
    return jobs;
  }
  DeviceBuffer<PathJob> UploadJobs(std::vector<PathJob> jobs) {
    constexpr std::size_t kLeastRoom = 32;
    jobs.resize(std::max(jobs.size(), kLeastRoom));
    return Upload(&arena_, "jobs", jobs.data(), jobs.size());
  }
  DeviceBuffer<std::uint8_t> UploadPaths(std::vector<std::uint8_t> path) {
    path.resize(rows_ + kPathPadding);
    return Upload(&arena_, "paths", path.data(), path.size());
  }
  RowPaths PathsOf(PathJob* jobs) const {
    RowPaths paths{};
    paths.store = {matrix_.view.records, narrow_ ? narrow_array_.data() : nullptr, narrow_ ? nullptr : wide_.data()};
    paths.jobs = jobs;
    return paths;
  }

  /// Clears the sums, and tells the kernel how many jobs and units there are.
  void Start(std::uint32_t jobs, std::uint32_t units) {
    LevelState state{};
    state.sum_jobs = jobs;
    state.sum_units = units;
    CopyToDevice(state_.data(), &state, 1, stream_, "starting");
    FillBytes(sums_.data(), 0, sums_.size(), stream_, "clearing");
    stream_.Wait("starting");
  }

  template <typename In>
  void Compare(In&& in) {
    Compare(in, [](std::uint32_t) { return false; });
  }
  /// in(row): does the row's job sum it? other(row): does the job sum it in its other slot?
  template <typename In, typename Other>
  void Compare(In&& in, Other&& other) {
    std::vector<GradientSum> expected(sums_.size()), sums(sums_.size());
    DeviceMatrixView const& m = matrix_.view;
    std::int64_t const scale = narrow_ ? 1 : static_cast<std::int64_t>(kScale);
    for (std::uint32_t j = 0; j < c_.jobs; ++j) {
      GradientSum* const of_job = expected.data() + (c_.jobs - 1 - j) * m.cells;
      for (std::uint32_t r = first_row(j); r < first_row(j + 1); ++r) {
        bool const is_other = other(r);
        if (!in(r) && !is_other) continue;
        for (FeatureIndex f = 0; f < c_.features; ++f) {
          DeviceTile const& tile = matrix_.tiles[f / m.tile_columns];
          if (Symbol(r, f) == tile.bins) continue;
          GradientSum& cell =
              (is_other ? of_job + c_.jobs * m.cells
                        : of_job)[tile.first_cell + std::uint64_t{Symbol(r, f)} * m.tile_columns + f % m.tile_columns];
          cell.grad += scale * narrow_gradients_[r].grad;
          cell.hess += scale * narrow_gradients_[r].hess;
        }
      }
    }
    CopyToHost(sums.data(), sums_.data(), sums.size(), stream_, "reading sums");
    stream_.Wait("summing");
    for (std::size_t i = 0; i < sums.size(); ++i) {
      ASSERT_EQ(sums[i].grad, expected[i].grad) << "slot " << i / m.cells << ", cell " << i % m.cells;
      ASSERT_EQ(sums[i].hess, expected[i].hess) << "slot " << i / m.cells << ", cell " << i % m.cells;
    }
  }

  SumCase const& c_;
  DeviceLimits limits_;
  bool narrow_;
  std::mt19937 random_{7};
  std::uint32_t rows_{0};
  std::vector<std::uint32_t> first_row_;
  std::vector<std::uint16_t> symbols_;
  std::vector<NarrowGradient> narrow_gradients_;
  DeviceArena arena_{"A test"};
  DeviceMatrix matrix_{0};
  Stream stream_;
  DeviceBuffer<GradientPair> wide_;
  DeviceBuffer<NarrowGradient> narrow_array_;
  DeviceBuffer<LevelState> state_;
  DeviceBuffer<GradientState> gradient_;
  DeviceBuffer<GradientSum> sums_;
  HistogramView view_{};
};

class HistogramKernelTest : public ::testing::TestWithParam<SumCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_P(HistogramKernelTest, SumsAsTheHost) {
  for (bool const narrow : {true, false}) {
    SCOPED_TRACE(narrow ? "narrow" : "wide");
    SumStage stage{GetParam(), narrow};
    ASSERT_NO_FATAL_FAILURE(stage.SumLists());
    ASSERT_NO_FATAL_FAILURE(stage.SumOfPaths({}, 0));
    std::mt19937 random{8};
    std::vector<std::uint8_t> few(stage.rows()), numbers(stage.rows());
    for (std::uint8_t& p : few) p = static_cast<std::uint8_t>(random() % 4);
    for (std::uint8_t& p : numbers) p = static_cast<std::uint8_t>(random() % 5 == 0 ? 1 : 4 + random() % 4);
    ASSERT_NO_FATAL_FAILURE(stage.SumOfPaths(few, 2));
    ASSERT_NO_FATAL_FAILURE(stage.SumOfPaths(few, 9));  // no row has this path
    ASSERT_NO_FATAL_FAILURE(stage.SumWhileDividing({}, 0, 0, true));
    ASSERT_NO_FATAL_FAILURE(stage.SumWhileDividing(numbers, 2, 3, false));
    ASSERT_NO_FATAL_FAILURE(stage.SumPairs(numbers, 2, 2, false));
    ASSERT_NO_FATAL_FAILURE(stage.SumPairs(numbers, 2, 0, true));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, HistogramKernelTest, ::testing::ValuesIn(kCases),
                         [](auto const& c) { return std::string{c.param.name}; });

}  // namespace
}  // namespace xgbgpu::cuda
