// Temporary files. A memory context owns those of one backend (TemporaryFiles) and frees them when
// it is reset or deleted, also after an error; a SharedFileSet owns those of a parallel build. They
// count for temp_file_limit, temp_tablespaces places them, and log_temp_files logs them.
#pragma once

#include <algorithm>
#include <fcntl.h>

#include "server/pg.hpp"

namespace simhash {

// A file of this backend, or of a set that several backends share. It is read and written anywhere,
// in larger pieces than the server's BufFile uses. This is a handle, which may be copied.
class TemporaryFile {
  public:
    TemporaryFile() = default;
    static TemporaryFile create(SharedFileSet* set, const char* name) {
        return TemporaryFile(FileSetCreate(&set->fs, name));
    }
    // Opens a file of another participant. It does not exist() where none has that name.
    static TemporaryFile open(SharedFileSet* set, const char* name) {
        TemporaryFile file(FileSetOpen(&set->fs, name, O_RDONLY));
        if (file.exists() && (file.size_ = FileSize(file.file_)) < 0)
            ereport(ERROR, errcode_for_file_access(),
                    errmsg("could not determine size of temporary file \"%s\": %m", name));
        return file;
    }

    // The server numbers open files from 1; FileSetOpen() returns less where it finds none.
    bool exists() const { return file_ > 0; }
    int64 size() const { return size_; }

    // Writes and reads in pieces of 1 MB: a cancellation waits for one.
    void append(const void* data, size_t bytes) {
        for (size_t at = 0; at < bytes; at += kPiece) {
            CHECK_FOR_INTERRUPTS();
            write(size_, static_cast<const char*>(data) + at, std::min(kPiece, bytes - at));
        }
    }
    void read(int64 position, void* out, size_t bytes) const;

    // Writes over what is there, or beyond the end; at most kPiece bytes.
    void write(int64 position, const void* data, size_t bytes);

    // Removes the file, unless it belongs to a set.
    void close() {
        if (exists())
            FileClose(file_);
        *this = TemporaryFile();
    }

  private:
    friend class TemporaryFiles;

    static constexpr size_t kPiece = size_t{1} << 20; // bytes

    explicit TemporaryFile(File file) : file_(file) {}

    File file_ = 0;
    int64 size_ = 0;
};

// Makes the files of this backend. A file lives until it is closed, or else as long as a memory
// context: it is removed when that is reset or deleted, as after an error or where a query needs no
// more rows. The end of a statement alone removes none: a cursor may ask for rows later.
class TemporaryFiles {
  public:
    explicit TemporaryFiles(MemoryContext context) : context_(context) {}

    TemporaryFile create();

  private:
    MemoryContext context_;
    ResourceOwner owner_ = nullptr; // of the files; made with the first one
};

} // namespace simhash
