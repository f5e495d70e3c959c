// Keeps margins, labels, gradients and trees of a training from one round to the next.
#include "xgbgpu/training.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <utility>

#include "base/parallel.h"
#include "xgbgpu/boosting_round.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

/// A sum over an array's bits and their places. No two places count alike, and it does not depend on threads.
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

TargetMark TargetMark::Of(TargetView const& targets, std::uint64_t rows, Objective objective, DataEpoch const& epoch,
                          int threads) {
  if (epoch) return {true, *epoch, objective};
  std::uint64_t sum = Checksum(targets.labels, rows * targets.label_columns, threads);
  sum = sum * 31 + Checksum(targets.weights, targets.groups != 0 ? targets.groups : rows, threads);
  sum = sum * 31 + Checksum(targets.lower, rows, threads);
  sum = sum * 31 + Checksum(targets.upper, rows, threads);
  if (targets.groups != 0) sum = sum * 31 + Checksum(targets.group_ptr, targets.groups + std::size_t{1}, threads);
  return {false, sum, objective};
}

void KeptRows::SetTargets(TargetView const& view, TargetMark const& mark) {
  if (targets == mark) return;
  targets.reset();
  rows->SetTargets(view);
  targets = mark;
}

void Training::Check(ObjectiveParams objective, TargetView const& view, TargetMark const& mark, std::uint32_t outputs) {
  objective.iteration = 0;  // is never wrong
  objective.biases = {};
  auto const both = std::make_pair(objective, mark);
  if (checked == both) return;
  checked.reset();
  CheckTargets(objective, view, dataset->rows(), outputs, threads);
  checked = both;
}

void Training::MakeOwnRows(std::uint32_t outputs) {
  if (own.columns() != nullptr && own.columns()->outputs() == outputs) return;
  ResidentRounds* const rounds = trainer->rounds();
  if (rounds != nullptr) rounds->Cancel();
  own = {};  // before the new ones need memory
  if (rounds != nullptr) {
    own.rows = rounds->MakeResidentRows(outputs);
  } else {
    own.on_host = host::MakeLeafColumns(dataset->rows(), outputs, threads);
  }
}

void Training::SetMargins(Span<float const> margins, std::uint32_t outputs, std::uint32_t rounds) {
  own.rounds.reset();
  has_speculative_gradients = false;
  MakeOwnRows(outputs);
  own.rows->SetMargins(margins);
  own.rounds = rounds;
}

void Training::SetEqualMargins(Span<float const> margins, std::uint32_t outputs, std::uint32_t rounds) {
  own.rounds.reset();
  has_speculative_gradients = false;
  MakeOwnRows(outputs);
  own.rows->SetEqualMargins(margins);
  own.rounds = rounds;
}

void Training::ComputeGradients(ObjectiveParams const& objective, TargetView const& targets, TargetMark const& mark) {
  own.SetTargets(targets, mark);
  bool const speculative = std::exchange(has_speculative_gradients, false);
  if (speculative && last_plan && last_plan->SameGradients(objective, mark)) return;
  trainer->rounds()->Cancel();
  own.rows->ComputeGradients(objective);
}

void Training::Speculate(ObjectiveParams const& objective, TrainParams const& tree_params, std::uint32_t round,
                         std::size_t trees_per_output) {
  try {
    ObjectiveParams next = objective;
    next.iteration = round;
    own.rows->ComputeGradients(next);
    own.rows->Start(tree_params, TreesOfRound(round, own.rows->outputs(), trees_per_output));
    has_speculative_gradients = true;
  } catch (std::exception const&) {
    has_speculative_gradients = false;
  }
}

void Training::BeginRound(std::uint32_t round, bool keeps) {
  own.rounds.reset();
  has_speculative_gradients = false;
  DropExpired();
  if (keeps && kept.until != round) {
    trainer->rounds()->ForgetTrees();
    kept.from = round;
  }
  kept.until.reset();
}

void Training::EndRound(std::uint32_t rounds, bool keeps) {
  if (keeps) kept.until = rounds;
  if (watch != nullptr) watch->Refresh();
}

void Training::Forget() {
  own.rounds.reset();
  has_speculative_gradients = false;
  kept.until.reset();
  for (auto& evaluation : evaluations) evaluation.rows.rounds.reset();
}

void Training::DropExpired() {
  evaluations.remove_if([](Evaluation const& e) { return e.key.expired(); });
}

bool Training::EvaluatesOnDevice() const {
  return std::any_of(evaluations.cbegin(), evaluations.cend(),
                     [](Evaluation const& e) { return e.rows.rows != nullptr; });
}

bool Training::BelongsOnDevice(std::uint64_t rows) const {
  ResidentRounds const* const rounds = trainer->rounds();
  return rounds != nullptr && rows >= rounds->least_evaluated_rows();
}

KeptRows* Training::Advance(DataKey const& key, std::uint32_t rounds) {
  DropExpired();
  for (auto& [of, rows] : evaluations) {
    if (of != key || !rows.rounds || *rows.rounds > rounds) continue;
    if (rows.rounds == rounds) return &rows;
    std::size_t const trees = trainer->rounds()->kept_trees();
    auto const first = kept.FirstMissing(*rows.rounds, rounds, trees);
    if (!first) return nullptr;
    rows.rounds.reset();
    rows.rows->AddTrees(*first, trees);
    rows.rounds = rounds;
    return &rows;
  }
  return nullptr;
}

bool Training::Admit(DataKey const& key, RowSource const& values, Span<float const> margins, std::uint32_t outputs,
                     std::uint32_t rounds) {
  if (!BelongsOnDevice(values.rows())) return false;
  auto const same = [&](Evaluation const& e) { return e.key == key; };
  auto found = std::find_if(evaluations.begin(), evaluations.end(), same);
  try {
    if (found == evaluations.end()) {
      KeptRows made;
      made.rows = trainer->rounds()->MakeResidentRows(values, outputs);
      found = evaluations.insert(evaluations.end(), Evaluation{key, std::move(made)});
    }
    found->rows.rounds.reset();
    found->rows.rows->SetMargins(margins);
    found->rows.rounds = rounds;
    return true;
  } catch (OutOfDeviceMemory const&) {
    return false;  // it is evaluated on the host
  }
}

KeptRows* Training::Evaluated(DataKey const& key) {
  DropExpired();
  for (auto& [of, rows] : evaluations) {
    if (of == key) return &rows;
  }
  return nullptr;
}

KeptRows* Training::AddEvaluated(DataKey const& key, RowSource const* values, std::uint64_t rows,
                                 std::uint32_t outputs) {
  KeptRows made;
  try {
    if (values != nullptr && BelongsOnDevice(rows)) made.rows = trainer->rounds()->MakeResidentRows(*values, outputs);
  } catch (OutOfDeviceMemory const&) {
    // The device has no room, but the host may have.
  }
  if (made.rows == nullptr) made.on_host = host::MakeLeafColumns(rows, outputs, threads);
  return &evaluations.insert(evaluations.end(), Evaluation{key, std::move(made)})->rows;
}

void Training::AddKept(KeptRows* evaluated, std::uint32_t rounds) {
  if (evaluated->rows == nullptr || evaluated == &own) return;
  std::size_t const trees = trainer->rounds()->kept_trees();
  auto const first = kept.FirstMissing(*evaluated->rounds, rounds, trees);
  if (first && evaluated->rows->ReserveColumns(trees - *first)) evaluated->rows->AddTrees(*first, trees);
}

}  // namespace xgbgpu
