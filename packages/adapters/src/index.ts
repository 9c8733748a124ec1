// The catalogue of adapters. This file is the package's contract: every export is named here.
import { fileURLToPath } from 'node:url'

/** Absolute path of the folder that holds one folder an adapter, each with its AGENT-CLI.md. */
export const catalogPath: string = fileURLToPath(new URL('../catalog', import.meta.url))
