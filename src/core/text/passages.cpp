// Passages. See passages.hpp.
//
// What is in no common run is left out first. The rest of both texts is one row of symbols, a
// number for each word:
//
//     the boat house is closed | the mayor | the mayor | the boat house is closed |
//     `--------------- of a --------------'`--------------- of b -----------------'
//
// Each | is a symbol of its own, so no two parts are equal beyond it. In the order of the row's
// suffixes (suffixes.hpp), those that begin with the same words are neighbours: a *class*.
#include "core/text/passages.hpp"

#include <algorithm>
#include <functional>

#include "core/bits/sort.hpp"
#include "core/text/max_tree.hpp"
#include "core/text/suffixes.hpp"
#include "core/text/winnowing.hpp"

namespace simhash {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Calls each(hash, beginning) for each run of `length` words, until it returns false.
void each_run(Words words, size_t length, const Pause& pause, const auto& each) {
    if (length > words.size())
        return;
    RollingHash run(length);
    bool goes_on = true;
    in_pieces(
        words.size(),
        [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end && goes_on; i++) {
                run.add(words[i]);
                if (i >= length)
                    run.take_out(words[i - length]);
                if (i + 1 >= length)
                    goes_on = each(run.hash(), i + 1 - length);
            }
        },
        pause);
}

// ---- the row of symbols ----

// The words of a text that are in one of some runs of the same length.
class Kept {
  public:
    Kept(size_t words, Memory memory) : is_kept_(allocate_array<bool>(memory, words)) {
        std::fill_n(is_kept_, words, false);
    }
    void keep(size_t begin, size_t length) {
        size_t from = std::max(begin, end_);
        end_ = begin + length;
        count_ += end_ - from;
        std::fill(is_kept_ + from, is_kept_ + end_, true);
        // A part ends behind the run, unless the next one goes on.
        parts_ += from == begin;
    }
    bool operator[](size_t word) const { return is_kept_[word]; }
    // Symbols of the row at most: the words, and a mark after each part.
    size_t symbols() const { return count_ + parts_; }

  private:
    bool* is_kept_;
    size_t end_ = 0; // of the last run
    size_t count_ = 0, parts_ = 0;
};

class Row {
  public:
    // Takes the words that are in a run of `least` words which, by its hash, the other text has.
    Row(Words a, Words b, size_t least, Memory memory, Pause pause) {
        Kept kept_a(a.size(), memory), kept_b(b.size(), memory);
        HashNumbers in_a(b.size(), memory); // for each run of b whether a has it, 0 or 1
        each_run(b, least, pause, [&](uint64_t hash, size_t) {
            in_a.add(hash, 0);
            return true;
        });
        each_run(a, least, pause, [&](uint64_t hash, size_t begin) {
            if (uint32_t* found = in_a.find(hash); found != nullptr) {
                *found = 1;
                kept_a.keep(begin, least);
            }
            return true;
        });
        each_run(b, least, pause, [&](uint64_t hash, size_t begin) {
            if (*in_a.find(hash) == 1)
                kept_b.keep(begin, least);
            return true;
        });
        in_a.release();

        size_t size = kept_a.symbols() + kept_b.symbols();
        symbol_ = allocate_array<uint32_t>(memory, size);
        word_ = allocate_array<uint32_t>(memory, size);
        HashNumbers names(size, memory);
        append(a, kept_a, &names);
        of_a_ = size_;
        append(b, kept_b, &names);
        names.release();
        pause();
    }

    size_t size() const { return size_; }
    size_t of_a() const { return of_a_; } // the first symbols
    size_t of_b() const { return size_ - of_a_; }
    // The number of a symbol's word in its text; kNone for a mark.
    uint32_t word(size_t place) const { return word_[place]; }
    Suffixes suffixes(Memory memory, Pause pause) const {
        return sort_suffixes({symbol_, size_}, alphabet_, memory, pause);
    }

  private:
    void append(Words words, const Kept& kept, HashNumbers* names) {
        for (size_t i = 0; i < words.size(); i++) {
            if (!kept[i])
                continue;
            uint32_t name = names->add(words[i], alphabet_);
            alphabet_ += name == alphabet_;
            put(name, uint32_t(i));
            if (i + 1 == words.size() || !kept[i + 1])
                put(alphabet_++, kNone);
        }
    }
    void put(uint32_t symbol, uint32_t word) {
        symbol_[size_] = symbol;
        word_[size_++] = word;
    }

    uint32_t* symbol_;
    uint32_t* word_;
    size_t size_ = 0, of_a_ = 0;
    uint32_t alphabet_ = 0;
};

// Calls each(place, length) for each place of `a` with the length of the longest run of words from
// there that is anywhere in `b`.
void each_longest(const Row& row, const Suffixes& suffixes, uint32_t* longest, const auto& each) {
    // In the order of suffixes, that run is shared with the nearest suffix of `b` on either side.
    size_t size = row.size();
    uint32_t shared = 0; // with the last suffix of b
    for (size_t i = 0; i < size; i++) {
        uint32_t place = suffixes.order[i];
        shared = std::min(shared, suffixes.shared[i]);
        if (place < row.of_a())
            longest[place] = shared;
        else
            shared = kNone;
    }
    shared = 0;
    for (size_t i = size; i-- > 0;) {
        uint32_t place = suffixes.order[i];
        if (place < row.of_a())
            each(place, std::max(longest[place], shared));
        else
            shared = kNone;
        shared = std::min(shared, suffixes.shared[i]);
    }
}

// ---- greedy string tiling ----

// Lengths are gone through from the longest down. A place of `a` waits at a length that its longest
// run with words not taken cannot exceed. When its turn comes,
//
//   - it has a run of that length that is in no passage yet, and so has some place of `b` of its
//     class: this is the next passage; or
//   - it has not: then it goes on to wait at the length that is possible now.
//
// Taking a passage shortens the runs of the places before it. Only those that are nearer than its
// length matter, as later passages are no longer.
class Tiling {
  public:
    Tiling(const Row& row, size_t least, Memory memory, Pause pause)
        : row_(row), least_(uint32_t(least)), memory_(memory), pause_(pause),
          suffixes_(row.suffixes(memory, pause)), unshared_(row.size(), memory),
          room_(row.size(), memory) {}

    std::span<const Passage> run() {
        prepare();
        for (length_ = longest_; length_ >= least_ && room_.greatest() >= least_; length_--)
            take_turns();
        std::sort(passages_, passages_ + count_,
                  [](const Passage& a, const Passage& b) { return a.a < b.a; });
        return {passages_, count_};
    }

  private:
    // Suffixes that begin with the same `length` words, as a range of `order`.
    struct Range {
        size_t begin, end;
    };

    // What is known, at the present length, of the places with the same words. Stands at the
    // beginning of their range.
    struct Class {
        uint32_t length;      // at which this is true
        uint32_t count;       // places of b in the heap, the first of them on top
        uint32_t* heap;       // [count]
        uint32_t next_length; // where no place of b is left: the longest that is possible; or kNone
    };

    void prepare() {
        size_t size = row_.size(), of_a = row_.of_a();
        room_of_a_ = allocate_array<uint32_t>(memory_, of_a);
        auto* longest = allocate_array<uint32_t>(memory_, of_a);
        waiting_after_ = allocate_array<uint32_t>(memory_, of_a);
        turn_ = allocate_array<uint32_t>(memory_, of_a);
        heaps_ = allocate_array<uint32_t>(memory_, row_.of_b());
        classes_ = allocate_array<Class>(memory_, size);
        passages_ = allocate_array<Passage>(memory_, of_a / least_ + 1);
        std::fill_n(classes_, size, Class{});
        uint32_t room = 0; // words up to the next mark
        for (size_t place = size; place-- > 0;) {
            room = row_.word(place) == kNone ? 0 : room + 1;
            if (place < of_a)
                room_of_a_[place] = room;
            else
                room_.prepare(suffixes_.rank[place], room);
        }
        room_.finish();
        for (size_t i = 0; i < size; i++)
            unshared_.prepare(i, UINT32_MAX - suffixes_.shared[i]);
        unshared_.finish();
        pause_();
        each_longest(row_, suffixes_, longest, [&](uint32_t place, uint32_t length) {
            longest[place] = length;
            longest_ = std::max(longest_, length);
        });
        waiting_ = allocate_array<uint32_t>(memory_, size_t{longest_} + 1);
        std::fill_n(waiting_, size_t{longest_} + 1, kNone);
        for (uint32_t place = 0; place < of_a; place++)
            wait(place, longest[place]);
        pause_();
    }

    void wait(uint32_t place, uint32_t length) {
        if (length < least_)
            return;
        waiting_after_[place] = waiting_[length];
        waiting_[length] = place;
    }

    void take_turns() {
        size_t turns = 0;
        for (uint32_t place = waiting_[length_]; place != kNone; place = waiting_after_[place])
            turn_[turns++] = place;
        sort_ascending(turn_, turn_ + turns);
        heaps_used_ = 0;
        for (size_t i = 0; i < turns; i++)
            take_turn(turn_[i]);
    }

    void take_turn(uint32_t place) {
        worked(1);
        if (room_of_a_[place] < length_) {
            wait(place, room_of_a_[place]);
            return;
        }
        Range range = range_of(suffixes_.rank[place], length_);
        Class& its = classes_[range.begin];
        if (its.length != length_)
            fill(&its, range);
        // Places of b that were in reach may have been taken since.
        while (its.count > 0 && room_of_b(its.heap[0]) < length_)
            pop(&its);
        if (its.count > 0) {
            take(place, its.heap[0]);
            return;
        }
        if (its.next_length == kNone)
            its.next_length = longest_below(suffixes_.rank[place], length_);
        wait(place, its.next_length);
    }

    uint32_t room_of_b(uint32_t place) const { return room_[suffixes_.rank[place]]; }

    // The suffixes that share the first `length` words of one of them.
    Range range_of(size_t rank, uint32_t length) const {
        // Less than `length` is shared where more than this is not.
        uint32_t bound = UINT32_MAX - length;
        size_t end =
            rank + 1 < row_.size() ? unshared_.first_above(rank + 1, bound) : MaxTree::kNone;
        return {unshared_.last_above(rank, bound), std::min(end, row_.size())};
    }

    bool is_possible(Range range, uint32_t length) const {
        return room_.greatest(range.begin, range.end) >= length;
    }

    void fill(Class* its, Range range) {
        *its = {length_, 0, heaps_ + heaps_used_, kNone};
        // A whole range is read only where it gives a passage.
        if (!is_possible(range, length_))
            return;
        for (size_t i = range.begin; i < range.end; i++)
            if (room_[i] >= length_)
                its->heap[its->count++] = suffixes_.order[i];
        heaps_used_ += its->count;
        std::make_heap(its->heap, its->heap + its->count, std::greater<>());
        worked(range.end - range.begin);
    }

    void pop(Class* its) {
        std::pop_heap(its->heap, its->heap + its->count, std::greater<>());
        its->count--;
        worked(1);
    }

    // The longest run less than `length` that begins like the suffix and is in b, in no passage
    // yet; 0 if there is none of least_ words.
    uint32_t longest_below(size_t rank, uint32_t length) const {
        uint32_t possible = 0, beyond = length;
        // The first question, for the fewest words, is often the last.
        for (uint32_t tried = least_; tried < beyond && possible + 1 < beyond;) {
            if (is_possible(range_of(rank, tried), tried))
                possible = tried;
            else
                beyond = tried;
            tried = possible + (beyond - possible) / 2;
        }
        return possible;
    }

    void take(uint32_t a, uint32_t b) {
        passages_[count_++] = {row_.word(a), row_.word(b), length_};
        // The words have no room for another passage, and those before them have less.
        std::fill_n(room_of_a_ + a, length_, 0);
        for (uint32_t back = 1; back < length_ && back <= a && room_of_a_[a - back] > 0; back++)
            room_of_a_[a - back] = std::min(room_of_a_[a - back], back);
        for (uint32_t i = 0; i < length_; i++)
            room_.set(suffixes_.rank[b + i], 0);
        for (uint32_t back = 1; back < length_ && room_of_b(b - back) > 0; back++)
            room_.set(suffixes_.rank[b - back], std::min(room_of_b(b - back), back));
        worked(4 * size_t{length_});
    }

    void worked(size_t work) {
        work_ += work;
        if (work_ >= kEntriesPerPause) {
            work_ = 0;
            pause_();
        }
    }

    const Row& row_;
    uint32_t least_;
    Memory memory_;
    Pause pause_;
    Suffixes suffixes_;
    MaxTree unshared_;        // UINT32_MAX less what neighbours in order share
    MaxTree room_;            // words of b from a place on that are in no passage, by its rank
    uint32_t* room_of_a_;     // the same of a, by place
    uint32_t longest_ = 0;    // words
    uint32_t length_ = 0;     // whose turn it is
    uint32_t* waiting_;       // [longest_ + 1] a place that waits at that length, or kNone
    uint32_t* waiting_after_; // [of a] the next that waits at the same length
    uint32_t* turn_;          // [of a] the places whose turn it is
    uint32_t* heaps_;         // [of b] the heaps of the classes at the present length
    size_t heaps_used_ = 0;
    Class* classes_;    // [size]
    Passage* passages_; // as many as there can be
    size_t count_ = 0;
    size_t work_ = 0; // since the last pause
};

} // namespace

std::span<const Passage> common_passages(Words a, Words b, size_t least, Memory memory,
                                         Pause pause) {
    Row row(a, b, least, memory, pause);
    if (row.size() == 0)
        return {};
    return Tiling(row, least, memory, pause).run();
}

size_t longest_common_run(Words a, Words b, size_t least, Memory memory, Pause pause) {
    Row row(a, b, least, memory, pause);
    if (row.size() == 0)
        return 0;
    uint32_t result = 0;
    each_longest(row, row.suffixes(memory, pause), allocate_array<uint32_t>(memory, row.of_a()),
                 [&](uint32_t, uint32_t length) { result = std::max(result, length); });
    return result >= least ? result : 0;
}

RunFinder::RunFinder(Words text, size_t length, Memory memory, Pause pause)
    : text_(text), length_(length), beginnings_(text.size() - length + 1, memory) {
    each_run(text, length, pause, [this](uint64_t hash, size_t begin) {
        beginnings_.add(hash, uint32_t(begin));
        return true;
    });
}

bool RunFinder::has_run_of(Words other, Memory memory, Pause pause) const {
    bool is_found = false, is_doubtful = false;
    each_run(other, length_, pause, [&](uint64_t hash, size_t begin) {
        uint32_t* found = beginnings_.find(hash);
        if (found == nullptr)
            return true;
        is_found = std::equal(other.begin() + begin, other.begin() + begin + length_,
                              text_.begin() + *found);
        is_doubtful |= !is_found;
        return !is_found;
    });
    // Of different runs with the same hash only one is known here.
    return is_found ||
           (is_doubtful && longest_common_run(text_, other, length_, memory, pause) > 0);
}

} // namespace simhash
