// Brings pages into frames. See the header.
#include "server/paged_array.hpp"

#include <utility>

namespace simhash {

// ---- the pool ----

uint32 PagePool::free_frame() {
    if (unused_ != kNoFrame)
        return uint32(std::exchange(unused_, frames_[unused_].page));
    if (frames_.size() < most_) {
        // Only the table of frames moves, not the frames' bytes: callers have pointers to them.
        frames_.add({allocate_array<char>(memory_, kPageBytes), nullptr, 0, false, false});
        return uint32(frames_.size() - 1);
    }
    // This is the clock algorithm. A page that was used since the hand last came by gets a second
    // chance. The second round finds a frame at the latest, because the first clears all flags.
    for (;; hand_ = (hand_ + 1) % frames_.size()) {
        Frame& frame = frames_[hand_];
        if (frame.used) {
            frame.used = false;
            continue;
        }
        // If this fails, for lack of space, the pool is still as it was.
        frame.owner->write(frame);
        uint32 found = uint32(hand_);
        // The hand goes on behind the frame, so the new page is the last that it comes to again.
        hand_ = (hand_ + 1) % frames_.size();
        return found;
    }
}

// ---- an array's pages ----

uint32 PagedFile::bring(size_t page) {
    // A page in memory costs no check; a loop over an array can be cancelled at each page it reads.
    CHECK_FOR_INTERRUPTS();
    // This may write a page of this array, or of another one, to its file.
    uint32 number = pool_->free_frame();
    PagePool::Frame& frame = pool_->frames_[number];
    bool is_new = page == frames_.size();
    if (is_new) {
        frames_.add(kOut);
        // The whole page goes to the file, also the end that no record fills. It must not show what
        // the frame held before.
        memset(frame.bytes, 0, PagePool::kPageBytes);
    } else {
        file_.read(int64(page * PagePool::kPageBytes), frame.bytes, PagePool::kPageBytes);
    }
    // A new page counts as changed, so that it is in the file before it is read from there.
    frame = {frame.bytes, this, page, true, is_new};
    return frames_[page] = number;
}

// Writes the page of a frame if it changed, and notes that it is in the file.
void PagedFile::write(const PagePool::Frame& frame) {
    if (frame.changed) {
        if (!file_.exists())
            file_ = pool_->files_.create();
        file_.write(int64(frame.page * PagePool::kPageBytes), frame.bytes, PagePool::kPageBytes);
    }
    frames_[frame.page] = kOut;
}

// The pages in memory need not be written: nobody reads them any more. Their frames become unused,
// and are taken before that of any other page.
void PagedFile::close() {
    for (size_t page = 0; page < frames_.size(); page++)
        if (frames_[page] != kOut) {
            PagePool::Frame& frame = pool_->frames_[frames_[page]];
            frame.owner = nullptr;
            frame.page = std::exchange(pool_->unused_, frames_[page]);
        }
    frames_.release();
    file_.close();
}

// ---- bytes ----

void PagedBytes::each_piece(uint64_t position, size_t bytes, const auto& copy) {
    for (size_t at = 0, piece; at < bytes; at += piece) {
        size_t begin = (position + at) % PagePool::kPageBytes;
        piece = std::min(bytes - at, PagePool::kPageBytes - begin);
        copy((position + at) / PagePool::kPageBytes, begin, at, piece);
    }
}

void PagedBytes::append(const void* data, size_t bytes) {
    const char* from = static_cast<const char*>(data);
    // Where a piece begins with its page, change() adds a new page.
    each_piece(size_, bytes, [&](size_t page, size_t begin, size_t at, size_t piece) {
        memcpy(file_.change(page) + begin, from + at, piece);
    });
    size_ += bytes;
}

void PagedBytes::read(uint64_t position, void* out, size_t bytes) {
    char* to = static_cast<char*>(out);
    each_piece(position, bytes, [&](size_t page, size_t begin, size_t at, size_t piece) {
        memcpy(to + at, file_.read(page) + begin, piece);
    });
}

void PagedBytes::peek(uint64_t position, void* out, size_t bytes) {
    char* to = static_cast<char*>(out);
    each_piece(position, bytes, [&](size_t page, size_t begin, size_t at, size_t piece) {
        file_.peek(page, begin, to + at, piece);
    });
}

} // namespace simhash
