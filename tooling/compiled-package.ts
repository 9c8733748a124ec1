import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Compiles a package where that is missing or old, for a test that runs its code in a process of its own. */
export function compilePackage(folder: string): void {
  const built = statSync(join(folder, 'dist', '.tsbuildinfo'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
  if (sources.every((file) => statSync(join(folder, 'src', file)).mtimeMs <= built)) return
  const tsc = createRequire(import.meta.url).resolve('typescript/package.json')
  execFileSync(process.execPath, [join(tsc, '..', 'bin', 'tsc'), '-b', folder], { stdio: 'inherit' })
}
