# cmake -DLIST=<file with one source path per line> -DCOMPILER=<id> -DOUTPUT=<file> -P source_hash.cmake
# Writes the definition of calque::runtime::kSourceHash (lib/compile/source_hash.h).
file(STRINGS "${LIST}" sources)
set(hashes "${COMPILER}")
foreach(source IN LISTS sources)
  file(SHA256 "${source}" hash)
  string(APPEND hashes "${hash}")
endforeach()
string(SHA256 hash "${hashes}")
file(WRITE "${OUTPUT}" "#include \"compile/source_hash.h\"

namespace calque::runtime {

const std::string_view kSourceHash = \"${hash}\";

}  // namespace calque::runtime
")
