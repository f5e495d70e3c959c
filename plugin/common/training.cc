#include "training.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <utility>

#include "adapt_input.h"
#include "api_call.h"
#include "core/parallel.h"
#include "round.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// Of an array's bits and their places. No two places count alike, and the sum does not depend on threads.
template <typename T>
std::uint64_t Checksum(T const* values, std::size_t n, int threads) {
  constexpr std::size_t kGrain = 1 << 16;
  std::atomic<std::uint64_t> sum{n};
  if (values == nullptr) return 0;
  ParallelChunks(threads, n, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t part = 0;
    for (std::size_t i = begin; i < end; ++i) {
      std::uint32_t bits;
      static_assert(sizeof(T) == sizeof(bits));
      std::memcpy(&bits, values + i, sizeof(bits));
      std::uint64_t mixed = (bits + 1ULL) * (2 * i + 0x9E3779B97F4A7C15ULL);
      part += mixed ^ (mixed >> 29);
    }
    sum += part;
  });
  return sum;
}

}  // namespace

TargetMark TargetMark::Of(TargetView const& targets, std::uint64_t rows, Objective objective, int threads) {
  if (CurrentApiCall() != ApiCall::kOther) return {true, MetaInfoEpoch(), objective};
  std::uint64_t sum = Checksum(targets.labels, rows * targets.label_columns, threads);
  sum = sum * 31 + Checksum(targets.weights, targets.groups != 0 ? targets.groups : rows, threads);
  sum = sum * 31 + Checksum(targets.lower, rows, threads);
  sum = sum * 31 + Checksum(targets.upper, rows, threads);
  if (targets.groups != 0) sum = sum * 31 + Checksum(targets.group_ptr, targets.groups + std::size_t{1}, threads);
  return {false, sum, objective};
}

void Resident::SetTargets(TargetView const& view, TargetMark const& mark) {
  if (targets == mark) return;
  targets.reset();
  rows->SetTargets(view);
  targets = mark;
}

void Training::Check(ObjectiveParams objective, TargetView const& view, TargetMark const& mark, std::uint32_t outputs) {
  objective.iteration = 0;  // is never wrong
  auto const both = std::make_pair(objective, mark);
  if (checked == both) return;
  checked.reset();
  CheckTargets(objective, view, dataset->rows(), outputs, threads);
  checked = both;
}

void Training::ComputeGradients(ObjectiveParams const& objective, TargetMark const& mark) {
  bool const ahead = std::exchange(has_gradients_ahead, false);
  if (ahead && last_plan && last_plan->SameGradients(objective, mark)) return;
  trainer->Abandon();
  own.rows->ComputeGradients(objective);
}

void Training::LookAhead(ObjectiveParams const& objective, TrainParams const& tree_params, std::uint32_t round,
                         std::size_t trees_per_output) {
  try {
    ObjectiveParams next = objective;
    next.iteration = round;
    own.rows->ComputeGradients(next);
    trainer->StartAhead(tree_params, own.rows.get(), TreesOfRound(round, own.rows->outputs(), trees_per_output));
    has_gradients_ahead = true;
  } catch (std::exception const&) {
    has_gradients_ahead = false;
  }
}

void Training::BeginRound(std::uint32_t round, bool keeps) {
  own.rounds.reset();
  has_gradients_ahead = false;
  evaluations.remove_if([](Evaluation const& e) { return e.owner.expired(); });
  if (keeps && kept_until != round) {
    trainer->ForgetTrees();
    kept_from = round;
  }
  kept_until.reset();
}

void Training::EndRound(std::uint32_t rounds, bool keeps) {
  if (keeps) kept_until = rounds;
  memory->Refresh();
}

void Training::Forget() {
  own.rounds.reset();
  kept_until.reset();
  for (auto& evaluation : evaluations) evaluation.resident.rounds.reset();
}

bool Training::EvaluatesOnDevice() const {
  return std::any_of(evaluations.cbegin(), evaluations.cend(),
                     [](Evaluation const& e) { return e.resident.rows != nullptr; });
}

bool Training::BelongsOnDevice(xgboost::DMatrix const& data) const {
  // Below this the host is done with a tree before a kernel has begun.
  constexpr std::uint64_t kFewRows = 1000;
  return trainer->backend() != BackendKind::kHost && data.Info().num_row_ > kFewRows;
}

Resident* Training::Evaluated(xgboost::DMatrix const* data) {
  evaluations.remove_if([](Evaluation const& e) { return e.owner.expired(); });
  for (auto& [owner, resident] : evaluations) {
    if (owner.lock().get() == data) return &resident;
  }
  return nullptr;
}

Resident* Training::AddEvaluated(std::shared_ptr<xgboost::DMatrix> const& data, xgboost::DMatrix* values,
                                 std::uint32_t outputs) {
  Resident made;
  try {
    if (values != nullptr && BelongsOnDevice(*data)) {
      made.rows = trainer->MakeResidentRows(DMatrixRows{values}, outputs);
    }
  } catch (OutOfDeviceMemory const&) {
    // The host may have room.
  }
  if (made.rows == nullptr) made.on_host = host::MakeLeafColumns(data->Info().num_row_, outputs, threads);
  return &evaluations.insert(evaluations.end(), Evaluation{data, std::move(made)})->resident;
}

void Training::AddKept(Resident* resident, std::uint32_t rounds) {
  if (resident->rows == nullptr || resident == &own || kept_until != rounds || *resident->rounds < kept_from) return;
  std::size_t const trees = trainer->kept_trees();
  std::size_t const first = trees / (rounds - kept_from) * (*resident->rounds - kept_from);
  if (resident->rows->ReserveColumns(trees - first)) resident->rows->AddTrees(first, trees);
}

Resident* Training::Advance(xgboost::DMatrix const* data, std::uint32_t rounds) {
  evaluations.remove_if([](Evaluation const& e) { return e.owner.expired(); });
  for (auto& [owner, resident] : evaluations) {
    if (owner.lock().get() != data || !resident.rounds || *resident.rounds > rounds) continue;
    if (resident.rounds == rounds) return &resident;
    if (kept_until != rounds || *resident.rounds < kept_from) return nullptr;
    std::size_t const trees = trainer->kept_trees();
    std::size_t const first = trees / (rounds - kept_from) * (*resident.rounds - kept_from);
    resident.rounds.reset();
    resident.rows->AddTrees(first, trees);
    resident.rounds = rounds;
    return &resident;
  }
  return nullptr;
}

bool Training::Admit(std::shared_ptr<xgboost::DMatrix> const& data, xgboost::DMatrix* values, Span<float const> margins,
                     std::uint32_t rounds) {
  std::uint64_t const rows = data->Info().num_row_;
  if (!BelongsOnDevice(*data)) return false;
  auto const same = [&](Evaluation const& e) { return e.owner.lock() == data; };
  auto found = std::find_if(evaluations.begin(), evaluations.end(), same);
  try {
    if (found == evaluations.end()) {
      Resident made;
      made.rows = trainer->MakeResidentRows(DMatrixRows{values}, static_cast<std::uint32_t>(margins.size() / rows));
      found = evaluations.insert(evaluations.end(), Evaluation{data, std::move(made)});
    }
    found->resident.rounds.reset();
    found->resident.rows->SetMargins(margins);
    found->resident.rounds = rounds;
    return true;
  } catch (OutOfDeviceMemory const&) {
    return false;  // it is evaluated on the host
  }
}

}  // namespace xgbgpu::plugin
