#pragma once
// Text graphs with control flow in every combination that transformations treat differently. Inputs are f64 (and
// predicates and counters): derivatives are compared with finite differences, batches with loops.
#include <string_view>
#include <vector>

namespace calque::test {

struct ControlProgram {
  std::string_view name, text;
  /// Whether reverse mode is supported (no while).
  bool reverse = true;
  /// Whether the custom derivative rules inside are the true derivatives.
  bool ordinary = true;
};

/// The texts omit the version header.
inline const std::vector<ControlProgram>& control_programs() {
  static const std::vector<ControlProgram> programs = {
      {"cond", R"(graph (%p: bool[], %x: f64[3], %y: f64[3]) {
  %r, %s = cond %p %x %y {
    (%0: f64[3], %1: f64[3]) { %2 = mul %0 %1  %3 = add %0 %1  return %2, %3 }
    (%0: f64[3], %1: f64[3]) { %2 = sin %0  return %2, 2.0:f64[3] }
  }
  return %r, %s
})"},
      {"cond_of_active_predicate", R"(graph (%x: f64[], %y: f64[]) {
  %p = lt %x %y
  %r = cond %p %x %y {
    (%0: f64[], %1: f64[]) { %2 = mul %0 %1  %3 = exp %2  return %3 }
    (%0: f64[], %1: f64[]) { %2 = sub %0 %1  return %2 }
  }
  %s = mul %r %r
  return %s
})"},
      {"cond_with_integers", R"(graph (%p: bool[], %x: f64[2], %n: i32[]) {
  %r, %m, %i = cond %p %x %n {
    (%0: f64[2], %1: i32[]) { %2 = mul %0 %0  %3 = add %1 1:i32[]  return %2, %3, %1 }
    (%0: f64[2], %1: i32[]) { return %0, %1, 7:i32[] }
  }
  %f = convert[dtype=f64] %m
  %b = broadcast[axes=[], shape=[2]] %f
  %s = mul %r %b
  return %s, %i
})"},
      {"cond_shares_what_is_known", R"(graph (%p: bool[], %x: f64[3], %w: f64[3]) {
  %r = cond %p %x %w {
    (%0: f64[3], %1: f64[3]) { %2 = exp %1  %3 = mul %0 %2  return %3 }
    (%0: f64[3], %1: f64[3]) { %2 = cos %1  %3 = log %2  %4 = mul %0 %3  %5 = mul %4 %0  return %5 }
  }
  return %r
})"},
      {"switch", R"(graph (%i: i32[], %x: f64[3], %y: f64[3]) {
  %r = switch %i %x %y {
    (%0: f64[3], %1: f64[3]) { %2 = sin %0  return %2 }
    (%0: f64[3], %1: f64[3]) { %2 = mul %0 %1  return %2 }
    (%0: f64[3], %1: f64[3]) { %2 = exp %1  return %2 }
    (%0: f64[3], %1: f64[3]) { return 3.0:f64[3] }
  }
  return %r
})"},
      {"switch_of_one", R"(graph (%i: i32[], %x: f64[2]) {
  %r, %s = switch %i %x {
    (%0: f64[2]) { %1 = mul %0 %0  return %1, %0 }
  }
  %t = add %r %s
  return %t
})"},
      {"while", R"(graph (%x: f64[3]) {
  %n, %r = while[body_consts=0, cond_consts=0] 0:i32[] %x {
    (%0: i32[], %1: f64[3]) { %2 = lt %0 4:i32[]  return %2 }
    (%0: i32[], %1: f64[3]) { %2 = add %0 1:i32[]  %3 = sin %1  %4 = mul %1 %3  return %2, %4 }
  }
  return %r, %n
})",
       false},
      {"while_until", R"(graph (%x: f64[], %limit: f64[], %w: f64[]) {
  %r, %s = while[body_consts=1, cond_consts=1] %limit %w %x 0.5:f64[] {
    (%0: f64[], %1: f64[], %2: f64[]) { %3 = abs %0  %4 = abs %1  %5 = add %3 20.0:f64[]  %6 = lt %4 %5  return %6 }
    (%0: f64[], %1: f64[], %2: f64[]) {
      %3 = mul %1 1.7:f64[]
      %4 = mul %0 %2
      %5 = add %3 3.0:f64[]
      %6 = add %2 %4
      return %5, %6
    }
  }
  %t = mul %s %r
  return %t
})",
       false},
      {"while_carry_becomes_active", R"(graph (%x: f64[], %y: f64[]) {
  %n, %a, %b, %c = while[body_consts=1, cond_consts=0] %x 0:i32[] 1.0:f64[] 2.0:f64[] %y {
    (%0: i32[], %1: f64[], %2: f64[], %3: f64[]) { %4 = lt %0 5:i32[]  return %4 }
    (%0: f64[], %1: i32[], %2: f64[], %3: f64[], %4: f64[]) {
      %5 = add %1 1:i32[]
      %6 = mul %3 0.5:f64[]
      %7 = mul %4 %0
      %8 = add %7 0.1:f64[]
      %9 = add %6 %7
      return %5, %3, %9, %8
    }
  }
  return %a, %b, %c, %n
})",
       false},
      {"while_of_elements", R"(graph (%x: f64[4], %w: f64[4,2], %k: f64[]) {
  %n, %r, %s = while[body_consts=1, cond_consts=0] %k 0:i32[4] %x %w {
    (%0: i32[4], %1: f64[4], %2: f64[4,2]) {
      %3 = abs %1
      %4 = lt %3 9.0:f64[4]
      %5 = lt %0 6:i32[4]
      %6 = and %4 %5
      return %6
    }
    (%0: f64[], %1: i32[4], %2: f64[4], %3: f64[4,2]) {
      %4 = add %1 1:i32[4]
      %5 = broadcast[axes=[], shape=[4]] %0
      %6 = mul %2 1.9:f64[4]
      %7 = add %6 %5
      %8 = mul %3 0.7:f64[4,2]
      %9 = sin %8
      return %4, %7, %9
    }
  }
  return %r, %s
})",
       false},
      {"scan", R"(graph (%x: f64[3], %xs: f64[4,3]) {
  %c, %ys = scan[carry=1, consts=0, length=4, reverse=false, unroll=1] %x %xs {
    (%0: f64[3], %1: f64[3]) { %2 = sin %0  %3 = mul %2 %1  %4 = add %3 %0  return %3, %4 }
  }
  return %c, %ys
})"},
      {"scan_reverse", R"(graph (%x: f64[2], %xs: f64[5,2], %w: f64[2]) {
  %c, %ys = scan[carry=1, consts=1, length=5, reverse=true, unroll=2] %w %x %xs {
    (%0: f64[2], %1: f64[2], %2: f64[2]) { %3 = mul %1 %0  %4 = add %3 %2  %5 = tanh %4  %6 = mul %5 %5  return %5, %6 }
  }
  return %ys, %c
})"},
      {"scan_recurrent", R"(graph (%w: f64[3,3], %b: f64[3], %h: f64[3], %xs: f64[4,3]) {
  %c = scan[carry=1, consts=2, length=4, reverse=false, unroll=1] %w %b %h %xs {
    (%0: f64[3,3], %1: f64[3], %2: f64[3], %3: f64[3]) {
      %4 = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[0]] %0 %2
      %5 = add %4 %1
      %6 = add %5 %3
      %7 = tanh %6
      return %7
    }
  }
  %l = reduce_sum[axes=[0]] %c
  return %l
})"},
      {"scan_of_length_0", R"(graph (%x: f64[2], %xs: f64[0,2]) {
  %c, %ys = scan[carry=1, consts=0, length=0, reverse=false, unroll=1] %x %xs {
    (%0: f64[2], %1: f64[2]) { %2 = mul %0 %1  return %2, %0 }
  }
  %d = mul %c %c
  return %d, %ys
})"},
      {"scan_of_length_1", R"(graph (%x: f64[2], %xs: f64[1,2]) {
  %c, %ys = scan[carry=1, consts=0, length=1, reverse=true, unroll=1] %x %xs {
    (%0: f64[2], %1: f64[2]) { %2 = mul %0 %1  %3 = exp %2  return %2, %3 }
  }
  return %c, %ys
})"},
      {"scan_without_carry", R"(graph (%xs: f64[4,2], %w: f64[2], %n: i32[4]) {
  %ys, %m = scan[carry=0, consts=1, length=4, reverse=false, unroll=1] %w %xs %n {
    (%0: f64[2], %1: f64[2], %2: i32[]) { %3 = mul %0 %1  %4 = sin %3  %5 = add %2 1:i32[]  return %4, %5 }
  }
  return %ys, %m
})"},
      {"scan_without_xs", R"(graph (%x: f64[]) {
  %i, %c, %is = scan[carry=2, consts=0, length=3, reverse=false, unroll=1] 0:i32[] %x {
    (%0: i32[], %1: f64[]) {
      %2 = convert[dtype=f64] %0
      %3 = mul %1 %1
      %4 = add %3 %2
      %5 = add %0 1:i32[]
      return %5, %4, %0
    }
  }
  return %c, %is
})"},
      {"scan_unused_and_passing_carries", R"(graph (%x: f64[], %y: f64[], %z: f64[], %n: i32[]) {
  %a, %b, %c, %m = scan[carry=4, consts=0, length=3, reverse=false, unroll=1] %x %y %z %n {
    (%0: f64[], %1: f64[], %2: f64[], %3: i32[]) {
      %4 = mul %0 %1
      %5 = sin %2
      %6 = add %3 2:i32[]
      return %4, %1, %5, %6
    }
  }
  %r = mul %a %b
  return %r
})"},
      {"scan_carry_becomes_active", R"(graph (%x: f64[], %xs: f64[4]) {
  %a, %b, %c = scan[carry=3, consts=1, length=4, reverse=false, unroll=1] %x 1.0:f64[] 2.0:f64[] 0.5:f64[] %xs {
    (%0: f64[], %1: f64[], %2: f64[], %3: f64[], %4: f64[]) {
      %5 = mul %2 0.5:f64[]
      %6 = mul %3 %0
      %7 = add %6 0.1:f64[]
      %8 = mul %7 %4
      return %2, %3, %8
    }
  }
  return %a, %b, %c
})"},
      {"scan_of_known_carry", R"(graph (%x: f64[], %k: f64[], %xs: f64[4]) {
  %k1 = stop_gradient %k
  %a, %b = scan[carry=2, consts=0, length=4, reverse=false, unroll=1] %k1 %x %xs {
    (%0: f64[], %1: f64[], %2: f64[]) {
      %3 = cos %0
      %4 = exp %3
      %5 = mul %1 %4
      %6 = add %5 %2
      return %3, %6
    }
  }
  return %a, %b
})",
       true, false},
      {"scan_in_cond_in_scan", R"(graph (%x: f64[2], %xs: f64[3,2], %ps: bool[3], %w: f64[2]) {
  %c, %ys = scan[carry=1, consts=1, length=3, reverse=false, unroll=1] %w %x %xs %ps {
    (%0: f64[2], %1: f64[2], %2: f64[2], %3: bool[]) {
      %4 = cond %3 %0 %1 %2 {
        (%0: f64[2], %1: f64[2], %2: f64[2]) {
          %3 = scan[carry=1, consts=2, length=2, reverse=true, unroll=1] %0 %2 %1 {
            (%0: f64[2], %1: f64[2], %2: f64[2]) { %3 = mul %0 %2  %4 = add %3 %1  %5 = sin %4  return %5 }
          }
          return %3
        }
        (%0: f64[2], %1: f64[2], %2: f64[2]) { %3 = mul %1 %2  return %3 }
      }
      %5 = add %4 %0
      return %4, %5
    }
  }
  return %c, %ys
})"},
      {"switch_in_scan", R"(graph (%x: f64[], %is: i32[5], %w: f64[]) {
  %c = scan[carry=1, consts=1, length=5, reverse=false, unroll=1] %w %x %is {
    (%0: f64[], %1: f64[], %2: i32[]) {
      %3 = switch %2 %0 %1 {
        (%0: f64[], %1: f64[]) { %2 = mul %0 %1  return %2 }
        (%0: f64[], %1: f64[]) { %2 = sin %1  return %2 }
        (%0: f64[], %1: f64[]) { %2 = add %0 %1  return %2 }
      }
      return %3
    }
  }
  return %c
})"},
      {"while_in_scan", R"(graph (%x: f64[2], %xs: f64[3,2]) {
  %c = scan[carry=1, consts=0, length=3, reverse=false, unroll=1] %x %xs {
    (%0: f64[2], %1: f64[2]) {
      %2, %3 = while[body_consts=1, cond_consts=0] %1 0:i32[] %0 {
        (%0: i32[], %1: f64[2]) { %2 = lt %0 2:i32[]  return %2 }
        (%0: f64[2], %1: i32[], %2: f64[2]) { %3 = add %1 1:i32[]  %4 = mul %0 %2  %5 = sin %4  return %3, %5 }
      }
      return %3
    }
  }
  return %c
})",
       false},
      {"scan_in_while", R"(graph (%x: f64[], %xs: f64[3]) {
  %n, %c = while[body_consts=1, cond_consts=0] %xs 0:i32[] %x {
    (%0: i32[], %1: f64[]) { %2 = lt %0 3:i32[]  return %2 }
    (%0: f64[3], %1: i32[], %2: f64[]) {
      %3 = add %1 1:i32[]
      %4 = scan[carry=1, consts=0, length=3, reverse=false, unroll=1] %2 %0 {
        (%0: f64[], %1: f64[]) { %2 = mul %0 %1  %3 = cos %2  return %3 }
      }
      return %3, %4
    }
  }
  return %c
})",
       false},
      {"calls_and_checkpoints", R"(graph (%x: f64[3], %y: f64[3]) {
  %a = call[name="f"] %x %y {
    (%0: f64[3], %1: f64[3]) {
      %2 = checkpoint %0 %1 {
        (%0: f64[3], %1: f64[3]) { %2 = sin %0  %3 = mul %2 %1  %4 = exp %3  return %4 }
      }
      %3 = mul %2 %1
      return %3
    }
  }
  %b, %c = checkpoint %a %y {
    (%0: f64[3], %1: f64[3]) { %2 = mul %0 %1  %3 = tanh %2  return %3, %1 }
  }
  return %b, %c
})"},
      {"checkpoint_of_scan", R"(graph (%x: f64[2], %xs: f64[4,2]) {
  %c, %ys = checkpoint %x %xs {
    (%0: f64[2], %1: f64[4,2]) {
      %2, %3 = scan[carry=1, consts=0, length=4, reverse=false, unroll=1] %0 %1 {
        (%0: f64[2], %1: f64[2]) { %2 = sin %0  %3 = mul %2 %1  return %3, %2 }
      }
      return %2, %3
    }
  }
  return %c, %ys
})"},
      {"checkpoint_in_scan", R"(graph (%x: f64[2], %xs: f64[4,2]) {
  %c = scan[carry=1, consts=0, length=4, reverse=false, unroll=1] %x %xs {
    (%0: f64[2], %1: f64[2]) {
      %2 = checkpoint %0 %1 { (%0: f64[2], %1: f64[2]) { %2 = sin %0  %3 = exp %1  %4 = mul %2 %3  return %4 } }
      return %2
    }
  }
  return %c
})"},
      {"custom_jvp", R"(graph (%x: f64[3], %y: f64[3]) {
  %a = custom_jvp %x %y {
    (%0: f64[3], %1: f64[3]) { %2 = mul %0 %1  %3 = sin %2  return %3 }
    (%0: f64[3], %1: f64[3], %2: f64[3], %3: f64[3]) {
      %4 = mul %0 %1
      %5 = sin %4
      %6 = cos %4
      %7 = mul %2 %1
      %8 = mul %0 %3
      %9 = add %7 %8
      %10 = mul %6 %9
      return %5, %10
    }
  }
  %b = mul %a %x
  return %b
})"},
      {"custom_jvp_in_control_flow", R"(graph (%p: bool[], %x: f64[2], %xs: f64[3,2]) {
  %c = scan[carry=1, consts=1, length=3, reverse=false, unroll=1] %p %x %xs {
    (%0: bool[], %1: f64[2], %2: f64[2]) {
      %3 = cond %0 %1 %2 {
        (%0: f64[2], %1: f64[2]) {
          %2 = custom_jvp %0 {
            (%0: f64[2]) { %1 = exp %0  return %1 }
            (%0: f64[2], %1: f64[2]) { %2 = exp %0  %3 = mul %2 %1  return %2, %3 }
          }
          %3 = mul %2 %1
          return %3
        }
        (%0: f64[2], %1: f64[2]) { %2 = mul %0 %1  return %2 }
      }
      %4 = sin %3
      return %4
    }
  }
  return %c
})"},
      {"custom_root", R"(graph (%x: f64[3], %y: f64[3]) {
  %a, %n = custom_root %x %y {
    (%0: f64[3], %1: f64[3]) { %2 = sin %0  %3 = exp %1  %4 = div %2 %3  return %4, 2:i32[] }
    (%0: f64[3], %1: f64[3], %2: f64[3]) { %3 = exp %2  %4 = mul %0 %3  %5 = sin %1  %6 = sub %4 %5  return %6 }
    (%0: f64[3], %1: f64[3], %2: f64[3], %3: f64[3]) { %4 = exp %3  %5 = div %0 %4  return %5 }
  }
  %b = mul %a %x
  return %b, %n
})"},
      {"linear_solve", R"(graph (%x: f64[3], %y: f64[3], %z: f64[3]) {
  %m = sin %x
  %a, %b = linear_solve %m %y %z {
    (%0: f64[3], %1: f64[3], %2: f64[3]) {
      %3 = exp %0
      %4 = div %2 %3
      %5 = mul %4 %0
      %6 = sub %1 %5
      return %6, %4
    }
    (%0: f64[3], %1: f64[3], %2: f64[3]) {
      %3 = mul %0 %2
      %4 = add %1 %3
      %5 = exp %0
      %6 = mul %5 %2
      return %4, %6
    }
    (%0: f64[3], %1: f64[3], %2: f64[3]) {
      %3 = exp %0
      %4 = mul %3 %2
      %5 = mul %0 %1
      %6 = add %5 %4
      return %1, %6
    }
    (%0: f64[3], %1: f64[3], %2: f64[3]) {
      %3 = mul %0 %1
      %4 = sub %2 %3
      %5 = exp %0
      %6 = div %4 %5
      return %1, %6
    }
  }
  %c = mul %a %b
  return %c
})"},
      {"custom_root_in_control_flow", R"(graph (%p: bool[], %x: f64[2], %xs: f64[3,2]) {
  %c = scan[carry=1, consts=1, length=3, reverse=false, unroll=1] %p %x %xs {
    (%0: bool[], %1: f64[2], %2: f64[2]) {
      %3 = cond %0 %1 %2 {
        (%0: f64[2], %1: f64[2]) {
          %2 = custom_root %0 %1 {
            (%0: f64[2], %1: f64[2]) { %2 = sin %0  %3 = exp %1  %4 = div %2 %3  return %4 }
            (%0: f64[2], %1: f64[2], %2: f64[2]) { %3 = exp %2  %4 = mul %0 %3  %5 = sin %1  %6 = sub %4 %5  return %6 }
            (%0: f64[2], %1: f64[2], %2: f64[2], %3: f64[2]) {
              %4 = linear_solve %3 %0 {
                (%0: f64[2], %1: f64[2]) { %2 = exp %0  %3 = div %1 %2  return %3 }
                (%0: f64[2], %1: f64[2]) { %2 = exp %0  %3 = mul %1 %2  return %3 }
                (%0: f64[2], %1: f64[2]) { %2 = exp %0  %3 = mul %1 %2  return %3 }
                (%0: f64[2], %1: f64[2]) { %2 = exp %0  %3 = div %1 %2  return %3 }
              }
              return %4
            }
          }
          return %2
        }
        (%0: f64[2], %1: f64[2]) { %2 = mul %0 %1  return %2 }
      }
      %4 = cos %3
      return %4
    }
  }
  return %c
})"},
      {"stop_gradient_everywhere", R"(graph (%p: bool[], %x: f64[2], %xs: f64[3,2]) {
  %s = stop_gradient %x
  %c, %ys = scan[carry=1, consts=2, length=3, reverse=false, unroll=1] %p %s %x %xs {
    (%0: bool[], %1: f64[2], %2: f64[2], %3: f64[2]) {
      %4 = stop_gradient %3
      %5 = cond %0 %1 %2 %4 {
        (%0: f64[2], %1: f64[2], %2: f64[2]) { %3 = stop_gradient %1  %4 = mul %3 %2  %5 = mul %4 %1  return %5 }
        (%0: f64[2], %1: f64[2], %2: f64[2]) { %3 = mul %0 %1  return %3 }
      }
      %6 = add %5 %3
      return %6, %5
    }
  }
  return %c, %ys
})",
       true, false},
  };
  return programs;
}

}  // namespace calque::test
