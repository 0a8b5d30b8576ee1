// Writes and reads temporary files of fingerprints. See the header.
#include "tables/fingerprint_files.hpp"

#include <algorithm>

namespace simhash {
namespace {

// A piece has 512 kB, and a cancellation waits for one of them at most.
constexpr size_t kFingerprintsPerPause = 1 << 16;

BufFile* buf_file(void* file) {
    return static_cast<BufFile*>(file);
}

void* create_file() {
    // The file belongs to the current resource owner, so it is removed even where an error jumps
    // over the core.
    return BufFileCreateTemp(false);
}

void write_file(void* file, const uint64_t* fingerprints, size_t count) {
    for (size_t at = 0; at < count; at += kFingerprintsPerPause) {
        CHECK_FOR_INTERRUPTS();
        BufFileWrite(buf_file(file),
                     const_cast<uint64_t*>(fingerprints + at), // PostgreSQL 15 takes no const
                     std::min(kFingerprintsPerPause, count - at) * sizeof(uint64_t));
    }
}

[[noreturn]] void report_unreadable() {
    ereport(ERROR, (errcode_for_file_access(), errmsg("could not read from temporary file: %m")));
}

// The file's buffer may still hold the last writes: BufFileSeek() writes them out, unless the
// beginning of the file is in the same buffer.
void rewind_file(void* file) {
    if (BufFileSeek(buf_file(file), 0, 0, SEEK_SET) != 0)
        report_unreadable();
}

void read_file(void* file, uint64_t* fingerprints, size_t count) {
    for (size_t at = 0; at < count; at += kFingerprintsPerPause) {
        size_t bytes = std::min(kFingerprintsPerPause, count - at) * sizeof(uint64_t);
        CHECK_FOR_INTERRUPTS();
        if (BufFileRead(buf_file(file), fingerprints + at, bytes) != bytes)
            report_unreadable();
    }
}

void remove_file(void* file) {
    BufFileClose(buf_file(file));
}

} // namespace

FingerprintFiles temporary_files() {
    return {create_file, write_file, rewind_file, read_file, remove_file};
}

} // namespace simhash
