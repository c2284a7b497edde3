#include "cli/plot/value_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tsdb::cli {
namespace {

using Wide = long double;

constexpr std::size_t kDigitsMax = 8;

Wide PowerOfTen(int exponent) { return std::pow(Wide{10}, static_cast<Wide>(exponent)); }

/// mantissa · 10^exponent, mantissa 1, 2 or 5. Multiples of it are computed so that they round once.
struct Step {
  int mantissa = 1;
  int exponent = 0;

  Wide Times(Wide count) const {
    const Wide scaled = count * static_cast<Wide>(mantissa);
    return exponent >= 0 ? scaled * PowerOfTen(exponent) : scaled / PowerOfTen(-exponent);
  }
  Step Next() const {
    return mantissa == 1 ? Step{2, exponent} : mantissa == 2 ? Step{5, exponent} : Step{1, exponent + 1};
  }
};

struct Span {
  Wide first = 0;  // in steps
  Wide last = 0;
};

/// 0.003 as a double is a little more than three thousandths: so little of a step cannot be seen and is left out.
constexpr Wide kUnseen = 1e-9L;

Span Cover(Wide low, Wide high, const Step& step) {
  const Wide unit = step.Times(1);
  return {std::floor(low / unit + kUnseen), std::ceil(high / unit - kUnseen)};
}

/// The smallest step with which the axis has at most `ticks_max` marks; three are needed on both sides of zero.
Step ChooseStep(Wide low, Wide high, std::size_t ticks_max) {
  ticks_max = std::max<std::size_t>(3, ticks_max);
  Step step{1, static_cast<int>(std::floor(std::log10((high - low) / static_cast<Wide>(ticks_max))))};
  while (true) {
    const Span span = Cover(low, high, step);
    if (span.last - span.first <= static_cast<Wide>(ticks_max - 1)) {
      return step;
    }
    step = step.Next();
  }
}

struct Scale {
  int exponent = 0;    // labels show value / 10^exponent
  std::string suffix;
};

/// The prefix for values up to `largest` (above zero).
Scale ChooseScale(Wide largest, bool ascii) {
  if (largest >= 0.01L && largest < 9999.5L) {
    return {};
  }
  constexpr const char* kPrefixes[] = {"y", "z", "a", "f", "p", "n", "µ", "m", "",
                                       "k", "M", "G", "T", "P", "E", "Z", "Y"};
  const int thousands = static_cast<int>(std::floor(std::log10(largest) / 3));
  if (thousands < -8 || thousands > 8) {
    return {3 * thousands, fmt::format("e{:+}", 3 * thousands)};
  }
  const std::string prefix = kPrefixes[thousands + 8];
  return {3 * thousands, ascii && prefix == "µ" ? "u" : prefix};
}

std::string Label(Wide value, const Step& step, const Scale& scale) {
  if (value == 0) {
    return "0";
  }
  const Wide shown = scale.exponent >= 0 ? value / PowerOfTen(scale.exponent) : value * PowerOfTen(-scale.exponent);
  return fmt::format("{:.{}f}{}", shown, std::max(0, scale.exponent - step.exponent), scale.suffix);
}

/// Digits that a label of `largest` takes.
std::size_t DigitCount(Wide largest, const Step& step, const Scale& scale) {
  const int before = std::max(1, static_cast<int>(std::floor(std::log10(largest))) - scale.exponent + 1);
  return static_cast<std::size_t>(before + std::max(0, scale.exponent - step.exponent));
}

/// Values that are all the same get an axis around them.
void Spread(Wide* low, Wide* high) {
  if (*low != *high) {
    return;
  }
  const Wide size = std::fabs(*low);
  const Wide half = size == 0 ? Wide{1} : PowerOfTen(static_cast<int>(std::floor(std::log10(size))) - 1);
  *low -= half;
  *high += half;
}

}  // namespace

ValueAxis MakeValueAxis(double low_value, double high_value, std::size_t ticks_max, bool ascii) {
  Wide low = low_value;
  Wide high = high_value;
  Spread(&low, &high);
  const Step step = ChooseStep(low, high, ticks_max);
  const Span span = Cover(low, high, step);
  ValueAxis axis;
  axis.low = step.Times(span.first);
  axis.high = step.Times(span.last);
  const Wide largest = std::max(std::fabs(axis.low), std::fabs(axis.high));
  Scale scale = ChooseScale(largest, ascii);
  Wide base = 0;
  if (DigitCount(largest, step, scale) > kDigitsMax) {
    base = axis.low;
    scale = ChooseScale(axis.high - axis.low, ascii);
    axis.base = largest < 1e15L ? fmt::format("{:.{}f}", base, std::clamp(-step.exponent, 0, 17))
                                : fmt::format("{:.17g}", base);
  }
  for (Wide i = span.first; i <= span.last; i += 1) {
    // The distance in steps, not the difference of two rounded values.
    const Wide shown = base == 0 ? step.Times(i) : step.Times(i - span.first);
    axis.ticks.push_back({step.Times(i), (base == 0 ? "" : "+") + Label(shown, step, scale)});
  }
  return axis;
}

std::string FormatFigure(double value, bool ascii) {
  if (value == 0 || !std::isfinite(value)) {
    return value == 0 ? "0" : std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  }
  const Wide wide = value;
  const Scale scale = ChooseScale(std::fabs(wide), ascii);
  const Wide shown = scale.exponent >= 0 ? wide / PowerOfTen(scale.exponent) : wide * PowerOfTen(-scale.exponent);
  return fmt::format("{:.4g}{}", shown, scale.suffix);
}

}  // namespace tsdb::cli
