import { readFileSync } from 'node:fs'

/** The version in the package's own package.json: beside `src` and beside the bundle's `dist` alike. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return (manifest as { version: string }).version
}
