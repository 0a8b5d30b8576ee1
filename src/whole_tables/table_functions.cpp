// near_duplicate_pairs, near_duplicate_groups and near_duplicate_join; simhash_pairs,
// simhash_groups and simhash_join: of the rows that a query returns, or two queries, by their ids.
// Neither an index nor a column of fingerprints is needed for documents.
//
// The limit of memory is that of a hash table in the same query: work_mem times
// hash_mem_multiplier. Some of it is for what is kept of rows, and the rest for sorting, and then
// for the search. What does not fit is in temporary files.
#include <bit>

#include "whole_tables/codes.hpp"
#include "whole_tables/documents.hpp"
#include "whole_tables/groups.hpp"

using namespace simhash;

namespace {

// Documents, whose similarity is asked for, or fingerprints and codes, whose distance is.
enum class Kind { kDocuments, kValues };

// The rows that are searched: of one query or two.
class Rows {
  public:
    // In the current memory context. limit: the similarity or the radius
    Rows(Kind kind, double limit, Oid id_type)
        : pool(CurrentMemoryContext, kind == Kind::kDocuments ? memory / 8 * 3 : memory / 16 * 5),
          ids(&pool, id_type), copies(&pool) {
        // Documents are many bytes in pages, and codes are in those of the search. The memory to
        // sort the rows of a query by their values ends before the search.
        if (kind == Kind::kDocuments)
            values = &documents_.emplace(&pool, &ids, limit, memory / 4, result_bytes);
        else
            values = &codes_.emplace(&pool, memory / 2, int32(limit));
    }

    // Reads the rows of one query or two, and finds what is compared. caller: the function that was
    // called. keep: each query is to run once. False if one that ran twice has given other values
    // the second time.
    bool read(std::span<text* const> queries, Oid caller, bool keep, bool all_pairs) {
        std::optional<RowQuery> reading[2];
        for (size_t i = 0; i < queries.size(); i++) {
            if (i == 1 && codes_)
                codes_->begin_second(models(0));
            reading[i].emplace(queries[i], caller, keep);
            reading[i]->read(&ids, values);
            if (i == 1 && codes_)
                codes_->end_second();
            values->find_models(ids.count(), &copies, &models_[i]);
        }
        values->begin_search(models(0), models(1), documents_ ? memory / 16 * 7 : memory / 8 * 3,
                             all_pairs);
        for (size_t i = 0; i < queries.size() && !values->has_contents(); i++)
            reading[i]->read_contents();
        for (size_t i = 0; i < queries.size(); i++)
            reading[i]->close();
        return values->has_contents();
    }

    Models* models(int query) { return models_[query] ? &*models_[query] : nullptr; }

    // Of rows with the same value.
    double measure_of_equal() const { return documents_ ? 1 : 0; }
    Datum datum(double measure) const {
        return documents_ ? Float8GetDatum(measure) : Int32GetDatum(int(measure));
    }

    size_t memory = get_hash_memory_limit();
    size_t result_bytes = memory / 8;
    PagePool pool;
    RowIds ids;
    Copies copies;
    SearchedValues* values;

  private:
    std::optional<Documents> documents_;
    std::optional<Codes> codes_;
    std::optional<Models> models_[2];
};

// ---- the functions' results ----

// Of one query or of two: the rows of the second have the greater numbers. In order of the first
// row, then of the other.
void put_pairs(Rows* rows, ResultRows* result) {
    Copies& copies = rows->copies;
    ExternalSorter<Pair> pairs(rows->result_bytes); // (both rows, measure)
    auto add = [&](RowNumber a, RowNumber b, double measure) {
        CHECK_FOR_INTERRUPTS();
        uint64_t earlier = std::min(a, b), later = std::max(a, b);
        pairs.add({earlier << 32 | later, std::bit_cast<uint64_t>(measure)});
    };
    // Each row that has the value of the one is as near to each that has that of the other.
    auto take = [&](RowNumber a, RowNumber b, double measure) {
        for (RowNumber i = a; i != kNoRow; i = copies.after(i))
            for (RowNumber j = b; j != kNoRow; j = copies.after(j))
                add(i, j, measure);
        return true;
    };
    rows->values->find(rows->models(0), rows->models(1), {take});
    for (size_t i = 0; rows->models(1) == nullptr && i < copies.rows(); i++) {
        auto row = RowNumber(i);
        CHECK_FOR_INTERRUPTS();
        // Each row is paired with all copies behind it, which gives every pair once.
        for (RowNumber copy = copies.after(row); copy != kNoRow; copy = copies.after(copy))
            add(row, copy, rows->measure_of_equal());
    }
    pairs.finish();
    for (Pair pair{}; pairs.next(&pair);)
        result->put(&rows->ids, RowNumber(pair.first >> 32), RowNumber(pair.first),
                    rows->datum(std::bit_cast<double>(pair.second)));
    pairs.release();
}

auto group_receiver(Rows* rows, ResultRows* result) {
    return [=](RowNumber row, RowNumber original, std::optional<double> measure) {
        result->put(&rows->ids, row, original,
                    measure ? std::optional(rows->datum(*measure)) : std::nullopt);
    };
}

// Each row of the query has a row, also one that is alone: it is its own original.
void put_groups(Rows* rows, ResultRows* result) {
    Originals originals(&rows->pool, rows->values, rows->ids.count(), rows->result_bytes);
    originals.find(rows->models(0));
    originals.give(&rows->copies, rows->measure_of_equal(), group_receiver(rows, result));
}

void put_chains(Rows* rows, ResultRows* result) {
    Links links(&rows->pool, rows->ids.count());
    links.find(rows->values, rows->models(0), &rows->copies);
    links.give(group_receiver(rows, result));
}

// ---- arguments ----

// The result of a function whose first arguments are the queries, and the next the similarity or
// the radius. It may have a last one, of which only the type counts: that of the ids. A query that
// is NULL gives no rows. put: what gives the result's rows
Datum table_result(FunctionCallInfo fcinfo, Kind kind, int query_count,
                   void (*put)(Rows* rows, ResultRows* result)) {
    bool are_documents = kind == Kind::kDocuments;
    InitMaterializedSRF(fcinfo, 0);
    require_not_null(fcinfo, query_count, are_documents ? "similarity" : "radius");
    for (int i = 0; i < query_count; i++)
        if (PG_ARGISNULL(i))
            return Datum(0);
    double limit = are_documents ? share_argument(fcinfo, query_count, "similarity")
                                 : PG_GETARG_INT32(query_count);
    text* queries[2];
    for (int i = 0; i < query_count; i++)
        queries[i] = PG_GETARG_TEXT_PP(i);
    give_result(fcinfo, [&](ResultRows* result, bool keep) {
        Rows rows(kind, limit, result->id_type());
        bool is_read = rows.read({queries, size_t(query_count)}, fcinfo->flinfo->fn_oid, keep,
                                 put == put_pairs);
        if (is_read)
            put(&rows, result);
        return is_read;
    });
    return Datum(0);
}

// The argument after the similarity or the radius says whether chains are one group.
Datum groups(FunctionCallInfo fcinfo, Kind kind) {
    require_not_null(fcinfo, 2, "chains");
    return table_result(fcinfo, kind, 1, PG_GETARG_BOOL(2) ? put_chains : put_groups);
}

} // namespace

// (query text, similarity double precision [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_near_duplicate_pairs) {
    return table_result(fcinfo, Kind::kDocuments, 1, put_pairs);
}

// (query text, similarity double precision, chains boolean [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_near_duplicate_groups) { return groups(fcinfo, Kind::kDocuments); }

// (a_query text, b_query text, similarity double precision [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_near_duplicate_join) {
    return table_result(fcinfo, Kind::kDocuments, 2, put_pairs);
}

// (query text, radius integer [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_pairs) { return table_result(fcinfo, Kind::kValues, 1, put_pairs); }

// (query text, radius integer, chains boolean [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_groups) { return groups(fcinfo, Kind::kValues); }

// (a_query text, b_query text, radius integer [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_join) { return table_result(fcinfo, Kind::kValues, 2, put_pairs); }
