/** What a keeper holds at most. */
export const DEFAULT_BOUNDS = {
  /** Of an agent's streams in memory. */
  memoryBytes: 8 << 20,
  /** Of an agent's streams in files. */
  fileBytes: 1 << 30,
  /** Accepted for an agent's stdin and not yet read by it; one larger write is accepted if nothing waits. */
  queueBytes: 8 << 20,
  agents: 1024,
  /** Markers of a guard. */
  guarded: 4096,
  connections: 64,
  /** From SIGTERM to SIGKILL, where the keeper itself ends an agent. */
  termGraceMs: 5_000,
  /** From a connection to its `hello`. */
  helloMs: 5_000,
  /** From the start to the first gateway. */
  startMs: 10_000,
  /** From the last gateway's going to the end, if nothing is held. */
  emptyMs: 500,
} as const
export type Bounds = { readonly [Name in keyof typeof DEFAULT_BOUNDS]: number }

/** What is given in JSON, with the defaults; a bound that is no positive number is ignored. */
export function optionsFrom(text: string): { readonly bounds: Bounds; readonly build: string } {
  const given: Record<string, unknown> = { ...JSON.parse(text) }
  const isBound = ([, value]: [string, unknown]): boolean => typeof value === 'number' && value > 0
  return {
    bounds: { ...DEFAULT_BOUNDS, ...Object.fromEntries(Object.entries(given).filter(isBound)) },
    build: typeof given['build'] === 'string' ? given['build'] : '',
  }
}
