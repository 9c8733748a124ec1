import type { ProcessTree } from './process-tree.js'
import { sendSignal } from './termination.js'

/** Trees of this host's agents. They share one listener: Node warns at eleven. */
const trees = new Set<ProcessTree>()

/**
 * Kills the tree if the host exits by `process.exit` or an uncaught error before it has ended the tree.
 * @returns a function that undoes this
 */
export function endWithHost(tree: ProcessTree): () => void {
  if (trees.size === 0) process.on('exit', killAll)
  trees.add(tree)
  return () => {
    trees.delete(tree)
    if (trees.size === 0) process.off('exit', killAll)
  }
}

function killAll(): void {
  for (const tree of trees) for (const { pid } of tree.collect()) sendSignal(pid, 'SIGKILL')
}
