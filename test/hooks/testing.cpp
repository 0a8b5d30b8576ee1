// Functions that tests need inside the server: the points of src/index/testing.hpp, and two that read
// and write a page. They are in build/testing/simhash.so alone.
#include "index/testing.hpp"

#include "server/pg.hpp"

namespace simhash {

void pause_for_test(const char* point) {
    const char* longest = GetConfigOption("simhash_test.longest_nap", true, false);
    if (longest != nullptr && random() % 20 == 0)
        pg_usleep(random() % (atol(longest) + 1));
    const char* wanted = GetConfigOption("simhash_test.pause_at", true, false);
    size_t length = strlen(point);
    while (wanted != nullptr && (strncmp(wanted, point, length) != 0 || wanted[length] != '/')) {
        const char* comma = strchr(wanted, ',');
        wanted = comma == nullptr ? nullptr : comma + 1;
    }
    if (wanted == nullptr)
        return;
    int64 lock = atoi(wanted + length + 1);
    DirectFunctionCall1(pg_advisory_lock_int8, Int64GetDatum(lock));
    DirectFunctionCall1(pg_advisory_unlock_int8, Int64GetDatum(lock));
}

void fail_for_test(const char* point) {
    const char* wanted = GetConfigOption("simhash_test.fail_at", true, false);
    if (wanted != nullptr && strcmp(wanted, point) == 0)
        ereport(ERROR, (errmsg("failing at %s", point)));
}

} // namespace simhash

extern "C" {
PG_FUNCTION_INFO_V1(simhash_test_read_page);
PG_FUNCTION_INFO_V1(simhash_test_write_page);

// (index regclass, block integer) returns bytea
Datum simhash_test_read_page(PG_FUNCTION_ARGS) {
    Relation index = index_open(PG_GETARG_OID(0), AccessShareLock);
    auto* result = static_cast<bytea*>(palloc(VARHDRSZ + BLCKSZ));
    SET_VARSIZE(result, VARHDRSZ + BLCKSZ);
    Buffer buffer = ReadBuffer(index, BlockNumber(PG_GETARG_INT32(1)));
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    memcpy(VARDATA(result), BufferGetPage(buffer), BLCKSZ);
    UnlockReleaseBuffer(buffer);
    index_close(index, AccessShareLock);
    PG_RETURN_BYTEA_P(result);
}

// (index regclass, block integer, page bytea) returns void: puts a page of any content in place.
Datum simhash_test_write_page(PG_FUNCTION_ARGS) {
    Relation index = index_open(PG_GETARG_OID(0), RowExclusiveLock);
    bytea* page = PG_GETARG_BYTEA_PP(2);
    if (VARSIZE_ANY_EXHDR(page) != BLCKSZ)
        elog(ERROR, "a page has %d bytes", BLCKSZ);
    Buffer buffer = ReadBuffer(index, BlockNumber(PG_GETARG_INT32(1)));
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    memcpy(BufferGetPage(buffer), VARDATA_ANY(page), BLCKSZ);
    MarkBufferDirty(buffer);
    UnlockReleaseBuffer(buffer);
    CacheInvalidateRelcache(index); // drops every backend's cached metapage
    index_close(index, RowExclusiveLock);
    PG_RETURN_VOID();
}
}
