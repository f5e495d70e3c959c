// The QuantileDMatrix that holds the user's values, and has XGBoost make its bins when stock code asks for them.
#include "matrix/held_bins.h"

#include <xgboost/json.h>
#include <xgboost/logging.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <exception>
#include <limits>
#include <thread>
#include <utility>

#include "base/buffer.h"
#include "base/parallel.h"
#include "data/array_view.h"
#include "errors/boundary.h"
#include "group/process_group.h"
#include "matrix/held_matrix.h"
#include "matrix/matrix_rows.h"
#include "matrix/value_matrix.h"
#include "xgb/json_arguments.h"
#include "xgb/next_function.h"
#include "xgb/version.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

constexpr int kLeastBins = 2, kMostBins = 65535;  // as parameters of gpu_hist allow

void Call(int status) {
  if (status != 0) throw dmlc::Error{XGBGetLastError()};
}

/// Hands rows to XGBoost as one batch. Of CSR arrays with strides XGBoost finds the wrong values: entries are copied.
class Feed {
 public:
  Feed(HeldRows const& rows, int threads) : rows_{rows} {
    Call(XGProxyDMatrixCreate(&proxy_));
    if (auto const dense = rows.dense()) {
      values_ = ArrayText(OnHost(*dense, threads), TypeOf(dense->type), {rows.rows(), rows.features()});
      missing_ = dense->missing;
      return;
    }
    std::size_t const stored = std::max<std::size_t>(1, rows.present());
    offsets_ = Buffer<std::uint64_t>{rows.rows() + 1};
    columns_ = Buffer<std::uint32_t>{stored};
    numbers_ = Buffer<float>{stored};
    offsets_[0] = 0;
    rows.ForEachBatch([&](RowBatch const& batch) { Append(batch, threads); });
    indptr_ = ArrayText(offsets_.data(), {offsets_.size()});
    indices_ = ArrayText(columns_.data(), {rows.present()});
    values_ = ArrayText(numbers_.data(), {rows.present()});
  }
  ~Feed() { XGDMatrixFree(proxy_); }
  Feed(Feed const&) = delete;
  Feed& operator=(Feed const&) = delete;

  DMatrixHandle proxy() const { return proxy_; }
  xgboost::MetaInfo* info() const { return &(*static_cast<std::shared_ptr<xgboost::DMatrix>*>(proxy_))->Info(); }
  float missing() const { return missing_; }

  static void Reset(DataIterHandle feed) { static_cast<Feed*>(feed)->is_over_ = false; }
  static int Next(DataIterHandle feed) { return static_cast<Feed*>(feed)->SetBatch() ? 1 : 0; }

 private:
  /// Copies a batch that stores no missing value behind the batches before it.
  void Append(RowBatch const& batch, int threads) {
    std::uint64_t const before = offsets_[batch.first_row];
    for (std::size_t i = 0; i < batch.rows(); ++i) {
      offsets_[batch.first_row + i + 1] = before + batch.offsets[i + 1] - batch.offsets[0];
    }
    constexpr std::size_t kGrain = 1 << 16;
    ParallelChunks(threads, batch.entries.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        columns_[before + i] = batch.entries[i].feature;
        numbers_[before + i] = batch.entries[i].value;
      }
    });
  }
  /// Returns where the values are on the host. Values on a device are float32, and are copied.
  void const* OnHost(DenseValues const& values, int threads) {
    if (values.device == kHostMemory) return values.data;
    FeatureIndex const columns = rows_.features();
    numbers_ = Buffer<float>{rows_.rows() * columns};
    rows_.ForEachBatch([&](RowBatch const& batch) {
      float* const to = numbers_.data() + batch.first_row * columns;
      constexpr std::size_t kGrain = 1 << 16;
      ParallelChunks(threads, batch.entries.size(), kGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) to[i] = batch.entries[i].value;
      });
    });
    return numbers_.data();
  }
  static char const* TypeOf(ValueType type) {
    switch (type) {
      case ValueType::kInt8:
        return "<i1";
      case ValueType::kUInt8:
        return "<u1";
      case ValueType::kInt16:
        return "<i2";
      case ValueType::kUInt16:
        return "<u2";
      default:
        return "<f4";
    }
  }

  bool SetBatch() {
    if (std::exchange(is_over_, true)) return false;
    if (indptr_.empty()) {
      Call(XGProxyDMatrixSetDataDense(proxy_, values_.c_str()));
    } else {
      Call(XGProxyDMatrixSetDataCSR(proxy_, indptr_.c_str(), indices_.c_str(), values_.c_str(), rows_.features()));
    }
    return true;
  }

  HeldRows const& rows_;
  DMatrixHandle proxy_{nullptr};
  Buffer<std::uint64_t> offsets_;
  Buffer<std::uint32_t> columns_;
  Buffer<float> numbers_;
  std::string values_, indptr_, indices_;
  float missing_{std::numeric_limits<float>::quiet_NaN()};
  bool is_over_{false};
};

/// Silences XGBoost in this thread. A reader of the log might call the matrix while its lock is held.
class Silence {
 public:
  Silence() {
    char const* text = nullptr;
    Call(XGBGetGlobalConfig(&text));
    before_ = IntegerIn(xgboost::Json::Load(xgboost::StringView{text}), "verbosity", 1);
    Call(SetVerbosity(0));
  }
  ~Silence() { SetVerbosity(before_); }
  Silence(Silence const&) = delete;
  Silence& operator=(Silence const&) = delete;

 private:
  static int SetVerbosity(std::int64_t level) {
    xgboost::Json config{xgboost::Object{}};
    config["verbosity"] = xgboost::Integer{level};
    std::string text;
    xgboost::Json::Dump(config, &text);
    return XGBSetGlobalConfig(text.c_str());
  }

  std::int64_t before_{1};
};

/// Returns true if test(entry) holds for every value that is there.
template <typename F>
bool AllOf(RowSource const& rows, int threads, F&& test) {
  constexpr std::size_t kGrain = 1 << 12;  // rows
  std::atomic<bool> all{true};
  rows.ForEachBatch([&](RowBatch const& batch) {
    ParallelChunks(threads, batch.rows(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end && all; ++i) {
        auto const row = batch.row(i);
        if (!std::all_of(row.begin(), row.end(), [&](Entry const& e) { return std::isnan(e.value) || test(e); })) {
          all = false;
        }
      }
    });
  });
  return all;
}

/// Returns true if no row has a column twice. Columns of stored rows ascend.
bool HasEachColumnOnce(RowSource const& rows, int threads) {
  constexpr std::size_t kGrain = 1 << 12;  // rows
  if (rows.arrays()) return true;
  std::atomic<bool> once{true};
  rows.ForEachBatch([&](RowBatch const& batch) {
    ParallelChunks(threads, batch.rows(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        auto const row = batch.row(i);
        for (std::size_t k = 1; k < row.size(); ++k) {
          if (row[k - 1].feature >= row[k].feature) once = false;
        }
      }
    });
  });
  return once;
}

}  // namespace

std::optional<BinsConfig> ReadBinsConfig(char const* json) {
  constexpr int kDefaultBins = 256;
  try {
    MatrixConfig const common = ReadMatrixConfig(json);
    BinsConfig config{common.missing, LimitThreads(common.nthread), kDefaultBins, json};
    xgboost::Json const read = xgboost::Json::Load(xgboost::StringView{json});
    config.max_bin = static_cast<int>(IntegerIn(read, "max_bin", kDefaultBins));
    return config;
  } catch (std::exception const&) {
    return {};
  }
}

BinsConfig MakeBinsConfig(float missing, int nthread, int max_bin) {
  xgboost::Json json{xgboost::Object{}};
  json["missing"] = xgboost::Number{missing};
  json["nthread"] = xgboost::Integer{nthread};
  json["max_bin"] = xgboost::Integer{max_bin};
  BinsConfig config{missing, LimitThreads(nthread), max_bin, {}};
  xgboost::Json::Dump(json, &config.text);
  return config;
}

HeldBins::HeldBins(std::shared_ptr<HeldRows const> rows, xgboost::MetaInfo info, BinsConfig config,
                   std::shared_ptr<xgboost::DMatrix> ref)
    : rows_{std::move(rows)},
      info_{std::move(info)},
      config_{std::move(config)},
      bins_{config_.max_bin},
      ref_{std::move(ref)} {
  info_.num_row_ = rows_->rows();
  info_.num_col_ = rows_->features();
  info_.num_nonzero_ = rows_->present();
  SetUpForCpu(&context_, config_.nthread);
  cuts_of_.types = info_.feature_types.ConstHostVector();
  if (ref_ == nullptr) {
    cuts_of_.weights = info_.weights_.ConstHostVector();
    cuts_of_.groups = info_.group_ptr_;
  } else {
    HeldBins const* const held = AsHeldBins(ref_.get());
    bins_ = held->bins();
    // In a chain of matrices each may share the bins of the one before. If each kept its predecessor, none would be
    // freed before the last.
    if (auto first = held->ref()) ref_ = std::move(first);
  }
}

HeldBins::HeldBins(std::shared_ptr<HeldRows const> rows, std::shared_ptr<xgboost::DMatrix> twin, BinsConfig config,
                   std::shared_ptr<xgboost::DMatrix> ref)
    : HeldBins{std::move(rows), std::move(twin->Info()), std::move(config), std::move(ref)} {
  info_.num_col_ = twin->Info().num_col_;  // of all workers' rows
  xgboost::MetaInfo& info = twin->Info() = xgboost::MetaInfo{};
  info.num_row_ = info_.num_row_;
  info.num_col_ = info_.num_col_;
  info.num_nonzero_ = info_.num_nonzero_;
  info.feature_types.HostVector() = info_.feature_types.ConstHostVector();
  cuts_of_ = {};
  is_announced_ = true;
  twin_ = std::move(twin);
}

std::shared_ptr<xgboost::DMatrix> HeldBins::Twin(char const* who) {
  // The line is logged before the lock is taken: a reader of the log may ask for the bins, too.
  if (!is_announced_.exchange(true)) {
    LOG(INFO) << "xgboost-gpu: XGBoost asks for " << who << " of a QuantileDMatrix of " << rows_->rows() << " rows and "
              << rows_->features() << " columns: its bins are made now";
  }
  std::lock_guard<std::mutex> const lock{mutex_};
  if (twin_ != nullptr) return twin_;
  AtBoundary("making XGBoost's bins of a matrix", [&] {
    OutsideProcessGroup([&] {
      static auto* const kMake = XGBGPU_NEXT(XGQuantileDMatrixCreateFromCallback);
      Silence const silence;
      Feed feed{*rows_, Ctx()->Threads()};
      xgboost::MetaInfo* const info = feed.info();
      info->weights_.HostVector() = cuts_of_.weights;
      info->group_ptr_ = cuts_of_.groups;
      info->feature_types.HostVector() = cuts_of_.types;
      xgboost::Json json = xgboost::Json::Load(xgboost::StringView{config_.text});
      json["missing"] = xgboost::Number{feed.missing()};
      if (config_.nthread > 0) json["nthread"] = xgboost::Integer{config_.nthread};
      std::string text;
      xgboost::Json::Dump(json, &text);
      DMatrixHandle made = nullptr;
      auto ref = ref_;
      Call(kMake(&feed, feed.proxy(), ref == nullptr ? nullptr : &ref, Feed::Reset, Feed::Next, text.c_str(), &made));
      twin_ = *static_cast<std::shared_ptr<xgboost::DMatrix>*>(made);
      XGDMatrixFree(made);
    });
  });
  twin_->Info().weights_.HostVector() = {};
  twin_->Info().group_ptr_ = {};
  cuts_of_ = {};
  return twin_;
}

std::shared_ptr<xgboost::DMatrix> HeldBins::Values() {
  std::lock_guard<std::mutex> const lock{mutex_};
  if (values_ == nullptr) {
    OutsideProcessGroup([&] {
      Silence const silence;
      DMatrixHandle const made = MakeHeldMatrix(rows_, config_.nthread);
      if (made == nullptr) throw dmlc::Error{XGBGetLastError()};
      values_ = *static_cast<std::shared_ptr<xgboost::DMatrix>*>(made);
      XGDMatrixFree(made);
    });
  }
  return values_;
}

xgboost::DMatrix* HeldBins::SliceRows(Span<std::int32_t const> numbers) {
  std::unique_ptr<xgboost::DMatrix> slice{Values()->Slice({numbers.data(), numbers.size()})};
  slice->Info() = SliceInfo(*this, numbers, slice->Info().num_nonzero_);
  return slice.release();
}

std::shared_ptr<xgboost::DMatrix> HeldBins::LenderOf(PageKind kind) {
  switch (kind) {
    case PageKind::kRows:
      return ValuesOf(this, rows_, Ctx()->Threads());
    case PageKind::kColumns:
      return Values();
    case PageKind::kSortedColumns:
      // The words are XGBoost's, of `exact`. Its `approx` finds the same words in the twin.
      throw dmlc::Error{kSeries < 200 ? "Only `hist` and `gpu_hist` tree method can use `QuantileDMatrix`."
                                      : "Only `hist` tree method can use `QuantileDMatrix`."};
    case PageKind::kBinEnds: {
      auto twin = Twin("values");
      std::lock_guard<std::mutex> const lock{mutex_};
      // Types may have been set since.
      twin->Info().feature_types.HostVector() = info_.feature_types.ConstHostVector();
      return twin;
    }
    default:
      return Twin("bins");
  }
}
HeldBins* AsHeldBins(xgboost::DMatrix* data) { return dynamic_cast<HeldBins*>(data); }
HeldBins const* AsHeldBins(xgboost::DMatrix const* data) { return dynamic_cast<HeldBins const*>(data); }

bool MayHoldBins(BinsConfig const& config, std::shared_ptr<xgboost::DMatrix> const& ref) {
  if (ref != nullptr) return AsHeldBins(ref.get()) != nullptr;
  return config.max_bin >= kLeastBins && config.max_bin <= kMostBins;
}

bool FitsHeldBins(RowSource const& rows, xgboost::MetaInfo const& info, xgboost::DMatrix const* ref, int threads) {
  if (ref != nullptr && ref->Info().num_col_ != rows.features()) return false;
  auto const& types = info.feature_types.ConstHostVector();
  if (!types.empty() && types.size() != rows.features()) return false;
  std::size_t const weights = info.weights_.Size();
  if (ref == nullptr && weights != 0 && !info.group_ptr_.empty()) {  // XGBoost takes them for weights of groups
    bool const fit = info.group_ptr_.back() == rows.rows() && weights + 1 >= info.group_ptr_.size();
    if (!fit) return false;
  }
  if (!HasEachColumnOnce(rows, threads)) return false;
  auto const categorical = CategoricalFeatures(info);
  if (categorical.empty()) return true;
  constexpr float kMostCategories = 16777216;  // 2^24
  return AllOf(rows, threads, [&](Entry const& e) {
    if (categorical[e.feature] == 0) return true;
    return e.value >= 0 && e.value < kMostCategories && e.value == std::floor(e.value);
  });
}

int BinsFor(xgboost::DMatrix const& data, int max_bin) {
  HeldBins const* const held = AsHeldBins(&data);
  return held == nullptr ? max_bin : held->bins();
}

void ReportMaxBin(xgboost::DMatrix* data, int max_bin) {
  if (!IsBinned(*data)) return;
  if (HeldBins const* const held = AsHeldBins(data)) {
    if (held->max_bin() == max_bin) return;
    LOG(WARNING) << "Inconsistent max_bin between Quantile DMatrix and Booster:" << max_bin << " vs. "
                 << held->max_bin();
    return;
  }
  AskForBins(data, max_bin);
}

}  // namespace xgbgpu::plugin
