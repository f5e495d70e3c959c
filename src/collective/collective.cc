#include "collective/collective.h"

namespace xgbgpu {

namespace {

class OneShard final : public Collective {
 public:
  int shards() const override { return 1; }
  int shard() const override { return 0; }
  void Sum(Span<Span<std::int64_t> const>) override {}
  void Max(Span<std::int64_t>) override {}
  std::vector<std::vector<std::uint32_t>> Gather(Span<std::uint32_t const> own) override {
    return {{own.begin(), own.end()}};
  }
};

}  // namespace

Collective& NoOtherShards() {
  static OneShard one;
  return one;
}

Shard Shard::Place(Collective* collective, std::uint64_t rows) {
  std::vector<std::int64_t> of_shards(static_cast<std::size_t>(collective->shards()));
  of_shards[static_cast<std::size_t>(collective->shard())] = static_cast<std::int64_t>(rows);
  collective->Sum(Span<std::int64_t>{of_shards});
  Shard place{collective, 0, 0};
  for (int s = 0; s < collective->shards(); ++s) {
    auto const its_rows = static_cast<std::uint64_t>(of_shards[static_cast<std::size_t>(s)]);
    if (s < collective->shard()) place.first_row += its_rows;
    place.all_rows += its_rows;
  }
  return place;
}

}  // namespace xgbgpu
