// Ids and results. See the header.
#include "whole_tables/query_rows.hpp"

#include "server/progress.hpp"
#include "whole_tables/collector.hpp"

namespace simhash {
// ---- ids ----

RowIds::RowIds(PagePool* pool, Oid type)
    : type_(type), rows_(pool), places_(pool), ids_(pool), bytes_(pool) {
    get_typlenbyval(type, &length_, &by_value_);
}

void RowIds::begin_query(Oid type) {
    given_ = getBaseType(type);
    // A function without an id_type returns ids as bigint, and takes all integers.
    if (!IsBinaryCoercible(type, type_) && !(type_ == INT8OID && is_integer(given_)))
        ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
                errmsg("ids of the query are of type %s, not %s", format_type_be(type),
                       format_type_be(type_)),
                is_integer(given_)
                    ? errhint("Leave out the last argument, id_type: ids are integers without it.")
                    : errhint("Give all arguments, and name the type of the ids by the last one: "
                              "id_type => NULL::%s.",
                              format_type_be(type)));
}

void RowIds::add(Datum id, bool is_null) {
    if (is_null)
        ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                errmsg("query must not return an id that is null"),
                errhint("Leave out such rows in the query."));
    if (ids_.size() == kNoRow)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                errmsg("query returns too many rows"), errdetail("The limit is %u.", kNoRow));
    ids_.add(keep(id));
}

uint64_t RowIds::keep(Datum id) {
    if (is_integer(given_))
        return uint64_t(integer_value(id, given_));
    if (by_value_)
        return id;
    if (length_ == -1) // from a toasted or an expanded form
        id = PointerGetDatum(PG_DETOAST_DATUM_PACKED(id));
    // Each id stands behind its size in bytes, so ids of any type can be read back.
    uint64_t position = bytes_.size();
    auto bytes = uint32(datumGetSize(id, false, length_));
    bytes_.append(&bytes, sizeof(bytes));
    bytes_.append(DatumGetPointer(id), bytes);
    return position;
}

Datum RowIds::datum(uint64_t kept) {
    if (by_value_)
        return kept;
    uint32 bytes;
    bytes_.read(kept, &bytes, sizeof(bytes));
    void* copy = MemoryContextAllocHuge(CurrentMemoryContext, bytes);
    bytes_.read(kept + sizeof(bytes), copy, bytes);
    return PointerGetDatum(copy);
}

void RowIds::sort(RowNumber first, bool descending, size_t memory) {
    ExternalSorter<Pair> by_id(memory / 2);        // (id, place)
    ExternalSorter<uint64_t> by_place(memory / 2); // (place, row)
    bool in_order = true;
    uint64_t before = 0;
    for (RowNumber place = first; place < count(); place++) {
        uint64_t id = to_ordered(int64(ids_[place]));
        CHECK_FOR_INTERRUPTS();
        if (descending)
            id = ~id;
        in_order = in_order && before <= id;
        before = id;
        by_id.add({id, place});
    }
    if (!in_order) {
        for (auto row = RowNumber(rows_.size()); row < first; row++) {
            rows_.add(row);
            places_.add(row);
        }
        by_id.finish();
        for (Pair entry{}; by_id.next(&entry);) {
            CHECK_FOR_INTERRUPTS();
            by_place.add(entry.second << 32 | places_.size());
            places_.add(RowNumber(entry.second));
        }
        by_place.finish();
        for (uint64_t entry; by_place.next(&entry);) {
            CHECK_FOR_INTERRUPTS();
            rows_.add(RowNumber(entry));
        }
    }
    by_id.release();
    by_place.release();
}

// ---- the result ----

void require_not_null(FunctionCallInfo fcinfo, int argument, const char* what) {
    if (PG_ARGISNULL(argument))
        ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be null", what),
                errhint("The type of the ids is the last argument, after all others."));
}

ResultRows::ResultRows(FunctionCallInfo fcinfo)
    : result_(reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo)) {
    row_context_ =
        AllocSetContextCreate(CurrentMemoryContext, "simhash ids", ALLOCSET_DEFAULT_SIZES);
    // The tuplestore that the server's code has made would take as much memory again as all else
    // of the call. It is filled while pages of our arrays are still read.
    MemoryContext own = MemoryContextSwitchTo(result_->econtext->ecxt_per_query_memory);
    tuplestore_end(result_->setResult);
    result_->setResult =
        tuplestore_begin_heap((result_->allowedModes & SFRM_Materialize_Random) != 0, false,
                              int(std::min<size_t>(get_hash_memory_limit() / 4 / 1024, INT_MAX)));
    MemoryContextSwitchTo(own);
}

void ResultRows::put(RowIds* ids, RowNumber id, RowNumber other, std::optional<Datum> measure) {
    bool nulls[] = {false, false, !measure};
    CHECK_FOR_INTERRUPTS();
    if (count_++ == 0)
        Progress::begin("returned", " rows", 0);
    Progress::step();
    // The ids of a row are copies, which go with the row.
    MemoryContext caller = MemoryContextSwitchTo(row_context_);
    Datum values[] = {(*ids)[id], ids->peek(other), measure.value_or(Datum(0))};
    tuplestore_putvalues(result_->setResult, result_->setDesc, values, nulls);
    MemoryContextSwitchTo(caller);
    MemoryContextReset(row_context_);
}

} // namespace simhash
