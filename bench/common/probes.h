// Limits of this machine, measured in this process on one thread, each the best of several runs. Each probe records its
// figure for the report.
#pragma once

namespace bench {

/// Bytes per second from memory far beyond the last cache: the better of reading one stream and of a triad with
/// non-temporal stores.
double memory_bandwidth();

/// Bytes per second, read and written, of a copy between two buffers of 256 KiB, which fit in the L2 cache.
double l2_bandwidth();

/// Floating-point operations per second of independent fused multiply-adds (two operations per lane).
double fma_peak_f32();
double fma_peak_f64();

/// Floating-point operations per second of bf16 dot-product instructions with f32 accumulators; 0 without these.
double dot_peak_bf16();

/// Cycles per second, from integer additions that depend on each other.
double clock_rate();

/// Seconds from an f64 operand to the result of a multiplication and an addition that depend on each other, halved: the
/// latency of one operation in a chain.
double chain_latency_f64();

/// The same for one f64 fused multiply-add, through its addend or a factor; for a multiplication and an addition if
/// the machine has no FMA.
double fma_latency_f64();

}  // namespace bench
