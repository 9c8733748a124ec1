// How much each bench does.
export const FULL = {
  /** Agents that are started, one after the other. */
  starts: 10,
  commandRounds: 21,
  prompts: 3_000,
  warmUp: 4_000,
  /** Updates of one streaming turn. */
  flood: 500_000,
  sessions: 50,
  /** Updates of each of them. */
  updates: 10_000,
  stored: 10_000,
  events: 1_000_000,
  manifestCount: 1_000,
  readMs: 4_000,
  subscriberCount: 500,
  fanOut: 2_000,
  /** Files of a folder, and how many of them a large change has. */
  treeFiles: 50_000,
  changedFiles: 2_000,
}

export const QUICK = {
  starts: 3,
  commandRounds: 7,
  prompts: 500,
  warmUp: 1_000,
  flood: 50_000,
  sessions: 10,
  updates: 2_000,
  stored: 1_000,
  events: 100_000,
  manifestCount: 200,
  readMs: 1_000,
  subscriberCount: 100,
  fanOut: 500,
  treeFiles: 5_000,
  changedFiles: 500,
}
