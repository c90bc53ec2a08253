#pragma once
// Parsing of what the texts of graphs and of programs share: types, attributes, locations, contents of arrays.
#include <string_view>

#include "calque/ir/graph.h"

#include "ir/text/token_stream.h"

namespace calque::text {

class ValueParser : protected TokenStream {
 protected:
  using TokenStream::TokenStream;

  Type type();
  Attributes attributes();
  AttributeValue attribute();
  /// Unknown when there is none.
  Location location();
  /// The contents of an array as append_contents writes them.
  AnyArray contents(const Type& type);

 private:
  static constexpr size_t kMaxRank = 64;

  AnyArray elements(const Type& type);
};

}  // namespace calque::text
