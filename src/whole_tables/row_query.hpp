// A query that is given as a text, and whose rows are read in one pass or in two: an id, and a
// value to search.
//
// In two passes the server gives digests first, and of the candidates the content later
// (digests.hpp). For that the value's expression is replaced in the parsed query, which runs twice
// under one snapshot:
//
//     SELECT id, body FROM docs ORDER BY id
//     SELECT id, document_digest(body, $1) FROM docs       first pass
//     SELECT id, document_content(body, $1) FROM docs      second pass
//
// An order that decides which rows there are stays, and in the first pass each other than that by
// an integer id: by this the rows are ordered when they have come.
//
// Where the value decides about rows, as by DISTINCT, the query becomes a subquery:
//
//     SELECT id, document_digest(body, $1) FROM (SELECT DISTINCT id, body FROM docs) query
//
// A query that calls volatile functions runs once: its values are kept in a tuplestore, which is
// read twice.
#pragma once

#include "server/progress.hpp"
#include "whole_tables/contents.hpp"
#include "whole_tables/query_rows.hpp"

namespace simhash {

// The values of the rows.
class RowValues {
  public:
    // columns: in the message about other columns, "an id and a text". example: of a query
    // contents: of documents, or null
    RowValues(const char* columns, const char* example, Contents* contents)
        : columns(columns), example(example), contents(contents) {}

    // Called for a query, before its first row, with the type and the name of its second column.
    // Raises an error where the type is another one.
    virtual void begin(Oid type, const char* name) = 0;
    // Called for each row, in a memory context of that row.
    virtual void add(RowNumber row, Datum value_or_digest, bool is_null) = 0;
    // Whether the second pass has given all that is wanted.
    bool has_contents() const { return contents == nullptr || contents->are_complete(); }

    const char *const columns, *const example;
    Contents* const contents; // of documents; null: fingerprints or codes, which come as they are
    // The functions of the two passes, for documents of the type that begin() was called with.
    const PassFunctions* passes = nullptr;
    // Memory to order the rows in when they have come, in bytes; 0: they come in the query's order.
    size_t order_memory = 0;

  protected:
    // Raises the error of a second column of another type, with what to write instead.
    [[noreturn]] void report_type(Oid type, const char* name) const;
};

class RowQuery {
  public:
    // In the current memory context. caller: the function of ours that was called; those of the
    // passes are in its schema. keep: the query is to run once
    RowQuery(const text* query, Oid caller, bool keep)
        : statement_(text_to_cstring(query)), caller_(caller), keep_(keep),
          context_(CurrentMemoryContext) {}

    // As the planner expects.
    double expected_rows(const RowValues& values) const;
    // Runs the query, which must be one SELECT that only reads, though functions that it calls may
    // write. Adds its rows to the ids and to the values.
    void read(RowIds* ids, RowValues* values);
    // The second pass.
    void read_contents();
    // Gives up the values that were kept.
    void close() {
        if (kept_ != nullptr)
            tuplestore_end(kept_);
        kept_ = nullptr;
    }

  private:
    struct Receiver;

    void begin();
    void take(Datum id, bool id_is_null, Datum value, bool is_null);
    void run(Query* query);
    Query* with(const OurFunction& function) const;
    Oid find(const OurFunction& function) const;
    Datum call(Datum value, bool* is_null);
    static bool take_slot(TupleTableSlot* slot, DestReceiver* receiver);

    const char* statement_;
    Oid caller_;
    bool keep_;
    MemoryContext context_, row_context_ = nullptr;
    Query* query_ = nullptr; // as it is written
    RowIds* ids_ = nullptr;
    RowValues* values_ = nullptr;
    const PassFunctions* passes_ = nullptr; // of values of this query's type
    Datum arguments_ = 0;                   // of the present pass
    bool is_second_pass_ = false;
    bool orders_rows_ = false;        // by their ids, in the query's place
    Oid value_type_ = InvalidOid;     // text or shingle_set
    FmgrInfo function_;               // of the present pass over values that are kept
    Tuplestorestate* kept_ = nullptr; // the value of each row
    TupleDesc kept_columns_ = nullptr;
};

// Calls attempt(&result, keep), which reads the queries of a function and puts its result. If it
// returns false, a query has given other values the second time, as where it sums up rows in no
// certain order. Then all begins anew, and each query runs once.
void give_result(FunctionCallInfo fcinfo, const auto& attempt) {
    auto read = [&](bool keep) {
        ResultRows result(fcinfo);
        return attempt(&result, keep);
    };
    Progress::tell_of(fcinfo->flinfo->fn_oid, [&] {
        if (!read(false) && !read(true))
            elog(ERROR, "contents of documents are missing");
    });
}

} // namespace simhash
