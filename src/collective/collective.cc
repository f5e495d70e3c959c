// Compares facts of shards and reports failures to all shards.
#include "xgbgpu/collective.h"

#include <algorithm>
#include <exception>

#include "base/hash.h"
#include "base/message.h"

namespace xgbgpu {

namespace {

constexpr std::size_t kLongestText = 2000;

std::vector<std::uint32_t> ToWords(std::string const& text) {
  std::vector<std::uint32_t> words(text.size());
  std::transform(text.begin(), text.end(), words.begin(), [](char c) { return static_cast<unsigned char>(c); });
  return words;
}

std::string ToText(std::vector<std::uint32_t> const& words) {
  std::string text(words.size(), ' ');
  std::transform(words.begin(), words.end(), text.begin(), [](std::uint32_t word) { return static_cast<char>(word); });
  return text;
}

/// Returns the message of an exception.
std::string WordsOf(std::exception_ptr const& thrown) {
  std::string words = "it does not say why";
  try {
    std::rethrow_exception(thrown);
  } catch (std::exception const& error) {
    words = error.what();
  } catch (...) {  // a type without a message
  }
  return words.substr(0, std::min(kLongestText, words.find("\nStack trace")));
}

/// Returns the facts as one text. Different lists give different texts.
std::string Join(std::vector<Fact> const& facts) {
  std::string text;
  for (auto const& [name, value] : facts) text += name + '\0' + value + '\0';
  return text;
}

std::vector<Fact> Split(std::string const& text) {
  std::vector<Fact> facts;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const middle = text.find('\0', at), end = text.find('\0', middle + 1);
    facts.emplace_back(text.substr(at, middle - at), text.substr(middle + 1, end - middle - 1));
    at = end + 1;
  }
  return facts;
}

/// Returns the value of a fact, or nullptr.
std::string const* Find(std::vector<Fact> const& facts, std::string const& name) {
  auto const found = std::find_if(facts.begin(), facts.end(), [&](Fact const& fact) { return fact.first == name; });
  return found == facts.end() ? nullptr : &found->second;
}

/// Returns a hash that is not negative.
std::int64_t HashOf(std::string const& text) { return static_cast<std::int64_t>(HashText(text) >> 1); }

/// Throws the first difference of the shards' texts, but for the fact `apart`.
void ThrowDifference(Collective& collective, std::string const& own, std::string const& apart = {}) {
  auto const texts = collective.Gather(Span<std::uint32_t const>{ToWords(own)});
  std::vector<Fact> const first = Split(ToText(texts[0]));
  for (std::size_t s = 1; s < texts.size(); ++s) {
    std::vector<Fact> const other = Split(ToText(texts[s]));
    auto const throw_if_other = [&](std::string const& name) {
      auto const *a = Find(first, name), *b = Find(other, name);
      if (name == apart || (a != nullptr && b != nullptr && *a == *b)) return;
      Throw<InvalidArgument>("Not all have the same ", name, ": it is ", a == nullptr ? "not set" : "'" + *a + "'",
                             " on ", collective.kind(), " 0 and ", b == nullptr ? "not set" : "'" + *b + "'", " on ",
                             collective.kind(), " ", s, "; allowed: the same on all of ", texts.size());
    };
    for (auto const& fact : first) throw_if_other(fact.first);
    for (auto const& fact : other) throw_if_other(fact.first);
  }
  if (apart.empty()) throw InvalidArgument{"The parameters or the data of the shards differ"};
}

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

std::string FirstText(Collective& shards, std::string const& own) {
  for (auto const& words : shards.Gather(ToWords(own))) {
    if (!words.empty()) return ToText(words);
  }
  return {};
}

Collective& NoOtherShards() {
  static OneShard one;
  return one;
}

void FailTogether(Collective& collective, int failed, std::exception_ptr const& own) {
  auto const texts = collective.Gather(Span<std::uint32_t const>{ToWords(own ? WordsOf(own) : "")});
  if (own) std::rethrow_exception(own);
  Throw<OtherShardFailed>("All stop because ", collective.kind(), " ", failed, " of ", collective.shards(),
                          " failed. It says: ", ToText(texts[static_cast<std::size_t>(failed)]));
}

void Agree(Collective& collective, std::vector<Fact> const& facts, std::function<void()> const& work) {
  std::exception_ptr own;
  try {
    work();
  } catch (ShardsLost const&) {
    throw;
  } catch (...) {  // any type: rethrown unchanged
    own = std::current_exception();
  }
  std::string const text = Join(facts);
  std::int64_t const hash = HashOf(text);
  std::int64_t most[] = {hash, -hash, own ? -collective.shard() : -collective.shards()};
  collective.Max({most, 3});
  std::int64_t const failed = -most[2];
  if (failed < collective.shards()) FailTogether(collective, static_cast<int>(failed), own);
  if (most[0] != -most[1]) ThrowDifference(collective, text);
}

bool AllKnow(Collective& collective, std::vector<Fact> facts, std::string const& known) {
  std::string const apart = "known";
  facts.emplace_back(apart, known);
  std::string const text = Join(facts);
  std::int64_t const hash = HashOf(text);
  std::int64_t most[] = {hash, -hash, -collective.shards()};
  collective.Max({most, 3});
  std::int64_t const failed = -most[2];  // in Agree
  if (failed < collective.shards()) FailTogether(collective, static_cast<int>(failed), nullptr);
  if (most[0] == -most[1]) return !known.empty();
  ThrowDifference(collective, text, apart);
  return false;
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
