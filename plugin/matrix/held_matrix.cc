// The matrix that holds the user's values, and fills XGBoost's page when stock code asks for it.
#include "matrix/held_matrix.h"

#include <omp.h>
#include <xgboost/json.h>
#include <xgboost/logging.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "base/message.h"
#include "errors/boundary.h"
#include "errors/fail.h"
#include "matrix/matrix_rows.h"
#include "xgb/json_arguments.h"
#include "xgb/next_function.h"
#include "xgb/types.h"

namespace xgbgpu::plugin {

namespace {

void CheckNumbers(Span<std::int32_t const> numbers, std::uint64_t rows) {
  for (std::int32_t const number : numbers) {
    if (number >= 0 && static_cast<std::uint64_t>(number) < rows) continue;
    Throw<InvalidArgument>("A slice of a matrix of ", rows, " rows names row ", number, "; allowed: 0 to ", rows - 1);
  }
}

}  // namespace

HeldMatrix::HeldMatrix(std::shared_ptr<xgboost::DMatrix> lender, std::shared_ptr<HeldRows const> rows)
    : lender_{std::move(lender)}, rows_{std::move(rows)} {
  xgboost::MetaInfo& info = lender_->Info();
  info.num_row_ = rows_->rows();
  info.num_nonzero_ = rows_->present();
}

std::shared_ptr<HeldRows const> HeldMatrix::rows() const {
  std::lock_guard<std::mutex> const lock{mutex_};
  return rows_;
}

std::shared_ptr<xgboost::DMatrix> HeldMatrix::Stock(char const* who) {
  auto const held = rows();
  if (held == nullptr) return lender_;
  // The line is logged before the lock is taken: a reader of the log may ask for the page, too.
  if (!is_announced_.exchange(true)) {
    LOG(INFO) << "xgboost-gpu: XGBoost asks for " << who << " of a matrix of " << held->rows() << " rows and "
              << held->features() << " columns: its page of " << sizeof(xgboost::Entry) * held->present()
              << " bytes is made now";
  }
  std::lock_guard<std::mutex> const lock{mutex_};
  if (rows_ == nullptr) return lender_;
  AtBoundary("making XGBoost's page of a matrix", [&] {
    ForEachRowPage(lender_.get(), [&](xgboost::SparsePage const& page) {
      // XGBoost hands its only page out for reading. It has no row, and no reader has it before this function returns.
      FillPage(*rows_, {0, rows_->rows()}, rows_->present(), Ctx()->Threads(), const_cast<xgboost::SparsePage*>(&page));
    });
  });
  rows_ = nullptr;
  return lender_;
}

xgboost::DMatrix* HeldMatrix::SliceRows(Span<std::int32_t const> numbers) {
  auto const own = rows();
  return AtBoundary("slicing a matrix", [&] {
    CheckNumbers(numbers, Info().num_row_);
    if (own == nullptr) return lender_->Slice({numbers.data(), numbers.size()});
    auto sliced = own->Slice(numbers, Ctx()->Threads());
    std::shared_ptr<xgboost::DMatrix> lender{lender_->Slice({})};
    lender->Info() = SliceInfo(*this, numbers, sliced->present());
    return static_cast<xgboost::DMatrix*>(new HeldMatrix{std::move(lender), std::move(sliced)});
  });
}

std::shared_ptr<xgboost::DMatrix> HeldMatrix::LenderOf(PageKind kind) {
  switch (kind) {
    case PageKind::kRows:
      return Stock("rows");
    case PageKind::kColumns:
      return Stock("columns");
    case PageKind::kSortedColumns:
      return Stock("sorted columns");
    case PageKind::kBinEnds:
      return Stock("values");
    default:
      return Stock("bins");
  }
}

HeldMatrix* AsHeld(xgboost::DMatrix* data) { return dynamic_cast<HeldMatrix*>(data); }

int ThreadsOfMatrix(int nthread) {
  XgbContext context;
  context.nthread = LimitThreads(nthread);
  return context.Threads();
}

int LimitThreads(int nthread) {
  constexpr int kMostThreads = 1024;
  return std::min(nthread, std::max(kMostThreads, omp_get_num_procs()));
}

MatrixConfig ReadMatrixConfig(char const* json) {
  xgboost::Json const config = xgboost::Json::Load(xgboost::StringView{json});
  auto const missing = MemberOf(config, "missing");
  CHECK(missing) << "no member \"missing\"";
  MatrixConfig result{0.0F, 0};
  if (xgboost::IsA<xgboost::Integer>(*missing)) {
    result.missing = static_cast<float>(xgboost::get<xgboost::Integer const>(*missing));
  } else {
    result.missing = xgboost::get<xgboost::Number const>(*missing);
  }
  result.nthread = static_cast<int>(IntegerIn(config, "nthread", 0));
  CHECK_EQ(IntegerIn(config, "data_split_mode", 0), 0) << "a part of the columns";
  return result;
}

DMatrixHandle MakeHeldMatrix(std::shared_ptr<HeldRows const> rows, int nthread) {
  static auto* const kMake = XGBGPU_NEXT(XGDMatrixCreateFromMat_omp);
  float const nothing = 0;
  DMatrixHandle handle = nullptr;
  if (kMake(&nothing, 0, rows->features(), std::numeric_limits<float>::quiet_NaN(), &handle, LimitThreads(nthread)) !=
      0) {
    return nullptr;
  }
  return HoldIn(handle, std::move(rows)) ? handle : nullptr;
}

bool HoldIn(DMatrixHandle handle, std::shared_ptr<HeldRows const> rows) {
  // A handle is a pointer to the matrix's owner.
  auto* const owner = static_cast<std::shared_ptr<xgboost::DMatrix>*>(handle);
  try {
    *owner = std::make_shared<HeldMatrix>(*owner, std::move(rows));
  } catch (std::exception const& error) {  // no memory
    XGDMatrixFree(handle);
    Fail(error.what());
    return false;
  }
  return true;
}

}  // namespace xgbgpu::plugin
