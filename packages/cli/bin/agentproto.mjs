#!/usr/bin/env node
// Plain JavaScript that every Node parses, so that an old one is told what to do instead of failing on syntax.
import { existsSync } from 'node:fs'
import module from 'node:module'

const [major, minor] = process.versions.node.split('.').map(Number)
const entry = new URL('../dist/main.js', import.meta.url)
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`agentproto needs Node 20.19 or later; this is ${process.version}.\n`)
  process.exitCode = 1
} else if (!existsSync(entry)) {
  process.stderr.write('agentproto is not built; run: npx -y pnpm@12.21.0 build\n')
  process.exitCode = 1
} else {
  // From Node 22.1 on: the next start reads compiled code from a cache.
  module.enableCompileCache?.()
  await import(entry.href)
}
