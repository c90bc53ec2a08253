// What this machine can do, measured in this process on one thread, each the best of several tries. Each probe notes
// its figure for the report.
#pragma once

namespace bench {

/// Bytes per second from memory far beyond the last cache: the better of reading one stream and of a triad with
/// streaming stores.
double memory_bandwidth();

/// Bytes per second, read and written, of a copy between two buffers of 256 KiB, which lie in the second-level cache.
double l2_bandwidth();

/// Floating-point operations per second of independent fused multiply-adds (two operations a lane).
double fma_peak_f32();
double fma_peak_f64();

/// Floating-point operations per second of the machine's products of pairs of bf16 that add to f32; 0 where it has
/// none.
double dot_peak_bf16();

/// Cycles per second, from integer additions that depend on each other.
double clock_rate();

/// Seconds from an f64 operand to the result of a multiplication and an addition that depend on each other, halved: the
/// latency of one operation in a chain.
double chain_latency_f64();

/// The same for one f64 fused multiply-add, through its addend or a factor; for a multiplication and an addition where
/// the machine has none.
double fma_latency_f64();

}  // namespace bench
