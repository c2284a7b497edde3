#include "index/index_keys.h"

#include <xxhash.h>

namespace tsdb::index {

namespace {

// 00 in a text is written 00 FF; 00 01 ends the text; 00 02 sorts behind every block of it.
constexpr char kEscape = '\0';
constexpr char kEscapedZero = '\xff';
constexpr char kTerminator = '\x01';
constexpr char kBehindTerminator = '\x02';
constexpr std::size_t kBlockBytes = 6;

void AppendBigEndian(std::uint64_t number, std::size_t bytes, std::string* key) {
  for (std::size_t i = bytes; i-- > 0;) {
    key->push_back(static_cast<char>(number >> (8 * i)));
  }
}

std::uint64_t LoadBigEndian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char c : bytes) {
    number = (number << 8) | static_cast<unsigned char>(c);
  }
  return number;
}

std::string OfKind(KeyKind kind) { return std::string(1, static_cast<char>(kind)); }

}  // namespace

Identity IdentityOfLabels(const Labels& labels) { return {false, labels.Hash()}; }

Identity IdentityOfKey(std::string_view key) {
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  return {true, {hash.high64, hash.low64}};
}

std::string MetaKey() { return OfKind(KeyKind::kMeta); }

std::string AllKey(std::uint64_t block) {
  std::string key = OfKind(KeyKind::kAll);
  AppendBlockNumber(block, &key);
  return key;
}

std::string DefinitionKey(std::uint64_t id) {
  std::string key = OfKind(KeyKind::kDefinition);
  AppendBigEndian(id, 8, &key);
  return key;
}

std::string IdentityKey(const Identity& identity) {
  std::string key = OfKind(KeyKind::kIdentity);
  key.push_back(identity.by_key ? '\1' : '\0');
  AppendBigEndian(identity.hash.high, 8, &key);
  AppendBigEndian(identity.hash.low, 8, &key);
  return key;
}

std::string NameZone() { return OfKind(KeyKind::kName); }

std::string ValueZone(std::string_view name) { return PostingKey(OfKind(KeyKind::kValue), name); }

void AppendEscaped(std::string_view text, std::string* key) {
  for (std::size_t begin = 0;;) {
    const std::size_t zero = text.find('\0', begin);
    key->append(text.substr(begin, zero - begin));
    if (zero == std::string_view::npos) {
      return;
    }
    key->push_back(kEscape);
    key->push_back(kEscapedZero);
    begin = zero + 1;
  }
}

std::string PostingKey(std::string_view zone, std::string_view text) {
  std::string key;
  key.reserve(zone.size() + text.size() + 2 + kBlockBytes);
  key.append(zone);
  AppendEscaped(text, &key);
  key.push_back(kEscape);
  key.push_back(kTerminator);
  return key;
}

std::string PostingKeyEnd(std::string_view zone, std::string_view text) {
  std::string key = PostingKey(zone, text);
  key.back() = kBehindTerminator;
  return key;
}

void AppendBlockNumber(std::uint64_t block, std::string* key) { AppendBigEndian(block, kBlockBytes, key); }

bool ParsePostingKey(std::string_view key, std::string_view zone, std::string* text, std::uint64_t* block) {
  if (!key.starts_with(zone) || key.size() < zone.size() + 2 + kBlockBytes) {
    return false;
  }
  key.remove_prefix(zone.size());
  *block = LoadBigEndian(key.substr(key.size() - kBlockBytes));
  key.remove_suffix(kBlockBytes);
  if (key[key.size() - 2] != kEscape || key.back() != kTerminator) {
    return false;
  }
  key.remove_suffix(2);
  text->clear();
  for (std::size_t begin = 0;;) {
    const std::size_t zero = key.find(kEscape, begin);
    text->append(key.substr(begin, zero - begin));
    if (zero == std::string_view::npos) {
      return true;
    }
    if (zero + 1 == key.size() || key[zero + 1] != kEscapedZero) {
      return false;
    }
    text->push_back('\0');
    begin = zero + 2;
  }
}

bool ParseBlockKey(std::string_view key, std::size_t prefix_bytes, std::uint64_t* block) {
  if (key.size() != prefix_bytes + kBlockBytes) {
    return false;
  }
  *block = LoadBigEndian(key.substr(prefix_bytes));
  return true;
}

std::string PrefixEnd(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') {
    prefix.pop_back();
  }
  if (!prefix.empty()) {
    prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  }
  return prefix;
}

}  // namespace tsdb::index
