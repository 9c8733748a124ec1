import { fileURLToPath } from 'node:url'

/** Absolute path of the catalogue, which has one folder for each adapter with its AGENT-CLI.md. */
export const catalogPath: string = fileURLToPath(new URL('../catalog', import.meta.url))
