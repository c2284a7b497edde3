#include "chunk/decimal.h"

namespace tsdb::chunk {

int ExactExponent(double value, int from) {
  for (int exponent = from; exponent <= kDecimalExponentMax; ++exponent) {
    const DecimalMatch match = MatchDecimal(value, exponent);
    if (!match.in_range) {
      return -1;  // larger exponents only take it further out
    }
    if (match.ulps == 0) {
      return exponent;
    }
  }
  return -1;
}

}  // namespace tsdb::chunk
