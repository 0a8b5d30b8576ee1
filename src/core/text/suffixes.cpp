// Suffixes in order. See suffixes.hpp.
#include "core/text/suffixes.hpp"

#include <algorithm>

namespace simhash {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Sorts the suffixes of a row. A suffix is *rising* if it is less than the one that begins a symbol
// later, otherwise falling; the last is falling, as an empty one would follow it. A rising suffix
// after a falling one is a *valley*:
//
//     b a n a n a      a and a at 1 and 3 are rising, and valleys; all others are falling
//
// Where the valleys are in order, two passes put all others in order from them (`induce`). The
// valleys are brought in order by the parts of the row from one to the next: sorted by a first
// induction, and where some are equal, by the order of the suffixes of a shorter row, which has a
// symbol for each part.
class SuffixSort {
  public:
    SuffixSort(std::span<const uint32_t> symbols, uint32_t alphabet, uint32_t* order, Memory memory,
               Pause pause)
        : symbols_(symbols), size_(uint32_t(symbols.size())), alphabet_(alphabet), order_(order),
          memory_(memory), pause_(pause) {}

    void run() {
        if (size_ == 0)
            return;
        find_valleys();
        induce();
        if (valley_count_ > 1) {
            sort_valleys();
            induce();
        }
        for (void* held : {static_cast<void*>(rising_), static_cast<void*>(first_),
                           static_cast<void*>(next_), static_cast<void*>(valleys_)})
            memory_.release(memory_.context, held);
    }

  private:
    bool is_valley(uint32_t place) const {
        return place > 0 && rising_[place] && !rising_[place - 1];
    }

    void find_valleys() {
        rising_ = allocate_array<bool>(memory_, size_);
        first_ = allocate_array<uint32_t>(memory_, size_t{alphabet_} + 1);
        next_ = allocate_array<uint32_t>(memory_, size_t{alphabet_} + 1);
        std::fill_n(first_, size_t{alphabet_} + 1, 0);
        for (uint32_t place = size_; place-- > 0;) {
            uint32_t symbol = symbols_[place];
            rising_[place] =
                place + 1 < size_ &&
                (symbol != symbols_[place + 1] ? symbol < symbols_[place + 1] : rising_[place + 1]);
            first_[symbol + 1]++;
        }
        for (uint32_t symbol = 0; symbol < alphabet_; symbol++)
            first_[symbol + 1] += first_[symbol];
        for (uint32_t place = 1; place < size_; place++)
            valley_count_ += is_valley(place);
        valleys_ = allocate_array<uint32_t>(memory_, valley_count_);
        uint32_t* next = valleys_;
        for (uint32_t place = 1; place < size_; place++)
            if (is_valley(place))
                *next++ = place;
        pause_();
    }

    // Puts all suffixes in order, if valleys_ has the valleys in order. The suffixes that begin
    // with one symbol stand together, first the falling ones and then the rising ones.
    void induce() {
        std::fill_n(order_, size_, kNone);
        // The valleys go to the ends of their symbols' places.
        std::copy_n(first_ + 1, alphabet_, next_);
        for (uint32_t i = valley_count_; i-- > 0;)
            order_[--next_[symbols_[valleys_[i]]]] = valleys_[i];
        // A falling suffix is greater than the one after it. So it is met from left to right, and
        // takes the first place that is free. The last suffix comes before all others.
        std::copy_n(first_, alphabet_, next_);
        order_[next_[symbols_[size_ - 1]]++] = size_ - 1;
        one_by_one(
            size_,
            [this](size_t i) {
                uint32_t place = order_[i];
                if (place != kNone && place > 0 && !rising_[place - 1])
                    order_[next_[symbols_[place - 1]]++] = place - 1;
            },
            pause_);
        // A rising one is less than the one after it, and is met from right to left. The valleys
        // are put anew among the rising ones.
        std::copy_n(first_ + 1, alphabet_, next_);
        one_by_one(
            size_,
            [this](size_t i) {
                uint32_t place = order_[size_ - 1 - i];
                if (place != kNone && place > 0 && rising_[place - 1])
                    order_[--next_[symbols_[place - 1]]] = place - 1;
            },
            pause_);
    }

    // The end of the part of the row that begins with a valley: the next valley, or the end.
    uint32_t end_of_part(uint32_t number) const {
        return number + 1 < valley_count_ ? valleys_[number + 1] + 1 : size_;
    }

    bool are_equal_parts(uint32_t a, uint32_t b) const {
        uint32_t begin_a = valleys_[a], begin_b = valleys_[b];
        uint32_t length = end_of_part(a) - begin_a;
        // The last part ends with the row: no other one is equal to it.
        return a + 1 < valley_count_ && b + 1 < valley_count_ &&
               length == end_of_part(b) - begin_b &&
               std::equal(symbols_.begin() + begin_a, symbols_.begin() + begin_a + length,
                          symbols_.begin() + begin_b);
    }

    // After a first induction, in which order_ has the valleys in the order of their parts.
    void sort_valleys() {
        // By its place each valley finds its number, from left to right. No two are adjacent.
        auto* number = allocate_array<uint32_t>(memory_, size_t{size_} / 2 + 1);
        for (uint32_t i = 0; i < valley_count_; i++)
            number[valleys_[i] / 2] = i;
        auto* names = allocate_array<uint32_t>(memory_, valley_count_);
        auto* sorted = allocate_array<uint32_t>(memory_, valley_count_);
        uint32_t name = 0, last = kNone;
        auto give_name = [&](size_t i) {
            uint32_t place = order_[i];
            if (!is_valley(place))
                return;
            uint32_t valley = number[place / 2];
            if (last != kNone && !are_equal_parts(last, valley))
                name++;
            names[valley] = name;
            last = valley;
        };
        one_by_one(size_, give_name, pause_);
        SuffixSort({names, valley_count_}, name + 1, sorted, memory_, pause_).run();
        for (uint32_t i = 0; i < valley_count_; i++)
            sorted[i] = valleys_[sorted[i]];
        std::copy_n(sorted, valley_count_, valleys_);
        for (uint32_t* held : {number, names, sorted})
            memory_.release(memory_.context, held);
    }

    std::span<const uint32_t> symbols_;
    uint32_t size_, alphabet_;
    uint32_t* order_;
    Memory memory_;
    Pause pause_;
    bool* rising_ = nullptr;      // [size]
    uint32_t* first_ = nullptr;   // [alphabet + 1] first place in order_ of each symbol
    uint32_t* next_ = nullptr;    // the same, as places are taken
    uint32_t* valleys_ = nullptr; // [valley_count] from left to right, then in order
    uint32_t valley_count_ = 0;
};

// How many symbols adjacent suffixes share. From a place to the next one the number falls by one at
// most, so all comparisons together take linear time.
void count_shared(std::span<const uint32_t> symbols, const Suffixes& suffixes, Pause pause) {
    size_t size = symbols.size(), shared = 0;
    auto share = [&](size_t place) {
        uint32_t rank = suffixes.rank[place];
        if (rank == 0) {
            suffixes.shared[0] = 0;
            shared = 0;
            return;
        }
        size_t before = suffixes.order[rank - 1];
        while (place + shared < size && before + shared < size &&
               symbols[place + shared] == symbols[before + shared])
            shared++;
        suffixes.shared[rank] = uint32_t(shared);
        shared -= shared > 0;
    };
    one_by_one(size, share, pause);
}

} // namespace

Suffixes sort_suffixes(std::span<const uint32_t> symbols, uint32_t alphabet, Memory memory,
                       Pause pause) {
    size_t size = symbols.size();
    Suffixes suffixes = {allocate_array<uint32_t>(memory, size),
                         allocate_array<uint32_t>(memory, size),
                         allocate_array<uint32_t>(memory, size)};
    SuffixSort(symbols, alphabet, suffixes.order, memory, pause).run();
    for (size_t i = 0; i < size; i++)
        suffixes.rank[suffixes.order[i]] = uint32_t(i);
    count_shared(symbols, suffixes, pause);
    return suffixes;
}

} // namespace simhash
