// Finds the models of a query. See the header.
#include "whole_tables/models.hpp"

namespace simhash {

void SearchedValues::find_models(size_t rows, Copies* copies, std::optional<Models>* models) {
    copies->add_rows(rows);
    models->emplace(pool_, lanes());
    if (!hashes_)
        return;
    hashes_->finish();
    if (lanes() == 1) {
        each_model(copies, [&](Pair model) { (*models)->list(0).add(model); });
    } else if (lanes() == 0) {
        PagedArray<bool> is_model(pool_);
        for (size_t row = 0; row < rows; row++)
            is_model.add(false);
        each_model(copies, [&](Pair model) { is_model.set(model.second, true); });
        for (size_t row = 0; row < rows; row++)
            if (is_model[row])
                (*models)->rows().add(RowNumber(row));
        is_model.close();
    } else {
        std::optional<ExternalSorter<Pair>> by_lane[kMaxCodeLanes]; // (lane, row)
        for (int lane = 0; lane < lanes(); lane++)
            by_lane[lane].emplace(sort_bytes_ / 2 / size_t(lanes()));
        each_model(copies, [&](Pair model) {
            uint64_t of_model[kMaxCodeLanes];
            get_lanes(RowNumber(model.second), of_model);
            for (int lane = 0; lane < lanes(); lane++)
                by_lane[lane]->add({of_model[lane], model.second});
        });
        for (int lane = 0; lane < lanes(); lane++) {
            by_lane[lane]->finish();
            for (Pair model{}; by_lane[lane]->next(&model);) {
                CHECK_FOR_INTERRUPTS();
                (*models)->list(lane).add(model);
            }
            by_lane[lane]->release();
        }
    }
    hashes_->release();
    hashes_.reset();
}

// The lanes of several are sorted beside the hashes.
void SearchedValues::begin_hashes() {
    MemoryContext caller = MemoryContextSwitchTo(context_);
    hashes_.emplace(lanes() == 1 ? sort_bytes_ : sort_bytes_ / 2);
    MemoryContextSwitchTo(caller);
}

// Calls give((hash, row)) for each model, in order of the hashes.
void SearchedValues::each_model(Copies* copies, const auto& give) {
    struct Model {
        RowNumber row, last_copy;
    };
    GrowingArray<Model> models(server_memory()); // those of one hash, as good as always one
    uint64_t hash = 0;
    for (Pair entry{}; hashes_->next(&entry); hash = entry.first) {
        CHECK_FOR_INTERRUPTS();
        auto row = RowNumber(entry.second);
        // Equal hashes come one after another, in order of their rows. So the first row with a
        // value is met first, and becomes the model.
        if (entry.first != hash)
            models.clear();
        Model* end = models.data() + models.size();
        Model* model = std::find_if(models.data(), end,
                                    [&](const Model& model) { return are_equal(model.row, row); });
        if (model == end) {
            models.add({row, row});
            give(entry);
        } else {
            copies->append(model->last_copy, row);
            model->last_copy = row;
        }
    }
}

} // namespace simhash
