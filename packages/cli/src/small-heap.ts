import { setFlagsFromString } from 'node:v8'

/**
 * Keeps the heap of a gateway near what it holds: call it before anything large is loaded. V8 by default lets a heap
 * grow to several times its live size before it collects, which suits a program that ends; a gateway stays
 * (docs/decisions/small-heap.md has the figures). A V8 that no longer knows a flag says so on stderr and goes on.
 */
export function keepHeapSmall(): void {
  // The young generation stays at its first size.
  setFlagsFromString('--semi-space-growth-factor=1')
  // The old one is collected when it has doubled.
  setFlagsFromString('--heap-growing-percent=100')
  // What a start runs, it runs once; the optimising compiler would stay in memory for it.
  setFlagsFromString('--no-opt')
}

/** The start is over: what runs often from now on is worth its compiler. */
export function allowOptimising(): void {
  setFlagsFromString('--opt')
}
