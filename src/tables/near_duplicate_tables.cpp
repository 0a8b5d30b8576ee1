// near_duplicate_pairs and near_duplicate_groups: the near-duplicates among the documents that a
// query returns, as pairs and as groups. A document's shingles are compared, so neither an index
// nor a column of fingerprints is needed.
//
// The limit of memory is that of a hash table in the same query: work_mem times
// hash_mem_multiplier. Half of it is for the documents' sets and what belongs to them, of which the
// rest is in temporary files; the other half is for sorting and for the search.
#include "server/pg.hpp"

#include <bit>

#include "server/sorter.hpp"
#include "server/arguments.hpp"
#include "tables/near_documents.hpp"

using namespace simhash;

namespace {

// The parts of the memory.
struct Shares {
    size_t memory = get_hash_memory_limit();
    size_t pages = memory / 2;
    size_t sort = memory / 4; // the documents by their sets; ends before the search
    size_t search = memory / 8 * 3;
    size_t results = memory / 8;
};

// The rows of a function whose first two columns are ids.
class ResultRows {
  public:
    ResultRows(FunctionCallInfo fcinfo, Documents* documents)
        : result_(reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo)), documents_(*documents),
          row_context_(
              AllocSetContextCreate(CurrentMemoryContext, "simhash ids", ALLOCSET_DEFAULT_SIZES)) {}

    // The result of groups has two columns, and the third value is not looked at.
    void put(DocumentNumber id, DocumentNumber other, double similarity = 0) {
        static constexpr bool kNulls[3] = {};
        CHECK_FOR_INTERRUPTS();
        // The ids of a row are copies, which go with the row.
        MemoryContext caller = MemoryContextSwitchTo(row_context_);
        Datum values[3] = {documents_.id(id), documents_.id(other), Float8GetDatum(similarity)};
        tuplestore_putvalues(result_->setResult, result_->setDesc, values,
                             const_cast<bool*>(kNulls)); // PostgreSQL 15 takes no const
        MemoryContextSwitchTo(caller);
        MemoryContextReset(row_context_);
    }

  private:
    ReturnSetInfo* result_;
    Documents& documents_;
    MemoryContext row_context_;
};

// The pairs that were found, until they are given in order.
class PairsInOrder {
  public:
    PairsInOrder(Documents* documents, size_t memory) : documents_(*documents), sorter_(memory) {}

    NearDocumentsReceiver receiver() { return {add_models, this}; }

    // The documents that have equal sets.
    void add_copies() {
        for (size_t number = 0; number < documents_.count(); number++) {
            CHECK_FOR_INTERRUPTS();
            for (DocumentNumber copy = documents_[DocumentNumber(number)].next_copy;
                 copy != kNoDocument; copy = documents_[copy].next_copy)
                // Each document is paired with all copies behind it, which gives every pair of a
                // set's documents once.
                add(DocumentNumber(number), copy, 1);
        }
    }

    void give(ResultRows* rows) {
        sorter_.finish();
        for (Entry pair{}; sorter_.next(&pair);)
            rows->put(DocumentNumber(pair.key >> 32), DocumentNumber(pair.key),
                      std::bit_cast<double>(pair.tid));
        sorter_.release();
    }

  private:
    // Each document that has the set of the one is as similar to each that has that of the other.
    static void add_models(void* pairs, DocumentNumber a, DocumentNumber b, double similarity) {
        auto* self = static_cast<PairsInOrder*>(pairs);
        for (DocumentNumber i = a; i != kNoDocument; i = self->documents_[i].next_copy)
            for (DocumentNumber j = b; j != kNoDocument; j = self->documents_[j].next_copy)
                self->add(i, j, similarity);
    }

    void add(DocumentNumber a, DocumentNumber b, double similarity) {
        CHECK_FOR_INTERRUPTS();
        uint64_t earlier = std::min(a, b), later = std::max(a, b);
        // The key orders the pairs by the earlier document, then by the later one. No two have the
        // same key.
        sorter_.add({earlier << 32 | later, std::bit_cast<uint64_t>(similarity)});
    }

    Documents& documents_;
    ExternalSorter<Entry> sorter_; // (both numbers, similarity)
};

void put_pairs(FunctionCallInfo fcinfo, Documents* documents, PagePool* pool, const Shares& shares,
               double similarity) {
    PairsInOrder pairs(documents, shares.results);
    ResultRows rows(fcinfo, documents);
    find_near_documents(documents, pool, shares.search, similarity, pairs.receiver());
    documents->release_sets();
    pairs.add_copies();
    pairs.give(&rows);
}

void put_groups(FunctionCallInfo fcinfo, Documents* documents, PagePool* pool, const Shares& shares,
                double similarity) {
    DocumentLinks links(pool, documents->count());
    ResultRows rows(fcinfo, documents);
    link_near_documents(documents, pool, shares.search, similarity, &links);
    documents->release_sets();
    // Each document has a row, also one that is alone: it is its own original.
    for (size_t i = 0; i < documents->count(); i++)
        rows.put(DocumentNumber(i), links.original_of(DocumentNumber(i)));
    links.release();
}

// The result of a function (query text, similarity double precision [, id_type anyelement]): put()
// puts the rows there. It runs in a memory context of its own, which is deleted at the end. The
// type of the ids is that of the result's columns.
template <typename Put>
Datum near_duplicates(FunctionCallInfo fcinfo, const Put& put) {
    InitMaterializedSRF(fcinfo, 0);
    if (PG_ARGISNULL(1))
        ereport(ERROR,
                (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("similarity must not be null"),
                 errhint("The type of the ids stands after the similarity, as in (query, 0.8, "
                         "NULL::uuid).")));
    // No query, no rows. The id_type may be null: only its type counts.
    if (PG_ARGISNULL(0))
        return Datum(0);
    double similarity = share_argument(fcinfo, 1, "similarity");
    Oid id_type =
        TupleDescAttr(reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo)->setDesc, 0)->atttypid;
    text* query = PG_GETARG_TEXT_PP(0);
    MemoryContext context =
        AllocSetContextCreate(CurrentMemoryContext, "near duplicates", ALLOCSET_DEFAULT_SIZES);
    MemoryContext caller = MemoryContextSwitchTo(context);
    Shares shares;
    PagePool pool(context, shares.pages);
    Documents documents(&pool, id_type, shares.sort);
    documents.read_query(query);
    put(fcinfo, &documents, &pool, shares, similarity);
    documents.release();
    MemoryContextSwitchTo(caller);
    MemoryContextDelete(context);
    return Datum(0);
}

} // namespace

extern "C" {
PG_FUNCTION_INFO_V1(simhash_near_duplicate_pairs);
PG_FUNCTION_INFO_V1(simhash_near_duplicate_groups);

Datum simhash_near_duplicate_pairs(PG_FUNCTION_ARGS) {
    return near_duplicates(fcinfo, put_pairs);
}

Datum simhash_near_duplicate_groups(PG_FUNCTION_ARGS) {
    return near_duplicates(fcinfo, put_groups);
}
}
