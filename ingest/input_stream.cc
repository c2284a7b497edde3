// InputStream: files and standard input, plain, gzip or zstd.
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include "tsdb/ingest.h"

namespace tsdb {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;
constexpr std::size_t kMagicBytes = 4;

/// The bytes of a file as they are on disk.
class RawInput {
 public:
  RawInput(int fd, bool owned, std::string name, std::uint64_t total)
      : fd_(fd), owned_(owned), name_(std::move(name)), total_(total), buffer_(kReadBytes) {}
  ~RawInput() {
    if (owned_) {
      ::close(fd_);
    }
  }
  RawInput(const RawInput&) = delete;
  RawInput& operator=(const RawInput&) = delete;

  /// Reads until at least `n` unconsumed bytes are there or the file ends.
  Status Fill(std::size_t n) {
    if (begin_ == end_) {
      begin_ = end_ = 0;
    } else if (begin_ + n > buffer_.size()) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    while (end_ - begin_ < n && !at_end_) {
      const ::ssize_t got = ::read(fd_, buffer_.data() + end_, buffer_.size() - end_);
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        return Status::IoError(fmt::format("{}@{}: read: {}", name_, consumed() + available().size(),
                                           std::string(std::strerror(errno))));
      }
      at_end_ = got == 0;
      end_ += static_cast<std::size_t>(got);
    }
    return {};
  }
  std::string_view available() const { return {buffer_.data() + begin_, end_ - begin_}; }
  void Consume(std::size_t n) {
    begin_ += n;
    consumed_ += n;
  }
  std::uint64_t consumed() const { return consumed_; }
  std::uint64_t total() const { return total_; }
  const std::string& name() const { return name_; }

 private:
  const int fd_;
  const bool owned_;
  const std::string name_;
  const std::uint64_t total_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::uint64_t consumed_ = 0;
};

class StreamBase : public InputStream {
 public:
  explicit StreamBase(std::unique_ptr<RawInput> raw) : raw_(std::move(raw)) {}
  std::uint64_t consumed() const final { return raw_->consumed(); }
  std::uint64_t total() const final { return raw_->total(); }

 protected:
  Status Damaged(std::string_view what) const {
    return Status::Corruption(fmt::format("{}@{}: {}", raw_->name(), raw_->consumed(), what));
  }
  Status CutOff(std::string_view kind) const {
    return Damaged(fmt::format("{} data ends before its end mark: the file is cut off", kind));
  }
  RawInput& raw() { return *raw_; }

 private:
  std::unique_ptr<RawInput> raw_;
};

class PlainStream final : public StreamBase {
 public:
  using StreamBase::StreamBase;
  Result<std::string_view> Next() override {
    raw().Consume(given_);
    given_ = 0;
    TSDB_RETURN_IF_ERROR(raw().Fill(1));
    given_ = raw().available().size();
    return raw().available();
  }

 private:
  std::size_t given_ = 0;  // still in the reader's hands
};

class GzipStream final : public StreamBase {
 public:
  explicit GzipStream(std::unique_ptr<RawInput> raw) : StreamBase(std::move(raw)), out_(kReadBytes) {}
  ~GzipStream() override {
    if (open_) {
      ::inflateEnd(&zlib_);
    }
  }
  Result<std::string_view> Next() override {
    while (true) {
      TSDB_RETURN_IF_ERROR(raw().Fill(1));
      const std::string_view in = raw().available();
      if (!open_) {
        if (in.empty()) {
          return std::string_view();
        }
        if (members_ > 0 && in.front() == '\0') {
          raw().Consume(1);  // padding behind the last member, as tapes leave it
          continue;
        }
        TSDB_RETURN_IF_ERROR(OpenMember());
      }
      if (in.empty()) {
        return CutOff("gzip");
      }
      TSDB_ASSIGN_OR_RETURN(const std::string_view text, Inflate(in));
      if (!text.empty()) {
        return text;
      }
    }
  }

 private:
  Status OpenMember() {
    zlib_ = {};
    constexpr int kGzipOnly = 16;
    if (::inflateInit2(&zlib_, MAX_WBITS + kGzipOnly) != Z_OK) {
      return Status::OutOfMemory(fmt::format("{}: no memory to unpack gzip", raw().name()));
    }
    open_ = true;
    return {};
  }
  Result<std::string_view> Inflate(std::string_view in) {
    zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    zlib_.avail_in = static_cast<uInt>(in.size());
    zlib_.next_out = reinterpret_cast<Bytef*>(out_.data());
    zlib_.avail_out = static_cast<uInt>(out_.size());
    const int code = ::inflate(&zlib_, Z_NO_FLUSH);
    raw().Consume(in.size() - zlib_.avail_in);
    if (code == Z_MEM_ERROR) {
      return Status::OutOfMemory(fmt::format("{}: no memory to unpack gzip", raw().name()));
    }
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      return Damaged(fmt::format("damaged gzip data ({})", zlib_.msg != nullptr ? zlib_.msg : "unknown reason"));
    }
    if (code == Z_STREAM_END) {
      ::inflateEnd(&zlib_);
      open_ = false;
      ++members_;
    }
    return std::string_view(out_.data(), out_.size() - zlib_.avail_out);
  }

  z_stream zlib_ = {};
  bool open_ = false;
  std::uint64_t members_ = 0;
  std::vector<char> out_;
};

class ZstdStream final : public StreamBase {
 public:
  ZstdStream(std::unique_ptr<RawInput> raw, ZSTD_DStream* zstd)
      : StreamBase(std::move(raw)), zstd_(zstd), out_(ZSTD_DStreamOutSize()) {}
  Result<std::string_view> Next() override {
    while (true) {
      TSDB_RETURN_IF_ERROR(raw().Fill(1));
      const std::string_view in = raw().available();
      if (in.empty() && !mid_frame_) {
        return std::string_view();
      }
      ZSTD_inBuffer source{in.data(), in.size(), 0};
      ZSTD_outBuffer target{out_.data(), out_.size(), 0};
      const std::size_t left = ZSTD_decompressStream(zstd_.get(), &target, &source);
      if (ZSTD_isError(left) != 0) {
        return Damaged(fmt::format("damaged zstd data ({})", ZSTD_getErrorName(left)));
      }
      raw().Consume(source.pos);
      mid_frame_ = left != 0;
      if (target.pos != 0) {
        return std::string_view(out_.data(), target.pos);
      }
      if (in.empty()) {
        return CutOff("zstd");
      }
    }
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* zstd) const { ZSTD_freeDStream(zstd); }
  };
  std::unique_ptr<ZSTD_DStream, Free> zstd_;
  bool mid_frame_ = false;
  std::vector<char> out_;
};

bool IsGzip(std::string_view start) { return start.starts_with("\x1f\x8b"); }
bool IsZstd(std::string_view start) {
  if (start.size() < kMagicBytes) {
    return false;
  }
  const bool skippable = (static_cast<unsigned char>(start[0]) & 0xf0) == 0x50 && start.substr(1, 3) == "\x2a\x4d\x18";
  return start.starts_with("\x28\xb5\x2f\xfd") || skippable;
}

}  // namespace

Result<std::unique_ptr<InputStream>> InputStream::Open(const std::string& path) {
  int fd = STDIN_FILENO;
  if (path != "-") {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      std::string message = fmt::format("{}: open: {}", path, std::string(std::strerror(errno)));
      switch (errno) {
        case ENOENT:
        case ENOTDIR:
          return Status::NotFound(std::move(message));
        case EMFILE:
        case ENFILE:
          return Status::TooManyOpenFiles(std::move(message));
        default:
          return Status::IoError(std::move(message));
      }
    }
  }
  struct ::stat info = {};
  const bool known = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  auto raw = std::make_unique<RawInput>(fd, path != "-", path, known ? static_cast<std::uint64_t>(info.st_size) : 0);
  TSDB_RETURN_IF_ERROR(raw->Fill(kMagicBytes));
  const std::string_view start = raw->available();
  if (IsGzip(start)) {
    return std::unique_ptr<InputStream>(std::make_unique<GzipStream>(std::move(raw)));
  }
  if (IsZstd(start)) {
    ZSTD_DStream* zstd = ZSTD_createDStream();
    if (zstd == nullptr) {
      return Status::OutOfMemory(fmt::format("{}: no memory to unpack zstd", path));
    }
    return std::unique_ptr<InputStream>(std::make_unique<ZstdStream>(std::move(raw), zstd));
  }
  return std::unique_ptr<InputStream>(std::make_unique<PlainStream>(std::move(raw)));
}

}  // namespace tsdb
