// The owner of temporary files. See the header.
#include "server/temporary_file.hpp"

namespace simhash {
namespace {

void close_files(ResourceOwner owner) {
    // As after an error: files that are left are what this is for, and no leak to warn of.
    ResourceOwnerRelease(owner, RESOURCE_RELEASE_BEFORE_LOCKS, false, true);
    ResourceOwnerRelease(owner, RESOURCE_RELEASE_LOCKS, false, true);
    ResourceOwnerRelease(owner, RESOURCE_RELEASE_AFTER_LOCKS, false, true);
}

// Some memory, such as that of a statement in PL/pgSQL, goes after the server has looked for open
// files, of which it warns.
void close_at_abort(XactEvent event, void* argument) {
    if (event == XACT_EVENT_ABORT || event == XACT_EVENT_PARALLEL_ABORT)
        close_files(static_cast<ResourceOwner>(argument));
}

void release_owner(void* argument) {
    auto* owner = static_cast<ResourceOwner>(argument);
    UnregisterXactCallback(close_at_abort, owner);
    close_files(owner);
    ResourceOwnerDelete(owner);
}

// It has no parent, so the server releases it at the end of no statement.
ResourceOwner make_owner(MemoryContext context) {
    auto* callback = static_cast<MemoryContextCallback*>(
        MemoryContextAllocZero(context, sizeof(MemoryContextCallback)));
    ResourceOwner owner = ResourceOwnerCreate(nullptr, "simhash temporary files");
    callback->func = release_owner;
    callback->arg = owner;
    MemoryContextRegisterResetCallback(context, callback);
    RegisterXactCallback(close_at_abort, owner);
    return owner;
}

} // namespace

// FileWrite() and FileRead() return an int before PostgreSQL 16.
void TemporaryFile::write(int64 position, const void* data, size_t bytes) {
    errno = 0;
    auto written = FileWrite(file_, static_cast<char*>(const_cast<void*>(data)), int(bytes),
                             position, WAIT_EVENT_BUFFILE_WRITE);
    if (written != decltype(written)(bytes)) {
        if (errno == 0)
            errno = ENOSPC;
        ereport(ERROR, errcode_for_file_access(), errmsg("could not write to temporary file: %m"));
    }
    size_ = std::max(size_, position + int64(bytes));
}

void TemporaryFile::read(int64 position, void* out, size_t bytes) const {
    for (size_t at = 0; at < bytes; at += kPiece) {
        if (at > 0)
            CHECK_FOR_INTERRUPTS();
        size_t piece = std::min(kPiece, bytes - at);
        auto done = FileRead(file_, static_cast<char*>(out) + at, int(piece), position + int64(at),
                             WAIT_EVENT_BUFFILE_READ);
        if (done < 0)
            ereport(ERROR, errcode_for_file_access(),
                    errmsg("could not read from temporary file: %m"));
        if (done != decltype(done)(piece))
            ereport(ERROR, errcode_for_file_access(),
                    errmsg("could not read from temporary file: read only %zu of %zu bytes",
                           size_t(done), piece));
    }
}

TemporaryFile TemporaryFiles::create() {
    if (owner_ == nullptr)
        owner_ = make_owner(context_);
    PrepareTempTablespaces();
    // The server notes the file with the current owner. After an error here it sets that anew.
    ResourceOwner caller = CurrentResourceOwner;
    CurrentResourceOwner = owner_;
    TemporaryFile file(OpenTemporaryFile(false));
    CurrentResourceOwner = caller;
    return file;
}

} // namespace simhash
