// A reference to a function object: so what calls it need not be a template. The object must
// outlive the reference.
#pragma once

#include <utility>

namespace simhash {

template <typename Signature>
class FunctionRef;

template <typename Result, typename... Arguments>
class FunctionRef<Result(Arguments...)> {
  public:
    FunctionRef() = default; // to none
    template <typename Function>
    FunctionRef(const Function& function) // NOLINT: it stands for the function
        : call_([](const void* function, Arguments... arguments) -> Result {
              return (*static_cast<const Function*>(function))(std::move(arguments)...);
          }),
          function_(&function) {}

    Result operator()(Arguments... arguments) const {
        return call_(function_, std::move(arguments)...);
    }
    explicit operator bool() const { return call_ != nullptr; }

  private:
    Result (*call_)(const void* function, Arguments... arguments) = nullptr;
    const void* function_ = nullptr;
};

} // namespace simhash
