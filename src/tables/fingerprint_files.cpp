// Writes and reads temporary files of fingerprints. See the header.
#include "tables/fingerprint_files.hpp"

#include "server/temporary_file.hpp"

namespace simhash {
namespace {

struct Files {
    MemoryContext context;
    TemporaryFiles files;
};

struct OpenFile {
    TemporaryFile file;
    int64 position; // of the next fingerprint that is read
};

OpenFile* open_file(void* file) {
    return static_cast<OpenFile*>(file);
}

void* create_file(void* context) {
    auto* files = static_cast<Files*>(context);
    auto* file = static_cast<OpenFile*>(MemoryContextAlloc(files->context, sizeof(OpenFile)));
    *file = {files->files.create(), 0};
    return file;
}

void write_file(void* file, const uint64_t* fingerprints, size_t count) {
    open_file(file)->file.append(fingerprints, count * sizeof(uint64_t));
}

void rewind_file(void* file) {
    open_file(file)->position = 0;
}

void read_file(void* file, uint64_t* fingerprints, size_t count) {
    size_t bytes = count * sizeof(uint64_t);
    CHECK_FOR_INTERRUPTS();
    open_file(file)->file.read(open_file(file)->position, fingerprints, bytes);
    open_file(file)->position += int64(bytes);
}

void remove_file(void* file) {
    open_file(file)->file.close();
    pfree(file);
}

} // namespace

FingerprintFiles fingerprint_files(MemoryContext context) {
    auto* files = static_cast<Files*>(MemoryContextAlloc(context, sizeof(Files)));
    *files = {context, TemporaryFiles(context)};
    return {files, create_file, write_file, rewind_file, read_file, remove_file};
}

} // namespace simhash
