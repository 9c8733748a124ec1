export declare function chained(chain: string, line: string): string
/** Adds one SSE message to what a reader has read. */
export declare function note(
  follower: { last: number; chain: string; faults: string[]; digests: Map<number, string>; id: string },
  message: string,
): void
