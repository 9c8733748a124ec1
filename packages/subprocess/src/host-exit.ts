import type { ProcessTree } from './process-tree.js'
import { sendSignal } from './termination.js'

/** Trees of this host's agents. One listener serves them all: Node warns at eleven. */
const trees = new Set<ProcessTree>()

/**
 * Kills the tree if the host ends by `process.exit` or an uncaught error without having ended it.
 * @returns a function that takes this back
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
