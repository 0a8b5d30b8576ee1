// Keeps the contents of candidates. See the header.
#include "whole_tables/contents.hpp"

#include <bit>

#include "server/sorter.hpp"

namespace simhash {

Contents::Contents(PagePool* pool, double limit, size_t sort_bytes)
    : sort_bytes_(sort_bytes), headers_(pool), is_wanted_(pool), wanted_(pool), before_(pool),
      slots_(pool), hashes_(pool) {
    arguments_.limit = limit;
    if (!pg_strong_random(&arguments_.seed, sizeof(arguments_.seed)))
        ereport(ERROR, errcode(ERRCODE_INTERNAL_ERROR),
                errmsg("could not generate a random number"));
}

void Contents::ask() {
    size_t count = 0;
    for (size_t word = 0; word < is_wanted_.words(); word++) {
        before_.add(uint32_t(count));
        count += is_wanted_.ones_in(word);
    }
    // A text has two hashes, and a hash 8 to 16 bits: one that is not wanted passes with a
    // probability of .014 at most.
    HashFilter texts(std::bit_ceil(2 * count));
    ExternalSorter<Pair> by_key(sort_bytes_); // (key, number)
    is_wanted_.each_one([&](size_t row) {
        DigestHeader of_row = header(RowNumber(row));
        uint64_t key = of_row.content_key();
        texts.add(of_row.text_hash);
        texts.add(hash_of_size(of_row.bytes));
        by_key.add({key, wanted_.size()});
        wanted_.add({key, kNowhere, 0});
    });
    filter_ = texts.filter();
    // In the order of the keys, the slots are filled from the first to the last.
    slot_bits_ = std::bit_width(2 * count + 1);
    for (uint64_t left = uint64_t{1} << slot_bits_; left > 0; left--)
        slots_.add(kEmpty);
    by_key.finish();
    uint64_t last = 0;
    for (Pair entry{}; by_key.next(&entry); last = entry.first) {
        CHECK_FOR_INTERRUPTS();
        auto number = uint32_t(entry.second);
        // Of rows with the same text, one is asked for.
        if (missing_ > 0 && entry.first == last) {
            wanted_.poke(number, {entry.first, kWithFirst, 0});
            continue;
        }
        size_t slot = first_slot(entry.first);
        while (slots_[slot] != kEmpty)
            slot = next_slot(slot);
        slots_.set(slot, number);
        missing_++;
    }
    by_key.release();
}

// The number of the first one that has the key, or kEmpty.
uint32_t Contents::number_of(uint64_t key) {
    uint32_t number;
    for (size_t slot = first_slot(key);
         (number = slots_.peek(slot)) != kEmpty && wanted_.peek(number).key != key;)
        slot = next_slot(slot);
    return number;
}

void Contents::add(Datum content) {
    PassResult<uint64_t, uint64_t> result(content); // the header is the key
    // Most come in the order of the first pass: behind the last one, unless that has a text that
    // another row has before it.
    uint32_t number = next_;
    if (number == wanted_.size() || wanted_[number].key != result.header ||
        wanted_[number].position != kNowhere)
        number = number_of(result.header);
    // It may have passed the filter by chance, or have come with another row of the same text.
    if (number == kEmpty || wanted_[number].position != kNowhere)
        return;
    next_ = number + 1;
    wanted_.set(number, {result.header, hashes_.size(), result.rest_bytes / sizeof(uint64_t)});
    hashes_.append(result.rest, result.rest_bytes);
    missing_--;
}

Contents::Wanted Contents::wanted(RowNumber row) {
    uint32_t number = before_[row / PagedBits::kWord] + is_wanted_.ones_before(row);
    Wanted found = wanted_.peek(number);
    return found.position == kWithFirst ? wanted_.peek(number_of(found.key)) : found;
}

Contents::Hashes Contents::hashes_of(const Wanted& document, Buffer* buffer) {
    size_t bytes = document.count * sizeof(uint64_t);
    if (const char* there = hashes_.in_memory(document.position, bytes))
        return {reinterpret_cast<const uint64_t*>(there), document.count};
    // One is compared with several others in succession.
    if (buffer->position != document.position) {
        buffer->position = document.position;
        buffer->hashes.clear();
        hashes_.peek(document.position, buffer->hashes.add_room(document.count), bytes);
        buffer->hashes.added(document.count);
    }
    return buffer->hashes.all();
}

std::array<Contents::Hashes, 2> Contents::of(RowNumber a, RowNumber b) {
    // To look these up may bring pages in the place of others. Then nothing does.
    Wanted of_a = wanted(a), of_b = wanted(b);
    return {hashes_of(of_a, &buffers_[0]), hashes_of(of_b, &buffers_[1])};
}

} // namespace simhash
