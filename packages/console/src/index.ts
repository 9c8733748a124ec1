import { fileURLToPath } from 'node:url'

/** The folder of the built console: `index.html`, and files below `assets` whose names have a digest of their content. */
export const consoleFolder: string = fileURLToPath(new URL('../app', import.meta.url))
