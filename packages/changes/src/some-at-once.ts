/** Enough for the file system to have work, few enough for memory. */
const AT_ONCE = 16

/** Runs for each item, begun in their order, some at once. The first failure rejects, after those that had begun. */
export async function someAtOnce<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const item = items[next++]
      if (item !== undefined) await run(item)
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}
