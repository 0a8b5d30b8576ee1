// The search that all functions of whole tables share, of documents, fingerprints and codes:
//
//     rows --> models --lanes within their radius--> candidates --whole values--> pairs
//
// A pair has a measure: the similarity of two documents, or else the distance of two values.
#pragma once

#include "tables/models.hpp"

namespace simhash {

class Links;

// Receives candidates, or pairs of rows: of one query a < b, of two a is of the first.
class CandidateReceiver {
  public:
    // receive(a, b, distance of the lanes): false ends the search. It must outlive this object.
    template <typename Receive>
    explicit CandidateReceiver(const Receive& receive)
        : call_([](const void* receive, RowNumber a, RowNumber b, int distance) -> bool {
              return (*static_cast<const Receive*>(receive))(a, b, distance);
          }),
          receive_(&receive) {}

    bool operator()(RowNumber a, RowNumber b, int distance) const {
        return call_(receive_, a, b, distance);
    }

  private:
    bool (*call_)(const void* receive, RowNumber a, RowNumber b, int distance);
    const void* receive_;
};

// Finds the candidates of one list of models, or between two if b is not null, by a lane, in about
// this memory, in bytes. False if the receiver has ended the search. links: see RowSearch.
// are_values: whether candidates are pairs, as the values have no other lane
bool find_near_lanes(Models::List* a, Models::List* b, int radius, size_t memory,
                     const CandidateReceiver& receiver, Links* links, bool are_values);

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
    // null, between two: for each once, in no particular order. If that returns false, the search
    // ends. links: what is linked already may be left out
    void find_candidates(Models* a, Models* b, const auto& receive, Links* links = nullptr) {
        for (int lane = 0; lane < a->lanes(); lane++)
            if (!find_by_lane(a, b, lane, receive, links))
                return;
    }

    // Calls give(a, b, measure) for the pairs that are wanted when they are found, and would be
    // before. is_wanted(a, b) may turn from true to false.
    void find_pairs(Models* a, Models* b, const auto& is_wanted, const auto& give,
                    Links* links = nullptr) {
        for (int lane = 0; lane < a->lanes(); lane++) {
            auto receive = [&](RowNumber a, RowNumber b, double measure) {
                if (is_wanted(a, b) && values_.wait())
                    add_waiting(a, b, [&] { compare_waiting(lane, is_wanted, give); });
                else if (is_wanted(a, b))
                    give(a, b, measure);
                return true;
            };
            find_by_lane(a, b, lane, receive, links);
            compare_waiting(lane, is_wanted, give);
        }
    }

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
    void compare_waiting(int lane, const auto& is_wanted, const auto& give) {
        waiting_.sort();
        for (const Pair& candidate : waiting_.entries()) {
            auto a = RowNumber(candidate.second >> 32), b = RowNumber(candidate.second);
            double measure;
            CHECK_FOR_INTERRUPTS();
            if (is_wanted(a, b) && values_.is_pair(lane, a, b, &measure))
                give(a, b, measure);
        }
        waiting_.clear();
    }

  private:
    bool find_by_lane(Models* a, Models* b, int lane, const auto& receive, Links* links) {
        auto take = [&](RowNumber a, RowNumber b, int distance) {
            double measure = distance;
            if (!values_.may_be_pair(lane, a, b) ||
                (!values_.wait() && !values_.is_pair(lane, a, b, &measure)))
                return true;
            return bool(receive(a, b, measure));
        };
        return find_near_lanes(&a->list(lane), b == nullptr ? nullptr : &b->list(lane),
                               values_.radius(lane), memory_, CandidateReceiver(take), links,
                               values_.lanes() == 1);
    }

    SearchedValues& values_;
    size_t memory_;            // of the search by lanes
    SortBuffer<Pair> waiting_; // (parts of a and b, a and b)
};

} // namespace simhash
