// Arrays that may be larger than memory. An array is cut into pages. A pool has room for some of
// the pages of several arrays; the others are in temporary files, one for each array:
//
//   array a    page 0    page 1    page 2    page 3          array b    page 0    page 1
//                |                   |                                    |
//   pool       frame 0   frame 1 (unused)  frame 2                      frame 3
//
// A page that is changed, or is soon read again, comes into a frame. When all frames are taken, it
// takes that of a page that was not used lately (the clock algorithm), which is written to its file
// first if it changed. Other pages are read where they are. An array that fits into the pool has no
// file.
#pragma once

#include <bit>
#include <optional>

#include "core/bits/entry.hpp"
#include "server/arguments.hpp"
#include "server/temporary_file.hpp"

namespace simhash {

class PagedFile;

// A pool has the frames of several arrays. Each array has its share as it uses it: no array has
// frames of its own, and an array that is not read for a while loses them to the others.
class PagePool {
  public:
    static constexpr size_t kPageBytes = 8192;

    // Uses about this memory at most, in a memory context that outlives the arrays.
    PagePool(MemoryContext context, size_t memory_bytes)
        : memory_(server_memory(context)), files_(context), frames_(memory_),
          most_(std::clamp(memory_bytes / kPageBytes, kLeastFrames, kGreatestFrames)) {}

    size_t memory_bytes() const { return most_ * kPageBytes; }

  private:
    friend class PagedFile;

    static constexpr size_t kLeastFrames = 16;
    static constexpr size_t kGreatestFrames = UINT32_MAX; // their numbers are less than kOut
    static constexpr size_t kNoFrame = SIZE_MAX;

    struct Frame {
        char* bytes;      // [kPageBytes]
        PagedFile* owner; // null if the frame is unused
        size_t page;      // of the owner; of an unused frame the next one, or kNoFrame
        bool used;        // since the hand of the clock came by
        bool changed;     // and not yet written
    };

    // A frame without an owner. Its contents are undefined. The pool begins empty, so arrays of a
    // few pages take the memory of these pages only.
    uint32 free_frame();

    Memory memory_;
    TemporaryFiles files_; // of the arrays
    GrowingArray<Frame> frames_;
    size_t most_; // frames
    size_t hand_ = 0;
    size_t unused_ = kNoFrame; // the first frame of a list
};

// The pages of one array. Pages are added in their order.
class PagedFile {
  public:
    explicit PagedFile(PagePool* pool) : pool_(pool), frames_(pool->memory_) {}
    PagedFile(const PagedFile&) = delete; // its frames point to it
    PagedFile& operator=(const PagedFile&) = delete;

    // The bytes of a page, which is one of the array, or the next. They are valid until another
    // page of the pool is asked for.
    // The caller copies what it needs before the next call, because that call may give this frame
    // to another page.
    const char* read(size_t page) { return frame_of(page).bytes; }
    char* change(size_t page) {
        PagePool::Frame& frame = frame_of(page);
        frame.changed = true;
        return frame.bytes;
    }

    // The bytes of a page, or null where it is in the file. They are valid as those of read().
    const char* in_memory(size_t page) const {
        return page < frames_.size() && frames_[page] != kOut ? pool_->frames_[frames_[page]].bytes
                                                              : nullptr;
    }
    // Copies bytes of a page, and leaves it where it is: less than to bring a page of which nobody
    // will read more soon.
    void peek(size_t page, size_t begin, void* out, size_t bytes) const {
        if (const char* there = in_memory(page))
            memcpy(out, there + begin, bytes);
        else
            file_.read(int64(page * PagePool::kPageBytes + begin), out, bytes);
    }

    // Writes over bytes of a page, where it is.
    void poke(size_t page, size_t begin, const void* data, size_t bytes) {
        Assert(page < frames_.size());
        if (in_memory(page))
            memcpy(change(page) + begin, data, bytes);
        else
            file_.write(int64(page * PagePool::kPageBytes + begin), data, bytes);
    }

    bool has_file() const { return file_.exists(); }
    // Whether a page is not worth bringing for a record here and there: of an array twice as large
    // as the pool, half of the pages at best are still there when they are asked for again.
    bool is_large() const { return frames_.size() / 2 > pool_->most_; }

    // Releases the memory and the file. The array is empty afterwards.
    void close();

  private:
    friend class PagePool;

    static constexpr uint32 kOut = UINT32_MAX; // the page is in the file

    // This is the path for a page that is in memory: it takes one look-up in the table, and no
    // call. The clock's hand learns by `used` that somebody wanted the page.
    PagePool::Frame& frame_of(size_t page) {
        uint32 frame = page < frames_.size() ? frames_[page] : kOut;
        if (frame == kOut)
            frame = bring(page);
        PagePool::Frame& found = pool_->frames_[frame];
        found.used = true;
        return found;
    }

    // The slow path of frame_of(): reads the page from the file, or adds it if it is the next one.
    uint32 bring(size_t page);
    // The pool calls this before it takes the frame away.
    void write(const PagePool::Frame& frame);

    PagePool* pool_;
    TemporaryFile file_;
    GrowingArray<uint32> frames_; // where each page is
};

// An array of records, each in one page.
// A record never crosses a page, so one memcpy reads it; at most sizeof(Record) - 1 bytes of a page
// are unused. Records are copied in and out, as a reference would not survive the next access.
template <typename Record>
class PagedArray {
    static constexpr size_t kPerPage = PagePool::kPageBytes / sizeof(Record);

  public:
    explicit PagedArray(PagePool* pool) : file_(pool) {}

    size_t size() const { return count_; }

    void add(const Record& record) {
        memcpy(file_.change(count_ / kPerPage) + offset(count_), &record, sizeof(Record));
        count_++;
    }

    void add_all(std::span<const Record> records) {
        while (!records.empty()) {
            auto piece = records.first(std::min(records.size(), kPerPage - count_ % kPerPage));
            memcpy(file_.change(count_ / kPerPage) + offset(count_), piece.data(),
                   piece.size_bytes());
            count_ += piece.size();
            records = records.subspan(piece.size());
        }
    }

    Record operator[](size_t i) {
        Record record;
        memcpy(&record, file_.read(i / kPerPage) + offset(i), sizeof(Record));
        return record;
    }

    void set(size_t i, const Record& record) {
        memcpy(file_.change(i / kPerPage) + offset(i), &record, sizeof(Record));
    }

    // For records here and there. No page of a large array comes into memory. A Reader does not see
    // what is written later.
    Record peek(size_t i) {
        if (!file_.is_large())
            return (*this)[i];
        Record record;
        file_.peek(i / kPerPage, offset(i), &record, sizeof(Record));
        return record;
    }
    void poke(size_t i, const Record& record) {
        if (!file_.is_large())
            return set(i, record);
        file_.poke(i / kPerPage, offset(i), &record, sizeof(Record));
    }

    // Reads many records, in rising order, from a copy of their page.
    class Reader {
      public:
        explicit Reader(PagedArray* array) : array_(*array) {}

        const Record& operator[](size_t i) {
            if (i / kPerPage != page_) {
                CHECK_FOR_INTERRUPTS();
                page_ = i / kPerPage;
                // A page that comes into memory would take the place of one that others read.
                array_.file_.peek(page_, 0, records_, sizeof(records_));
            }
            return records_[i % kPerPage];
        }
        // The records from this one to the end of its page.
        std::span<const Record> from(size_t i) {
            size_t count = std::min(kPerPage - i % kPerPage, array_.size() - i);
            return {&(*this)[i], count};
        }

      private:
        PagedArray& array_;
        size_t page_ = SIZE_MAX;
        Record records_[kPerPage];
    };

    // Empties the array. Its memory returns to the pool, which keeps the frames for others.
    void close() {
        file_.close();
        count_ = 0;
    }

  private:
    static size_t offset(size_t i) { return i % kPerPage * sizeof(Record); }

    PagedFile file_;
    size_t count_ = 0;
};

// Records that are dealt to parts, so that what belongs to one part fits in memory. There are at
// most kMost parts, and half as many as the pool has frames, because each part has a page that is
// written to. More records make larger parts, which the user's sort or look-ups bear.
template <typename Record>
class PagedParts {
  public:
    static constexpr size_t kMost = 128;

    PagedParts(PagePool* pool, size_t parts)
        : count_(std::min({parts, kMost, pool->memory_bytes() / PagePool::kPageBytes / 2})) {
        for (size_t part = 0; part < count_; part++)
            parts_[part].emplace(pool);
    }

    size_t count() const { return count_; }

    void add(size_t part, const Record& record) { parts_[part]->add(record); }

    // Calls take(records) for those of a part, in the order in which they were added.
    void each(size_t part, const auto& take) {
        typename PagedArray<Record>::Reader records(&*parts_[part]);
        for (size_t i = 0; i < parts_[part]->size();) {
            std::span<const Record> piece = records.from(i);
            take(piece);
            i += piece.size();
        }
    }

    // Empties a part.
    void close(size_t part) { parts_[part]->close(); }

  private:
    size_t count_;
    std::optional<PagedArray<Record>> parts_[kMost];
};

// An array of bits, which is small enough to stay in memory where rows are asked for in any order.
class PagedBits {
  public:
    static constexpr size_t kWord = 64; // bits

    explicit PagedBits(PagePool* pool) : words_(pool) {}

    void add(bool bit) {
        if (count_ % kWord == 0)
            words_.add(0);
        set(count_++, bit);
    }

    bool operator[](size_t i) { return words_[i / kWord] >> i % kWord & 1; }

    void set(size_t i, bool bit) {
        uint64_t mask = uint64_t{1} << i % kWord, word = words_[i / kWord];
        words_.set(i / kWord, bit ? word | mask : word & ~mask);
    }

    // Calls take(i) for the ones, in their order.
    void each_one(const auto& take) {
        for (size_t word = 0; word < words_.size(); word++) {
            CHECK_FOR_INTERRUPTS();
            for (uint64_t left = words_[word]; left != 0; left &= left - 1)
                take(word * kWord + size_t(std::countr_zero(left)));
        }
    }

    size_t words() const { return words_.size(); }
    uint32_t ones_in(size_t word) { return uint32_t(std::popcount(words_[word])); }
    // The ones before this bit in its word.
    uint32_t ones_before(size_t i) {
        return uint32_t(std::popcount(words_[i / kWord] & ((uint64_t{1} << i % kWord) - 1)));
    }

    void close() {
        words_.close();
        count_ = 0;
    }

  private:
    PagedArray<uint64_t> words_;
    size_t count_ = 0;
};

// A set of numbers, which are added in rising order: the words of its bits, but for those that have
// none. So neighbours take a bit each, and numbers that are far apart 16 bytes.
class PagedSet {
  public:
    explicit PagedSet(PagePool* pool) : words_(pool) {}

    void add(size_t number) {
        if (count_ == 0 || number / kBits != last_.first)
            words_.add(last_ = {number / kBits, 0});
        last_.second |= uint64_t{1} << number % kBits;
        words_.set(words_.size() - 1, last_);
        count_++;
    }

    size_t size() const { return count_; }

    // Calls take(number) for all, in rising order.
    void each(const auto& take) {
        PagedArray<Pair>::Reader words(&words_);
        for (size_t i = 0; i < words_.size(); i++) {
            CHECK_FOR_INTERRUPTS();
            for (auto [word, left] = words[i]; left != 0; left &= left - 1)
                take(word * kBits + size_t(std::countr_zero(left)));
        }
    }

    void close() {
        words_.close();
        count_ = 0;
    }

  private:
    static constexpr size_t kBits = 64;

    PagedArray<Pair> words_; // (number / kBits, its bits)
    Pair last_{};
    size_t count_ = 0;
};

// A sequence of bytes.
class PagedBytes {
  public:
    explicit PagedBytes(PagePool* pool) : file_(pool) {}

    // Where the next bytes will be.
    uint64_t size() const { return size_; }
    bool has_file() const { return file_.has_file(); }

    void append(const void* data, size_t bytes);
    void read(uint64_t position, void* out, size_t bytes);
    // The bytes, or null where they are not in one page in memory.
    const char* in_memory(uint64_t position, size_t bytes) const {
        size_t begin = position % PagePool::kPageBytes;
        const char* page = file_.in_memory(position / PagePool::kPageBytes);
        return page != nullptr && begin + bytes <= PagePool::kPageBytes ? page + begin : nullptr;
    }
    // For bytes here and there: no page comes into memory.
    void peek(uint64_t position, void* out, size_t bytes);

    void close() {
        file_.close();
        size_ = 0;
    }

  private:
    // Calls copy(page, begin, at, bytes) for each page of these: where in the page a piece begins,
    // and where among the bytes.
    static void each_piece(uint64_t position, size_t bytes, const auto& copy);

    PagedFile file_;
    uint64_t size_ = 0;
};

} // namespace simhash
