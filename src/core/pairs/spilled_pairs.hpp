// All pairs of more fingerprints than memory holds: the search of near_pairs.cpp with its outermost
// level in temporary files.
//
// For each block in turn, the fingerprints of a file are sorted by it. Those that agree in the
// block come one after the other. They are loaded, and searched for pairs:
//
//     file --block first--> sort --> group of block 0...0, group of block 0...1, ...
//
// A group that does not fit into memory goes to a file of its own: a smaller problem of the same
// kind. Where dividing it costs more than comparing all pairs, it is compared piece by piece.
//
// What files and sorts are is the caller's matter:
//
//     struct Storage {
//         class File;                                       // of fingerprints, in any order
//         class Sort;                                       // add(), finish(), next(), release()
//         Sort sort(size_t memory_bytes, unsigned low_bit); // by the bits from low_bit up
//         void append(File* file, const uint64_t* fingerprints, size_t count);
//         void read(const File& file, uint64_t position, uint64_t* fingerprints, size_t count);
//         uint64_t size(const File& file);                  // 0 before the first append()
//         void remove(File* file);
//     };
//
// Nothing here allocates, and nothing needs to be cleaned up: a `Pause` and the storage may leave
// by longjmp.
#pragma once

#include <algorithm>
#include <utility>

#include "core/pairs/near_pairs.hpp"

namespace simhash {

constexpr size_t kLeastSpilledMemory = 512; // fingerprints

template <typename Storage>
class SpilledPairsSearch {
  public:
    using File = typename Storage::File;

    // memory: room for kLeastSpilledMemory fingerprints at least, of both sets together.
    SpilledPairsSearch(Storage* storage, const FingerprintArray& memory, bool between, int radius,
                       const PairReceiver& receiver, Pause pause)
        : storage_(*storage), memory_(memory), second_(between ? 1 : 0), receiver_(receiver),
          search_(between, radius, receiver, pause) {}

    // Searches files of distinct fingerprints, [between ? 2 : 1]. sort_bytes: memory for sorts
    void search(const File* files, size_t sort_bytes) {
        int length = search_.path_length();
        uint64_t varying = varying_bits(files);
        Blocks blocks = search_.blocks_of(storage_.size(files[0]),
                                          second_ == 1 ? storage_.size(files[1]) : 0, varying);
        if (search_.all_are_pairs(varying))
            return tell_all(files[0]);
        if (blocks.left() == 0)
            return compare_all(files);
        while (blocks.left() > 0 && !search_.is_ended()) {
            uint64_t block = blocks.take();
            search_block(files, block, sort_bytes);
            search_.add_to_path(block);
        }
        search_.shorten_path(length);
    }

  private:
    FingerprintArray load(const File& file, uint64_t position, const FingerprintArray& room) {
        FingerprintArray loaded = room;
        loaded.count = size_t(std::min<uint64_t>(room.count, storage_.size(file) - position));
        storage_.read(file, position, loaded.fingerprints, loaded.count);
        search_.worked(loaded.count);
        return loaded;
    }

    // Calls step(piece) for what the file has, piece by piece, loaded into `room`.
    void in_pieces_of(const File& file, const FingerprintArray& room, const auto& step) {
        for (uint64_t at = 0; at < storage_.size(file) && !search_.is_ended(); at += room.count)
            step(load(file, at, room));
    }

    uint64_t varying_bits(const File* files) {
        uint64_t first = 0, varying = 0;
        for (int set = 0; set <= second_; set++)
            in_pieces_of(files[set], memory_, [&](const FingerprintArray& piece) {
                if (set == 0 && varying == 0)
                    first = piece.fingerprints[0];
                for (size_t i = 0; i < piece.count; i++)
                    varying |= first ^ piece.fingerprints[i];
            });
        return varying;
    }

    // Looks for the pairs that agree in a block.
    void search_block(const File* files, uint64_t block, size_t sort_bytes) {
        BlockFirst order(block);
        auto low_bit = unsigned(kFingerprintBits - order.bits());
        // The rest is for the sorts of large groups, while these still give others.
        size_t bytes = sort_bytes / (second_ == 1 ? 4 : 2);
        typename Storage::Sort sorts[] = {storage_.sort(bytes, low_bit),
                                          storage_.sort(bytes, low_bit)};
        uint64_t next[2];
        bool more[2];
        for (int set = 0; set <= second_; set++) {
            in_pieces_of(files[set], memory_, [&](const FingerprintArray& piece) {
                for (size_t i = 0; i < piece.count; i++)
                    sorts[set].add(order.apply(piece.fingerprints[i]));
            });
            sorts[set].finish();
            more[set] = sorts[set].next(&next[set]);
        }
        while (more[0] && more[second_] && !search_.is_ended()) {
            uint64_t group = std::min(next[0], next[second_]) >> low_bit;
            size_t loaded[2] = {}; // of each set: the second one's follow the first one's
            File large[2] = {};    // of a group that does not fit
            for (int set = 0; set <= second_; set++)
                while (more[set] && next[set] >> low_bit == group) {
                    if (loaded[0] + loaded[1] == memory_.count)
                        unload(large, loaded);
                    memory_.fingerprints[loaded[0] + loaded[1]] = order.invert(next[set]);
                    loaded[set]++;
                    more[set] = sorts[set].next(&next[set]);
                }
            search_group(large, loaded, sort_bytes / 2);
        }
        for (auto& sort : sorts)
            sort.release();
    }

    void unload(File* files, size_t* loaded) {
        uint64_t* from = memory_.fingerprints;
        for (int set = 0; set <= second_; from += std::exchange(loaded[set++], 0))
            if (loaded[set] > 0)
                storage_.append(&files[set], from, loaded[set]);
    }

    void search_group(File* large, size_t* loaded, size_t sort_bytes) {
        size_t count = loaded[0] + loaded[1];
        search_.worked(count);
        if (storage_.size(large[0]) + storage_.size(large[1]) == 0) {
            PairSets sets = {memory_.part(0, loaded[0]), memory_.part(loaded[0], count)};
            if (loaded[0] > 0 && loaded[second_] > 0 && count > 1)
                search_.search(sets, false);
            return;
        }
        unload(large, loaded);
        if (storage_.size(large[0]) > 0 && storage_.size(large[second_]) > 0)
            search(large, sort_bytes);
        for (int set = 0; set <= second_; set++)
            storage_.remove(&large[set]);
    }

    // Tells a file whose pairs are all within the radius, piece by piece. All pieces share the
    // file's first fingerprint, which links them to each other.
    void tell_all(const File& file) {
        storage_.read(file, 0, memory_.fingerprints, 1);
        in_pieces_of(file, memory_.part(1, memory_.count), [&](const FingerprintArray& piece) {
            receiver_.all_pairs(memory_.fingerprints, piece.count + 1);
        });
    }

    // Compares as many of the first set as half of the memory holds with each other, or with all of
    // the second; within one set then with all that follow.
    void compare_all(const File* files) {
        size_t half = memory_.count / 2, at = 0;
        in_pieces_of(files[0], memory_.part(0, half), [&](const FingerprintArray& these) {
            at += these.count;
            if (second_ == 0)
                search_.compare_within(these);
            uint64_t those = second_ == 0 ? at : 0;
            for (; those < storage_.size(files[second_]) && !search_.is_ended(); those += half)
                search_.compare_between(these,
                                        load(files[second_], those, memory_.part(half, 2 * half)));
        });
    }

    Storage& storage_;
    FingerprintArray memory_;
    int second_; // the set of a pair's second fingerprint
    PairReceiver receiver_;
    NearPairsSearch search_;
};

} // namespace simhash
