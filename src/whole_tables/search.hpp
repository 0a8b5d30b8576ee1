// The search that all functions of whole tables share, of documents, fingerprints and codes:
//
//     rows --> models --> candidates --whole values--> pairs
//
// A pair has a measure: the similarity of two documents, or else the distance of two values.
#pragma once

#include "server/progress.hpp"
#include "whole_tables/models.hpp"

namespace simhash {

// Where values are in a file, candidates wait, up to a limit of memory, to be compared in an order
// in which the file is read nearly in sequence: by the parts in which the values of the two are, as
// some parts fit into memory together.
class RowSearch {
  public:
    // In the current memory context, in about `memory` bytes beside the pool.
    RowSearch(SearchedValues* values, size_t memory)
        : values_(*values), memory_(values->lanes() == 1 ? memory : memory / 3 * 2),
          waiting_(memory / 3) {}

    // Calls receive(a, b, measure) for the candidates of one set of models, or, where b is not
    // null, between two: in no particular order, and perhaps repeatedly. If that returns false, the
    // search ends.
    void find_candidates(Models* a, Models* b, const auto& receive) {
        for (int step = 0; step < values_.steps(); step++) {
            auto take = [&](RowNumber a, RowNumber b, int distance) {
                double measure = distance;
                // What does not wait is compared at once.
                if (!values_.wait(nullptr) && !values_.is_pair(step, a, b, &measure))
                    return true;
                return bool(receive(a, b, measure));
            };
            if (!values_.find_candidates(step, a, b, memory_, CandidateReceiver(take), nullptr))
                return;
        }
    }

    // Calls give(a, b, measure) for the pairs that are wanted when they are found, and would be
    // before. is_wanted(a, b) may turn from true to false. links: what is linked already may be
    // left out
    void find_pairs(Models* a, Models* b, const auto& is_wanted, const auto& give,
                    Links* links = nullptr) {
        for (int step = 0; step < values_.steps(); step++) {
            auto receive = [&](RowNumber a, RowNumber b, int distance) {
                double measure = distance;
                if (!is_wanted(a, b))
                    return true;
                if (values_.wait(links))
                    add_waiting(a, b, [&] { compare_waiting(step, is_wanted, give); });
                else if (values_.is_pair(step, a, b, &measure))
                    give(a, b, measure);
                return true;
            };
            values_.find_candidates(step, a, b, memory_, CandidateReceiver(receive), links);
            compare_waiting(step, is_wanted, give);
        }
    }

    // Whether all candidates are known, and are not too many.
    bool has_all_candidates() const { return values_.has_all_candidates(); }

    // Where values are in a file, whether two are a pair is asked in the order of the file.
    bool has_file() const { return values_.has_file(); }
    bool is_pair(RowNumber a, RowNumber b, double* measure) {
        return values_.is_pair(0, a, b, measure);
    }
    size_t waiting() const { return waiting_.count(); }

    // Calls make_room() first if the room is full.
    void add_waiting(RowNumber a, RowNumber b, const auto& make_room) {
        if (waiting_.is_full())
            make_room();
        // While the pairs of two parts are compared, both are in memory.
        waiting_.add({values_.part_of(a) << 32 | values_.part_of(b), uint64_t(a) << 32 | b});
    }

    // Compares those that wait, and are still of interest when it is their turn.
    void compare_waiting(int step, const auto& is_wanted, const auto& give) {
        waiting_.sort();
        Progress::begin("compared", " candidates", double(waiting_.count()));
        for (const Pair& candidate : waiting_.entries()) {
            auto a = RowNumber(candidate.second >> 32), b = RowNumber(candidate.second);
            double measure;
            CHECK_FOR_INTERRUPTS();
            Progress::step();
            if (is_wanted(a, b) && values_.is_pair(step, a, b, &measure))
                give(a, b, measure);
        }
        waiting_.clear();
    }

  private:
    SearchedValues& values_;
    size_t memory_;            // of the search by lanes
    SortBuffer<Pair> waiting_; // (parts of a and b, a and b)
};

} // namespace simhash
