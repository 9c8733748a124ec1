/** The package's contract: where the demo agent's executable is. */
import { fileURLToPath } from 'node:url'

/** Absolute path of the script to run under Node; it speaks ACP on stdin and stdout. */
export const demoAgentPath: string = fileURLToPath(new URL('../bin/demo-agent.mjs', import.meta.url))
