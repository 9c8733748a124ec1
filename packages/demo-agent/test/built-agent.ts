import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { demoAgentPath } from '@agentproto/demo-agent'

const PACKAGE = join(demoAgentPath, '..', '..')

/** Path of the executable, which runs compiled code: it is compiled first where that is missing or old. */
export function builtDemoAgent(): string {
  if (compiledAt() < newestSource()) {
    const tsc = createRequire(join(PACKAGE, '..', '..', 'package.json')).resolve('typescript/package.json')
    execFileSync(process.execPath, [join(tsc, '..', 'bin', 'tsc'), '-b', PACKAGE], { stdio: 'inherit' })
  }
  return demoAgentPath
}

function newestSource(): number {
  const files = readdirSync(join(PACKAGE, 'src'), { recursive: true, encoding: 'utf8' })
  return Math.max(...files.map((file) => statSync(join(PACKAGE, 'src', file)).mtimeMs))
}

const compiledAt = (): number =>
  statSync(join(PACKAGE, 'dist', '.tsbuildinfo'), { throwIfNoEntry: false })?.mtimeMs ?? 0
