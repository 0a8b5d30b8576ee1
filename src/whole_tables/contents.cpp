// Keeps the contents of candidates. See the header.
#include "whole_tables/contents.hpp"

#include <bit>

namespace simhash {

Contents::Contents(PagePool* pool, double limit)
    : headers_(pool), is_wanted_(pool), slots_(pool), hashes_(pool) {
    arguments_.limit = limit;
    if (!pg_strong_random(&arguments_.seed, sizeof(arguments_.seed)))
        ereport(ERROR, errcode(ERRCODE_INTERNAL_ERROR),
                errmsg("could not generate a random number"));
}

void Contents::ask() {
    size_t count = 0;
    for (size_t row = 0; row < rows(); row++)
        count += is_wanted_[row];
    for (size_t left = std::bit_ceil(2 * count + 1); left > 0; left--)
        slots_.add({0, kNone});
    WantedTexts wanted(count);
    for (size_t row = 0; row < rows(); row++)
        if (is_wanted_[row]) {
            DigestHeader of_row = header(RowNumber(row));
            uint64_t key = of_row.content_key();
            CHECK_FOR_INTERRUPTS();
            wanted.add(of_row.text_hash, of_row.bytes);
            // Of rows with the same text, one is asked for.
            size_t slot = slot_of(key);
            missing_ += slots_[slot].key == 0;
            slots_.set(slot, {key, kNone});
        }
    is_wanted_.close();
    filter_ = wanted.filter();
}

// The slot of a key, or the empty one where it would be.
size_t Contents::slot_of(uint64_t key) {
    size_t last = slots_.size() - 1, place = mix(key) & last;
    for (Slot slot; (slot = slots_[place]).key != key && slot.key != 0;)
        place = (place + 1) & last;
    return place;
}

void Contents::add(Datum content) {
    PassResult<Content, uint64_t> result(content);
    size_t slot = slot_of(result.header.key);
    // It may have passed the filter by chance, or have come with another row of the same text.
    if (Slot wanted = slots_[slot]; wanted.key == 0 || wanted.position != kNone)
        return;
    uint64_t count = result.rest_bytes / sizeof(uint64_t);
    slots_.set(slot, {result.header.key, hashes_.size()});
    hashes_.append(&count, sizeof(count));
    hashes_.append(result.rest, result.rest_bytes);
    missing_--;
}

std::span<const uint64_t> Contents::read(RowNumber row, Buffer* buffer) {
    if (buffer->row != row) {
        uint64_t at = position(row), count;
        hashes_.read(at, &count, sizeof(count));
        buffer->row = row;
        buffer->hashes.clear();
        hashes_.read(at + sizeof(count), buffer->hashes.add_room(count), count * sizeof(uint64_t));
        buffer->hashes.added(count);
    }
    return buffer->hashes.all();
}

} // namespace simhash
