# The text that the first error of each snippet of spellings.cpp must contain.

function(calque_add_negative number)
  calque_add_compile_fail(spellings_${number} "${PROJECT_SOURCE_DIR}/test/spellings/spellings.cpp" EXPECT ${ARGN} FLAGS
                          -DNEG=${number})
endfunction()

calque_add_negative(1 "struct that holds arrays" "class template")
calque_add_negative(2 "returns nothing")
calque_add_negative(4 "while_loop" "carry")
calque_add_negative(5 "Tracer<float>.* to .*double")
calque_add_negative(6 "double" "float" "cast")
calque_add_negative(7 "C array")
calque_add_negative(8 "grad" "one number")
calque_add_negative(9 "array member's type" "template parameter")
