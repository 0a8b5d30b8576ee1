// Passages. See passages.hpp.
//
// What is in no common run is left out first. The rest of both texts is one row of symbols, a
// number for each word:
//
//     the boat house is closed | the mayor | the mayor | the boat house is closed |
//     `--------------- of a --------------'`--------------- of b -----------------'
//
// Each | is a symbol of its own, so no two parts are equal beyond it. In the order of the row's
// suffixes, those that begin with the same words are neighbours: a *class*.
#include "core/text/passages.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>

namespace simhash {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Calls each(hash, beginning) for each run of `length` words, until `is_over`, which it may set.
// The hash is that of a polynomial modulo 2^64, which takes a word in at one end and out at the
// other.
void each_run(Words words, size_t length, const Pause& pause, const auto& each,
              const bool& is_over = false) {
    if (length > words.size())
        return;
    constexpr uint64_t kFactor = 0x9e3779b97f4a7c15; // odd: nothing is shifted out
    uint64_t sum = 0, oldest = 1;                    // the factor of the word that is taken out
    for (size_t i = 0; i < length; i++)
        oldest *= kFactor;
    auto take_word = [&](size_t i) {
        if (is_over)
            return;
        sum = sum * kFactor + words[i];
        if (i >= length)
            sum -= oldest * words[i - length];
        // The sum's lowest bits depend on little of each word.
        if (i + 1 >= length)
            each(mix(sum), i + 1 - length);
    };
    one_by_one(words.size(), take_word, pause);
}

// ---- the row of symbols ----

// For each word of a text whether it is in a run of `length` words whose hash is common.
bool* words_in_runs(Words words, size_t length, Memory memory, const Pause& pause,
                    const auto& is_common) {
    auto* is_kept = allocate_array<bool>(memory, words.size());
    std::fill_n(is_kept, words.size(), false);
    size_t kept = 0; // words up to the end of the last such run
    each_run(words, length, pause, [&](uint64_t hash, size_t begin) {
        if (is_common(hash)) {
            std::fill(is_kept + std::max(begin, kept), is_kept + begin + length, true);
            kept = begin + length;
        }
    });
    return is_kept;
}

class Row {
  public:
    // Takes the words that are in a run of `least` words which, by its hash, the other text has.
    Row(Words a, Words b, size_t least, Memory memory, Pause pause)
        : symbols_(memory), words_(memory) {
        HashTable<uint32_t> runs(memory, b.size()); // of b: 1 if a has it, too
        each_run(b, least, pause, [&](uint64_t hash, size_t) { runs.add(hash, 0); });
        bool* kept_a = words_in_runs(a, least, memory, pause, [&](uint64_t hash) {
            uint32_t* run = runs.find(hash);
            return run != nullptr && (*run = 1);
        });
        bool* kept_b = words_in_runs(b, least, memory, pause,
                                     [&](uint64_t hash) { return *runs.find(hash) == 1; });
        runs.release();
        fill(a, kept_a, b, kept_b, memory, pause);
    }

    // Takes the words of one text that are in a run of `least` words which, by its hash, comes
    // again.
    Row(Words text, size_t least, Memory memory, Pause pause) : symbols_(memory), words_(memory) {
        HashTable<uint32_t> runs(memory); // how often each is there
        each_run(text, least, pause, [&](uint64_t hash, size_t) { runs.add(hash, 0)++; });
        bool* kept = words_in_runs(text, least, memory, pause,
                                   [&](uint64_t hash) { return *runs.find(hash) > 1; });
        runs.release();
        fill(text, kept, {}, nullptr, memory, pause);
    }

    uint32_t size() const { return uint32_t(symbols_.size()); }
    bool is_of_a(uint32_t place) const { return place < of_a_; }
    // The number of a symbol's word in its text; kNone for a mark.
    uint32_t word(uint32_t place) const { return words_[place]; }

    // The suffixes in order, and how many symbols each has in common with the one before it. So
    // equal parts of the row, whatever their length, are found side by side:
    //
    //     symbols   b a n a n a        order   suffix         shared
    //     place     0 1 2 3 4 5        5       a              0
    //                                  3       a n a          1
    //                                  1       a n a n a      3
    //                                  0       b a n a n a    0
    //                                  4       n a            0
    //                                  2       n a n a        2
    uint32_t order(uint32_t rank) const { return order_[rank]; } // where the suffix begins
    uint32_t rank(uint32_t place) const { return rank_[place]; }
    uint32_t shared(uint32_t rank) const { return shared_[rank]; } // of the first it is 0

  private:
    void fill(Words a, const bool* kept_a, Words b, const bool* kept_b, Memory memory,
              Pause pause) {
        HashTable<uint32_t> names(memory, size_t(std::count(kept_a, kept_a + a.size(), true)));
        append(a, kept_a, &names);
        of_a_ = size();
        append(b, kept_b, &names);
        names.release();
        pause();
        sort_suffixes(memory, pause);
    }

    void append(Words words, const bool* is_kept, HashTable<uint32_t>* names) {
        for (size_t i = 0; i < words.size(); i++) {
            if (!is_kept[i])
                continue;
            // Mixed, hashes have leading bits that differ, whoever chose them.
            uint32_t name = names->add(mix(words[i]), alphabet_);
            alphabet_ += name == alphabet_;
            symbols_.add(name);
            words_.add(uint32_t(i));
            if (i + 1 == words.size() || !is_kept[i + 1]) {
                symbols_.add(alphabet_++);
                words_.add(kNone);
            }
        }
    }

    void sort_suffixes(Memory memory, Pause pause);

    GrowingArray<uint32_t> symbols_, words_;
    uint32_t of_a_ = 0; // the first symbols
    uint32_t alphabet_ = 0;
    uint32_t *order_, *rank_, *shared_; // [size]
};

// By prefix doubling (Manber and Myers, SODA 1990). What follows the first symbols of a suffix is a
// suffix, too. So the order by the first `length` symbols gives that by twice as many, and once no
// two are equal, it is the order. The time is linear for each doubling.
void Row::sort_suffixes(Memory memory, Pause pause) {
    order_ = allocate_array<uint32_t>(memory, size());
    rank_ = allocate_array<uint32_t>(memory, size());
    shared_ = allocate_array<uint32_t>(memory, size());
    auto* next = allocate_array<uint32_t>(memory, size());
    auto* first = allocate_array<uint32_t>(memory, size() + size_t{1});
    auto each = [&](const auto& step) { one_by_one(size(), step, pause); };
    // Suffixes with equal beginnings have the rank of the first of them.
    std::iota(order_, order_ + size(), 0);
    std::fill_n(first, alphabet_ + 1, 0);
    each([&](size_t place) { first[symbols_[place] + 1]++; });
    std::partial_sum(first, first + alphabet_, first);
    each([&](size_t place) { rank_[place] = first[symbols_[place]]; });
    uint32_t ranks = 0;
    for (uint32_t length = 0; ranks < size(); length = std::max(1u, 2 * length)) {
        // In order of what follows the first `length` symbols; nothing comes first.
        std::iota(next, next + length, size() - length);
        uint32_t* end = next + length;
        each([&](size_t i) {
            if (order_[i] >= length)
                *end++ = order_[i] - length;
        });
        // In order of the first ones, equal ones as they stand.
        std::iota(first, first + size(), 0);
        each([&](size_t i) { order_[first[rank_[next[i]]]++] = next[i]; });
        ranks = 0;
        each([&](size_t i) {
            uint32_t place = order_[i], before = order_[i - (i > 0)];
            // The end of the row is a mark, so equal beginnings do not reach it.
            bool is_new = i == 0 || rank_[place] != rank_[before] ||
                          rank_[place + length] != rank_[before + length];
            ranks += is_new;
            next[place] = is_new ? uint32_t(i) : next[before];
        });
        std::swap(rank_, next);
    }
    // From a place to the next one the number falls by one at most (Kasai and others, CPM 2001).
    uint32_t shared = 0;
    each([&](size_t place) {
        if (rank_[place] == 0) {
            shared_[0] = shared = 0;
            return;
        }
        uint32_t before = order_[rank_[place] - 1];
        while (symbols_[place + shared] == symbols_[before + shared])
            shared++;
        shared_[rank_[place]] = shared;
        shared -= shared > 0;
    });
    memory.release(memory.context, next);
    memory.release(memory.context, first);
}

// ---- greedy string tiling ----

// Numbers that wait for a length, each for one at most.
class Waiting {
  public:
    Waiting(size_t size, Memory memory)
        : first_(allocate_array<uint32_t>(memory, size + 1)),
          next_(allocate_array<uint32_t>(memory, size)) {
        std::fill_n(first_, size + 1, kNone);
    }
    void add(uint32_t number, uint32_t length) {
        next_[number] = first_[length];
        first_[length] = number;
    }
    void each(uint32_t length, const auto& act) const {
        for (uint32_t number = first_[length]; number != kNone; number = next_[number])
            act(number);
    }

  private:
    uint32_t *first_, *next_;
};

// Lengths are gone through from the longest down. With the length the beginnings shorten that make
// a class, so classes join. A place is in its class from the length on for which it has *room*,
// words up to the next mark that are in no passage. When a class has places of both texts, their
// first ones are a passage.
//
// Taking a passage leaves the places before it with less room. Such a place goes when it is met as
// the first of its class, and waits for the length that it has room for.
class Tiling {
  public:
    Tiling(const Row& row, size_t least, Memory memory, Pause pause)
        : row_(row), least_(uint32_t(least)), pause_(pause), entering_(row.size(), memory),
          joining_(row.size(), memory), passages_(memory) {
        uint32_t size = row.size(), room = 0;
        for (uint32_t** array : {&room_, &parent_, &left_, &right_, &height_})
            *array = allocate_array<uint32_t>(memory, size);
        classes_ = allocate_array<Class>(memory, size);
        turns_ = allocate_array<uint32_t>(memory, 2 * size_t{size});
        std::fill_n(classes_, size, Class{kNone, kNone});
        std::iota(parent_, parent_ + size, 0);
        for (uint32_t place = size; place-- > 0;) {
            room = row.word(place) == kNone ? 0 : room + 1;
            room_[place] = room;
            entering_.add(place, room);
            joining_.add(place, row.shared(place));
        }
    }

    std::span<const Passage> run() {
        for (length_ = row_.size(); length_ >= least_; length_--) {
            joining_.each(length_, [this](uint32_t rank) { join(rank); });
            entering_.each(length_, [this](uint32_t place) { enter(place); });
            take_turns();
        }
        std::sort(passages_.data(), passages_.data() + passages_.size(),
                  [](const Passage& a, const Passage& b) { return a.a < b.a; });
        return passages_.all();
    }

  private:
    // The first place of each text, on top of a heap of them; kNone without one.
    using Class = std::array<uint32_t, 2>;

    // The class of a suffix and that of the one before it become one.
    void join(uint32_t rank) {
        uint32_t number = root(rank - 1), joined = root(rank);
        parent_[joined] = number;
        for (int text : {0, 1})
            classes_[number][text] = meld(classes_[number][text], classes_[joined][text]);
        offer(classes_[number]);
    }

    void enter(uint32_t place) {
        left_[place] = right_[place] = kNone;
        height_[place] = 1;
        Class& its = classes_[root(row_.rank(place))];
        uint32_t& first = its[!row_.is_of_a(place)];
        first = meld(first, place);
        offer(its);
    }

    // The number of a class: the rank of one of its suffixes. The paths there are shortened as they
    // are walked.
    uint32_t root(uint32_t rank) {
        while (parent_[rank] != rank)
            rank = parent_[rank] = parent_[parent_[rank]];
        return rank;
    }

    // Makes one heap of two, and returns its top. They are leftist: the way down on the right is
    // the shortest one.
    uint32_t meld(uint32_t a, uint32_t b) {
        if (a == kNone || b == kNone)
            return std::min(a, b);
        if (b < a)
            std::swap(a, b);
        right_[a] = meld(right_[a], b);
        if (left_[a] == kNone || height_[left_[a]] < height_[right_[a]])
            std::swap(left_[a], right_[a]);
        height_[a] = right_[a] == kNone ? 1 : height_[right_[a]] + 1;
        return a;
    }

    // A class may give a passage. Its first place stands for it.
    void offer(const Class& its) {
        worked(1);
        if (its[0] == kNone || its[1] == kNone)
            return;
        turns_[turn_count_++] = its[0];
        std::push_heap(turns_, turns_ + turn_count_, std::greater<>());
    }

    void take_turns() {
        while (turn_count_ > 0) {
            std::pop_heap(turns_, turns_ + turn_count_, std::greater<>());
            uint32_t place = turns_[--turn_count_];
            Class& its = classes_[root(row_.rank(place))];
            auto& [of_a, of_b] = its;
            // The class may have been offered again since.
            if (of_a != place || of_b == kNone)
                continue;
            if (room_[of_a] < length_)
                leave(&of_a);
            else if (room_[of_b] < length_)
                leave(&of_b);
            else
                take(of_a, of_b);
            offer(its);
        }
    }

    void leave(uint32_t* first) {
        uint32_t place = *first;
        *first = meld(left_[place], right_[place]);
        entering_.add(place, room_[place]);
    }

    void take(uint32_t a, uint32_t b) {
        passages_.add({row_.word(a), row_.word(b), length_});
        worked(2 * size_t{length_});
        // The words have no room for another passage, and those before them have less. Farther back
        // than the length it does not matter, as later passages are no longer.
        for (uint32_t begin : {a, b}) {
            std::fill_n(room_ + begin, length_, 0);
            for (uint32_t back = 1; back < length_ && back <= begin && room_[begin - back] > 0;
                 back++)
                room_[begin - back] = std::min(room_[begin - back], back);
        }
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
    Pause pause_;
    uint32_t length_;                   // of the passages that are taken
    Waiting entering_, joining_;        // places and ranks
    uint32_t* room_;                    // [size] by place
    Class* classes_;                    // [size] by the number of the class
    uint32_t* parent_;                  // [size] by rank, towards the class's number
    uint32_t *left_, *right_, *height_; // [size] by place, in the heap of its class
    uint32_t* turns_;                   // [2 * size] a heap, the first place on top
    size_t turn_count_ = 0;
    GrowingArray<Passage> passages_;
    size_t work_ = 0; // since the last pause
};

// ---- classes of runs of one length ----

// Of suffixes that begin with the same `length` symbols: gives each what `least` of them there is,
// by rank. value(rank) is what a suffix brings.
uint32_t* least_of_classes(const Row& row, size_t length, Memory memory, const Pause& pause,
                           const auto& value) {
    uint32_t size = row.size();
    auto* least = allocate_array<uint32_t>(memory, size);
    auto is_like_last = [&](size_t rank) {
        return rank > 0 && row.shared(uint32_t(rank)) >= length;
    };
    auto take = [&](size_t rank) {
        least[rank] = value(uint32_t(rank));
        if (is_like_last(rank))
            least[rank] = std::min(least[rank], least[rank - 1]);
    };
    one_by_one(size, take, pause);
    // The last one of a class has it; from there it goes back to the others.
    auto hand_back = [&](size_t i) {
        if (size_t rank = size - 1 - i; is_like_last(rank))
            least[rank - 1] = least[rank];
    };
    one_by_one(size, hand_back, pause);
    return least;
}

} // namespace

std::span<const Passage> common_passages(Words a, Words b, size_t least, Memory memory,
                                         Pause pause) {
    Row row(a, b, least, memory, pause);
    return Tiling(row, least, memory, pause).run();
}

size_t longest_common_run(Words a, Words b, size_t least, Memory memory, Pause pause) {
    Row row(a, b, least, memory, pause);
    // What a suffix shares with any of the other text, it shares with a neighbour between them.
    uint32_t longest = 0;
    for (uint32_t rank = 1; rank < row.size(); rank++)
        if (row.is_of_a(row.order(rank)) != row.is_of_a(row.order(rank - 1)))
            longest = std::max(longest, row.shared(rank));
    return longest >= least ? longest : 0;
}

void mark_shared_runs(Words a, Words b, size_t length, bool* is_shared, Memory memory,
                      Pause pause) {
    Row row(a, b, length, memory, pause);
    // 0 where a suffix of b begins with the same words.
    uint32_t* not_in_b = least_of_classes(
        row, length, memory, pause, [&](uint32_t rank) { return row.is_of_a(row.order(rank)); });
    size_t end = 0; // of the runs so far, in words of a
    auto mark = [&](size_t place) {
        uint32_t word = row.word(uint32_t(place));
        if (!row.is_of_a(uint32_t(place)) || word == kNone)
            return;
        if (not_in_b[row.rank(uint32_t(place))] == 0)
            end = word + length;
        is_shared[word] |= word < end;
    };
    one_by_one(row.size(), mark, pause);
}

std::span<const Passage> repeated_passages(Words text, size_t least, Memory memory, Pause pause) {
    Row row(text, least, memory, pause);
    uint32_t* first =
        least_of_classes(row, least, memory, pause, [&](uint32_t rank) { return row.order(rank); });
    GrowingArray<Passage> passages(memory);
    size_t end = 0; // of the last one
    auto look_at = [&](size_t place) {
        uint32_t model = first[row.rank(uint32_t(place))];
        uint32_t a = row.word(uint32_t(place)), b = row.word(model);
        if (model == place || a < end)
            return;
        uint32_t words = 0;
        while (a + words < text.size() && text[a + words] == text[b + words])
            words++;
        passages.add({a, b, words});
        end = a + words;
    };
    one_by_one(row.size(), look_at, pause);
    return passages.all();
}

void hash_runs(Words words, size_t length, GrowingArray<uint64_t>* hashes, Pause pause) {
    each_run(words, length, pause, [hashes](uint64_t hash, size_t) { hashes->add(hash); });
}

void winnow(Words words, size_t run, FeatureSet* set, Pause pause) {
    // A longer run has one of that length.
    run = std::min<size_t>(run, kMostWinnowedRun);
    size_t shingle = shingle_of_runs(run), window = run - shingle + 1;
    // A power of two, as long as the longest window: the places in a ring are cut out.
    constexpr size_t kRing = kMostWinnowedRun;
    static_assert(std::has_single_bit(kRing));
    uint64_t ring[kRing];         // the last hashes
    uint64_t least = 0, kept = 0; // place of the least hash of the window; that of the one before
    auto at = [&ring](uint64_t place) -> uint64_t& { return ring[place % kRing]; };
    each_run(words, shingle, pause, [&](uint64_t hash, uint64_t place) {
        at(place) = hash;
        if (least + window <= place) {
            // The least one has left the window, so all that are in it are looked at.
            least = place;
            for (uint64_t i = place - window + 1; i < place; i++)
                if (at(i) < at(least))
                    least = i;
        } else if (hash < at(least)) {
            least = place;
        }
        // Adjacent windows mostly keep the same hash.
        if (place + 1 == window || (place >= window && at(least) != kept))
            set->add(kept = at(least));
    });
}

RunFinder::RunFinder(Words text, size_t length, Memory memory, Pause pause)
    : text_(text), length_(length), beginnings_(memory, text.size() - length + 1) {
    each_run(text, length, pause,
             [this](uint64_t hash, size_t begin) { beginnings_.add(hash, uint32_t(begin)); });
}

bool RunFinder::has_run_of(Words other, Memory memory, Pause pause) const {
    bool is_found = false, is_doubtful = false;
    auto look_up = [&](uint64_t hash, size_t begin) {
        const uint32_t* found = beginnings_.find(hash);
        if (found == nullptr)
            return;
        is_found = std::equal(other.begin() + begin, other.begin() + begin + length_,
                              text_.begin() + *found);
        is_doubtful |= !is_found;
    };
    each_run(other, length_, pause, look_up, is_found);
    // Of different runs with the same hash only one is known here.
    return is_found ||
           (is_doubtful && longest_common_run(text_, other, length_, memory, pause) > 0);
}

} // namespace simhash
