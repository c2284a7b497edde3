#include <algorithm>

#include "chunk/integer_blocks.h"
#include "chunk/integer_token_plan.h"
#include "chunk/integer_tokens.h"

namespace tsdb::chunk {
namespace {

/// A dictionary is tried where its estimate is not far above the graded tokens': contexts may help it more.
constexpr double kDictionaryChance = 1.15;
constexpr std::uint32_t kCarrier = 1u << 16;

struct Chosen {
  TokenPlan plan;
  ContextPlan contexts;
  std::vector<std::uint64_t> differences;
  std::vector<std::uint64_t> starts;
  std::vector<std::uint8_t> tokens;
};

unsigned LogFor(std::size_t count) {
  return count <= 256 ? 9u : count <= 1024 ? 10u : 11u;
}

Chosen Prepare(TokenPlan plan, std::span<const std::uint64_t> integers) {
  Chosen chosen;
  chosen.plan = std::move(plan);
  DifferencePages(integers, chosen.plan.order, chosen.plan.filler, &chosen.differences, &chosen.starts);
  chosen.tokens = Tokenize(chosen.plan, chosen.differences);
  const std::size_t contexts_max = std::min<std::size_t>(rans::kEntriesMax >> LogFor(integers.size()), 4);
  chosen.contexts = PlanContexts(chosen.tokens, chosen.plan.size, contexts_max);
  return chosen;
}

void SetTokens(const TokenPlan& plan, TokenSet* set) {
  if (plan.dictionary.empty()) {
    set->SetGraded(plan.graded, plan.first, plan.size);
  } else {
    set->SetDictionary(plan.dictionary);
  }
}

/// Counts of the tokens in each context, as the streams will meet them.
using Counts = std::vector<std::vector<std::uint32_t>>;

class Writer {
 public:
  Writer(const Chosen& chosen, std::string* out)
      : chosen_(chosen), out_(out), count_(chosen.tokens.size()), log_(LogFor(count_)) {
    split_ = count_ > kPageSamples || count_ < 128 ? 0 : count_ < 512 ? 1 : 2;
    SetTokens(chosen.plan, &set_);
  }
  void Write() {
    CountTokens();
    const unsigned precision = ChoosePrecision();
    const TokenPlan& plan = chosen_.plan;
    out_->push_back(static_cast<char>(static_cast<unsigned>(plan.order) |
                                      (plan.dictionary.empty() ? 0 : kTokenDictionary) |
                                      precision << kTokenPrecisionShift | (log_ - rans::kLogMin) << kTokenLogShift));
    out_->push_back(static_cast<char>((chosen_.contexts.count - 1) | split_ << kTokenSplitShift));
    PutTokenSet();
    PutFrequencies(precision);
    PutStarts();
    PutStreams();
  }

 private:
  template <typename Take>
  void ForEachStream(Take take) const {
    for (std::size_t page = 0; page < count_; page += kPageSamples) {
      const std::size_t samples = std::min(kPageSamples, count_ - page);
      for (std::size_t s = 0; s < std::size_t{1} << split_; ++s) {
        const StreamPlace place = PlaceOfStream(samples, split_, s);
        take(page + place.first, place.count);
      }
    }
  }
  void CountTokens() {
    counts_.assign(chosen_.contexts.count, std::vector<std::uint32_t>(set_.size));
    ForEachStream([this](std::size_t first, std::size_t count) {
      std::size_t context = rans::kFirstContext;
      for (std::size_t i = first; i < first + count; ++i) {
        const std::uint8_t token = chosen_.tokens[i];
        ++counts_[context][token];
        context = chosen_.contexts.context[token];
      }
    });
    for (std::vector<std::uint32_t>& counts : counts_) {
      if (std::all_of(counts.begin(), counts.end(), [](std::uint32_t c) { return c == 0; })) {
        counts[0] = 1;  // never met; a table must not be empty
      }
    }
  }
  /// A step of precision takes about a bit for each level; rough levels cost about 2^-4.7 bits a sample at precision
  /// 0, and a quarter of that with each step.
  unsigned ChoosePrecision() const {
    std::size_t levels = 0;
    for (const std::vector<std::uint32_t>& counts : counts_) {
      levels += counts.size() - static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 0u));
    }
    unsigned precision = 0;
    double gain = 0.75 * 0.0375 * static_cast<double>(count_);
    while (precision < kPrecisionMax && gain > static_cast<double>(levels)) {
      ++precision;
      gain /= 4;
    }
    return precision;
  }
  void PutTokenSet() {
    const TokenPlan& plan = chosen_.plan;
    out_->push_back(static_cast<char>(set_.size - 1));
    if (!plan.dictionary.empty()) {
      std::vector<std::uint64_t> integers = plan.dictionary;
      EncodeIntegerBlocks(integers, 1, out_);
      return;
    }
    out_->push_back(static_cast<char>(plan.graded.direct | plan.graded.mantissa << 4));
    PutVarintSigned(out_, static_cast<std::int64_t>(plan.graded.centre));
    PutVarintSigned(out_, plan.first);
  }
  void PutFrequencies(unsigned precision) {
    BitWriter bits(out_);
    if (chosen_.contexts.count > 1) {
      const unsigned width = BitLength(chosen_.contexts.count - 1);
      for (std::size_t t = 0; t < set_.size;) {
        std::size_t run = 1;
        while (t + run < set_.size && chosen_.contexts.context[t + run] == chosen_.contexts.context[t]) {
          ++run;
        }
        bits.Put(chosen_.contexts.context[t], width);
        PutGamma(static_cast<std::uint32_t>(run), &bits);
        t += run;
      }
    }
    tables_.resize(chosen_.contexts.count);
    for (std::size_t context = 0; context < chosen_.contexts.count; ++context) {
      const Levels levels = LevelsOf(counts_[context], log_, precision);
      PutLevels(levels, set_.size, log_, precision, &bits);
      rans::EncoderTable& table = tables_[context];
      FrequenciesOf(levels, set_.size, log_, precision, &table.frequency);
      std::uint16_t first = 0;
      for (std::size_t t = 0; t < set_.size; ++t) {
        table.first[t] = first;
        first = static_cast<std::uint16_t>(first + table.frequency[t]);
      }
    }
    bits.Finish();
  }
  void PutStarts() {
    const std::size_t per_page = static_cast<std::size_t>(chosen_.plan.order);
    for (std::size_t i = 0; i < chosen_.starts.size(); i += per_page) {
      PutVarintSigned(out_, static_cast<std::int64_t>(chosen_.starts[i] - (i > 0 ? chosen_.starts[i - per_page] : 0)));
      if (per_page == 2) {
        PutVarintSigned(out_, static_cast<std::int64_t>(chosen_.starts[i + 1]));
      }
    }
  }
  void PutStreams() {
    std::vector<std::string> streams;
    ForEachStream([&](std::size_t first, std::size_t count) { PutStream(first, count, &streams.emplace_back()); });
    for (std::size_t s = 0; s < streams.size(); ++s) {
      const std::size_t before = s > 0 ? streams[s - 1].size() : 0;
      PutVarintSigned(out_, static_cast<std::int64_t>(streams[s].size()) - static_cast<std::int64_t>(before));
    }
    for (const std::string& stream : streams) {
      out_->append(stream);
    }
  }
  void PutStream(std::size_t first, std::size_t count, std::string* stream) const {
    std::string raw;
    std::uint32_t state = 1;
    if (set_.bits_max > 0) {
      BitWriter bits(&raw);
      for (std::size_t i = first; i < first + count; ++i) {
        const std::uint8_t token = chosen_.tokens[i];
        bits.Put(chosen_.differences[i] - set_.base[token], set_.bits[token]);
      }
      bits.Finish();
      raw.append(raw.size() < 2 ? 2 - raw.size() : 0, '\0');
      state = kCarrier | LoadFixed<std::uint16_t>(raw.data());
    }
    rans::EncodeStream(std::span(chosen_.tokens).subspan(first, count), tables_, chosen_.contexts.context, log_, state,
                       stream);
    if (set_.bits_max > 0) {
      stream->append(raw, 2);
    }
  }

  const Chosen& chosen_;
  std::string* out_;
  const std::size_t count_;
  const unsigned log_;
  unsigned split_ = 0;
  TokenSet set_;
  Counts counts_;
  std::vector<rans::EncoderTable> tables_;
};

}  // namespace

void EncodeIntegerTokens(std::span<const std::uint64_t> integers, std::string* out) {
  TokenPlan graded = PlanGraded(integers);
  TokenPlan dictionary = PlanDictionary(integers);
  const double graded_bits = graded.bits;
  const double dictionary_bits = dictionary.bits;
  Chosen best = Prepare(std::move(graded), integers);
  if (dictionary_bits >= 0 && dictionary_bits < graded_bits * kDictionaryChance) {
    Chosen other = Prepare(std::move(dictionary), integers);
    if (dictionary_bits - other.contexts.gain_bits < graded_bits - best.contexts.gain_bits) {
      best = std::move(other);
    }
  }
  Writer(best, out).Write();
}

}  // namespace tsdb::chunk
