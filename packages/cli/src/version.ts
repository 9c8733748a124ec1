import { createRequire } from 'node:module'

/** The version in the package's own package.json: beside `src` and beside the bundle's `dist` alike. */
export const version = (): string =>
  (createRequire(import.meta.url)('../package.json') as { readonly version: string }).version
