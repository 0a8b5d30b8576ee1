// The search of near_pairs.cpp, for sets that do not fit into memory.
//
// For each block in turn, the fingerprints are in files, divided by the first bits of that block so
// that a file's fingerprints fit into memory. Each file is loaded and searched for the pairs that
// agree in the block; then its fingerprints go to the files of the next block:
//
//     files by the first bits of block 0      load, search, hand on
//         00...  01...  10...  11...          -> files by the first bits of block 1 -> ...
//
// So each block costs one write and one read of every fingerprint, and the disk holds at most the
// fingerprints of two blocks. Where there would be few files, there is one, which stays: for each
// block the fingerprints of one part after the other are read out of it, and nothing is written.
//
// A file that does not fit into memory is divided by more bits of the block. When there are none
// left, it is a group, as in near_pairs.cpp: a smaller problem of the same kind. If dividing it
// further would cost more than comparing all pairs, it is compared piece by piece.
//
// Before that, repeated fingerprints are dropped: the set's files, which may be divided by any
// bits, are loaded one by one and sorted.
#include "core/pairs/spilled_pairs.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "core/bits/fingerprint.hpp"

namespace simhash {
namespace {

// The sets' fingerprints, divided in the same way. b is empty if there is only one set.
struct DividedSets {
    DividedFingerprints a, b;

    explicit DividedSets(uint64_t bits) {
        a.bits = bits;
        b.bits = bits;
    }
};

// One part of each set: what is in memory together, or a group.
struct SetFiles {
    FingerprintFile a, b;

    uint64_t count() const { return a.count + b.count; }
};

// The file is made when its first fingerprints come, so an empty part has none.
void write(const FingerprintFiles& files, FingerprintFile* to, const uint64_t* fingerprints,
           size_t count) {
    if (count == 0)
        return;
    if (to->file == nullptr)
        to->file = files.create(files.context);
    files.write(to->file, fingerprints, count);
    to->count += count;
}

void remove(const FingerprintFiles& files, FingerprintFile* file) {
    if (file->file != nullptr)
        files.remove(file->file);
    *file = {};
}

// Changes only the array's scratch.
// The array is brought in order of the parts first, so that each part is one write.
void divide(const FingerprintFiles& files, const FingerprintArray& array, Pause pause,
            DividedFingerprints* divided) {
    BlockBits part_of(divided->bits);
    size_t ends[1 << DividedFingerprints::kMaxBits] = {};
    one_by_one(
        array.count, [&](size_t i) { ++ends[part_of(array.fingerprints[i])]; }, pause);
    size_t parts = size_t{1} << std::popcount(divided->bits);
    for (size_t part = 0, start = 0; part < parts; part++)
        start += std::exchange(ends[part], start);
    one_by_one(
        array.count,
        [&](size_t i) {
            array.scratch[ends[part_of(array.fingerprints[i])]++] = array.fingerprints[i];
        },
        pause);
    // The dealing has moved each part's beginning to its end, which is where the next part begins.
    for (size_t part = 0, begin = 0; part < parts; begin = ends[part++])
        write(files, &divided->parts[part], array.scratch + begin, ends[part] - begin);
}

uint64_t differences(const FingerprintArray& array, uint64_t from, Pause pause) {
    uint64_t differing = 0;
    one_by_one(
        array.count, [&](size_t i) { differing |= array.fingerprints[i] ^ from; }, pause);
    return differing;
}

} // namespace

void SpilledSet::add(const FingerprintArray& fingerprints, Pause pause) {
    if (fingerprints.count == 0)
        return;
    if (count_ == 0)
        first_ = fingerprints.fingerprints[0];
    varying_ |= differences(fingerprints, first_, pause);
    if (divided_.bits == 0) // there must be some bits, and they must not change afterwards
        divided_.bits =
            highest_ones(varying_ == 0 ? ~uint64_t{0} : varying_, DividedFingerprints::kMaxBits);
    divide(files_, fingerprints, pause, &divided_);
    count_ += fingerprints.count;
}

void SpilledSet::release() {
    for (FingerprintFile& part : divided_.parts)
        remove(files_, &part);
}

class SpilledPairsSearch {
  public:
    SpilledPairsSearch(const FingerprintFiles& files, const FingerprintArray& memory, bool between,
                       int radius, const PairReceiver& receiver, Pause pause)
        : files_(files), memory_(memory), between_(between), receiver_(receiver), pause_(pause),
          search_(between, radius, receiver, pause) {}

    void search(SpilledSet* a, SpilledSet* b) {
        uint64_t varying = a->varying_;
        if (between_)
            varying |= b->varying_ | (a->first_ ^ b->first_);
        SetFiles counts = {{nullptr, a->count_}, {nullptr, between_ ? b->count_ : 0}};
        Blocks blocks = search_.blocks_of(counts.a.count, counts.b.count, varying);
        // The pass that drops repeated fingerprints also divides them by the first block, so it
        // costs no pass of its own.
        uint64_t bits = dividing_bits(next_block(blocks), counts.count());
        DividedSets first(has_few_parts(bits) ? 0 : bits);
        drop_repeated(&a->divided_, &first.a);
        if (between_)
            drop_repeated(&b->divided_, &first.b);
        if (first.a.bits != 0)
            search_blocks(&first, blocks);
        else if (blocks.left() > 0)
            search_whole({first.a.parts[0], first.b.parts[0]}, blocks);
        else
            search_undivided({first.a.parts[0], first.b.parts[0]}, varying);
    }

  private:
    // ---- files ----

    void read(const FingerprintFile& file, const FingerprintArray& array) {
        files_.read(file.file, array.fingerprints, array.count);
    }

    // Loads a file, which must fit, behind `kept` fingerprints of the memory.
    FingerprintArray load(const FingerprintFile& file, size_t kept = 0) {
        // The part's scratch comes with it, so both loaded files can be sorted.
        FingerprintArray array = memory_.part(kept, kept + size_t(file.count));
        if (file.count > 0) {
            files_.rewind(file.file);
            read(file, array);
        }
        return array;
    }

    // Calls step(piece) for the file's fingerprints, piece by piece, loaded into `room`.
    void in_pieces_of(const FingerprintFile& file, const FingerprintArray& room, const auto& step) {
        if (file.count == 0)
            return;
        files_.rewind(file.file);
        FingerprintArray piece = room;
        for (uint64_t left = file.count; left > 0; left -= piece.count) {
            piece.count = size_t(std::min<uint64_t>(left, room.count));
            read(file, piece);
            step(piece);
        }
    }

    void hand_on(const FingerprintFile& file, DividedFingerprints* to) {
        in_pieces_of(file, memory_, [&](const FingerprintArray& piece) { give(piece, to); });
    }

    void give(const FingerprintArray& array, DividedFingerprints* to) {
        if (to->bits != 0)
            divide(files_, array, pause_, to);
        else
            write(files_, &to->parts[0], array.fingerprints, array.count);
    }

    void remove_both(SetFiles* files) {
        remove(files_, &files->a);
        remove(files_, &files->b);
    }

    // The highest of these bits, at most kMaxBits: parts of equal size then fit into memory.
    uint64_t dividing_bits(uint64_t bits, uint64_t count) const {
        // Parts are seldom of equal size: an eighth of the memory is left for the larger ones.
        uint64_t fitting = memory_.count - memory_.count / 8;
        int needed = std::bit_width(count / fitting);
        return highest_ones(bits, std::clamp(needed, 1, DividedFingerprints::kMaxBits));
    }

    // Whether it takes less to read all that is divided by these bits once for each part than to
    // write and read it.
    static bool has_few_parts(uint64_t bits) { return std::popcount(bits) <= 2; }

    // 0 if no block is left.
    static uint64_t next_block(Blocks blocks) { return blocks.left() > 0 ? blocks.take() : 0; }

    // Passes the distinct fingerprints on, and removes the files.
    void drop_repeated(DividedFingerprints* from, DividedFingerprints* to) {
        for (FingerprintFile& file : from->parts) {
            if (file.count == 0)
                continue;
            // Equal fingerprints are in the same part, so each part can be sorted alone.
            if (file.count <= memory_.count) {
                FingerprintArray array = load(file);
                array.count = sort_distinct({array.fingerprints, array.count},
                                            {array.scratch, array.count}, pause_);
                give(array, to);
            } else {
                drop_repeated_of_large(file, to);
            }
            remove(files_, &file);
        }
    }

    void drop_repeated_of_large(const FingerprintFile& file, DividedFingerprints* to) {
        uint64_t varying = varying_bits({file, {}});
        if (varying == 0) {
            give(load({file.file, 1}), to);
            return;
        }
        DividedFingerprints smaller;
        smaller.bits = dividing_bits(varying, file.count);
        hand_on(file, &smaller);
        drop_repeated(&smaller, to);
    }

    // ---- the search; every step removes the files that it gets ----

    // Searches a problem whose fingerprints are divided by its first block.
    void search_blocks(DividedSets* divided, Blocks blocks) {
        int length = search_.path_length();
        uint64_t count = 0;
        for (size_t i = 0; i < std::size(divided->a.parts); i++)
            count += divided->a.parts[i].count + divided->b.parts[i].count;
        while (blocks.left() > 0) {
            uint64_t block = blocks.take();
            // There are as many parts as make all fingerprints of this problem fit.
            DividedSets next(dividing_bits(next_block(blocks), count));
            search_parts(divided, block, block ^ divided->a.bits,
                         blocks.left() > 0 ? &next : nullptr);
            search_.add_to_path(block);
            // search_parts() has removed the files of the last block.
            *divided = next;
        }
        search_.shorten_path(length);
    }

    // The same of a problem that is not divided.
    void search_whole(SetFiles whole, Blocks blocks) {
        int length = search_.path_length();
        while (blocks.left() > 0 && !search_.is_ended()) {
            uint64_t block = blocks.take();
            uint64_t bits = dividing_bits(block, whole.count());
            if (parts_fit(whole, bits)) {
                search_parts_of(whole, block, bits);
            } else {
                DividedSets divided(bits);
                hand_on(whole.a, &divided.a);
                hand_on(whole.b, &divided.b);
                search_parts(&divided, block, block ^ bits, nullptr);
            }
            search_.add_to_path(block);
        }
        search_.shorten_path(length);
        remove_both(&whole);
    }

    // Whether each part fits into memory, with a place to spare.
    bool parts_fit(const SetFiles& whole, uint64_t bits) {
        BlockBits part_of(bits);
        uint64_t counts[1 << DividedFingerprints::kMaxBits] = {};
        for (const FingerprintFile& file : {whole.a, whole.b})
            in_pieces_of(file, memory_, [&](const FingerprintArray& piece) {
                one_by_one(
                    piece.count, [&](size_t i) { ++counts[part_of(piece.fingerprints[i])]; },
                    pause_);
            });
        return *std::max_element(std::begin(counts), std::end(counts)) < memory_.count;
    }

    void search_parts_of(const SetFiles& whole, uint64_t block, uint64_t bits) {
        BlockBits part_of(bits);
        for (uint32_t part = 0; part < 1u << std::popcount(bits) && !search_.is_ended(); part++) {
            PairSets sets;
            sets.a = load_part(whole.a, part_of, part, 0);
            sets.b = load_part(whole.b, part_of, part, sets.a.count);
            if (sets.a.count > 0 && (!between_ || sets.b.count > 0))
                search_.search_block(sets, block);
        }
    }

    // Loads a part of a file, which must fit, behind `kept` fingerprints of the memory.
    FingerprintArray load_part(const FingerprintFile& file, const BlockBits& part_of, uint32_t part,
                               size_t kept) {
        uint64_t* loaded = memory_.fingerprints + kept;
        size_t count = 0;
        in_pieces_of(file, {memory_.scratch, nullptr, memory_.count},
                     [&](const FingerprintArray& piece) {
                         one_by_one(
                             piece.count,
                             [&](size_t i) {
                                 // Without a branch: one of another part is written over.
                                 loaded[count] = piece.fingerprints[i];
                                 count += part_of(piece.fingerprints[i]) == part;
                             },
                             pause_);
                     });
        return memory_.part(kept, kept + count);
    }

    // Looks for the pairs that agree in a block. The fingerprints are divided by all bits of the
    // block except `undivided`. Passes them on to `next`, unless it is null.
    void search_parts(DividedSets* divided, uint64_t block, uint64_t undivided, DividedSets* next) {
        for (size_t i = 0; i < std::size(divided->a.parts); i++)
            search_part({divided->a.parts[i], divided->b.parts[i]}, block, undivided, next);
    }

    void search_part(SetFiles part, uint64_t block, uint64_t undivided, DividedSets* next) {
        if (search_.is_ended()) {
            remove_both(&part);
        } else if (part.count() <= memory_.count) {
            search_in_memory(part, block, next);
        } else if (has_pairs(part) && undivided != 0) {
            DividedSets smaller(dividing_bits(undivided, part.count()));
            hand_on(part.a, &smaller.a);
            hand_on(part.b, &smaller.b);
            remove_both(&part);
            search_parts(&smaller, block, undivided ^ smaller.a.bits, next);
        } else {
            if (next != nullptr) {
                // search_group() below uses up the files, so the next block gets its own first.
                hand_on(part.a, &next->a);
                hand_on(part.b, &next->b);
            }
            search_group(part);
        }
    }

    bool has_pairs(const SetFiles& part) const {
        return part.a.count > 0 && (!between_ || part.b.count > 0);
    }

    void search_in_memory(SetFiles part, uint64_t block, DividedSets* next) {
        // A part of one set alone has no pairs, but the next block needs it all the same.
        bool may_have_pairs = has_pairs(part);
        PairSets sets = {load(part.a), load(part.b, size_t(part.a.count))};
        remove_both(&part);
        if (next != nullptr) {
            give(sets.a, &next->a);
            give(sets.b, &next->b);
        }
        // The files are gone by now: the search holds memory, and no disk.
        if (may_have_pairs)
            search_.search_block(sets, block);
    }

    void search_group(SetFiles group) {
        if (!has_pairs(group)) {
            remove_both(&group);
            return;
        }
        uint64_t varying = varying_bits(group);
        Blocks blocks = search_.blocks_of(group.a.count, group.b.count, varying);
        if (blocks.left() == 0) {
            search_undivided(group, varying);
            return;
        }
        uint64_t bits = dividing_bits(next_block(blocks), group.count());
        if (has_few_parts(bits)) {
            search_whole(group, blocks);
            return;
        }
        DividedSets divided(bits);
        hand_on(group.a, &divided.a);
        hand_on(group.b, &divided.b);
        remove_both(&group);
        search_blocks(&divided, blocks);
    }

    uint64_t varying_bits(const SetFiles& group) {
        bool any = false;
        uint64_t first = 0, varying = 0;
        // Both sets are looked at together, because their blocks are the same.
        for (const FingerprintFile& file : {group.a, group.b})
            in_pieces_of(file, memory_, [&](const FingerprintArray& array) {
                if (!any)
                    first = array.fingerprints[0];
                any = true;
                varying |= differences(array, first, pause_);
            });
        return varying;
    }

    void search_undivided(SetFiles group, uint64_t varying) {
        if (search_.all_are_pairs(varying))
            tell_all(group.a);
        else if (between_)
            compare_between(group);
        else
            compare_within(&group.a);
        remove_both(&group);
    }

    // Reports a file whose pairs are all within the radius, piece by piece. All pieces share the
    // file's first fingerprint, which links them to each other.
    void tell_all(const FingerprintFile& file) {
        bool any = false;
        in_pieces_of(file, memory_.part(1, memory_.count), [&](const FingerprintArray& piece) {
            if (!any)
                // The pieces are loaded behind this place, so the first fingerprint stays.
                memory_.fingerprints[0] = piece.fingerprints[0];
            any = true;
            receiver_.all_pairs(receiver_.context, memory_.fingerprints, piece.count + 1);
        });
    }

    // Compares as many of the first fingerprints as half of the memory holds with each other and
    // with all that follow; then does the same with those that follow.
    void compare_within(FingerprintFile* file) {
        while (file->count > 0 && !search_.is_ended()) {
            // The other half is for the pieces of what follows.
            size_t count = size_t(std::min<uint64_t>(file->count, memory_.count / 2));
            FingerprintArray first = memory_.part(0, count), piece;
            FingerprintFile others;
            uint64_t left = file->count - count;
            files_.rewind(file->file);
            read(*file, first);
            search_.compare_within(first);
            for (; left > 0; left -= piece.count) {
                piece = memory_.part(count, memory_.count);
                piece.count = size_t(std::min<uint64_t>(left, piece.count));
                read(*file, piece);
                search_.compare_between(first, piece);
                // What follows goes to a new file, which is the input of the next round.
                write(files_, &others, piece.fingerprints, piece.count);
            }
            remove(files_, file);
            *file = others;
        }
    }

    void compare_between(const SetFiles& sets) {
        // The first set comes in pieces of half the memory; for each, all of the second is read.
        size_t half = memory_.count / 2;
        in_pieces_of(sets.a, memory_.part(0, half), [&](const FingerprintArray& a) {
            in_pieces_of(sets.b, memory_.part(half, memory_.count),
                         [&](const FingerprintArray& b) { search_.compare_between(a, b); });
        });
    }

    FingerprintFiles files_;
    FingerprintArray memory_;
    bool between_;
    PairReceiver receiver_;
    Pause pause_;
    NearPairsSearch search_;
};

void find_spilled_pairs(SpilledSet* a, SpilledSet* b, const FingerprintArray& memory, int radius,
                        const PairReceiver& receiver, Pause pause) {
    bool between = b != nullptr;
    if (a->count() > 0 && (between ? b->count() > 0 : radius > 0))
        SpilledPairsSearch(a->files_, memory, between, radius, receiver, pause).search(a, b);
}

} // namespace simhash
