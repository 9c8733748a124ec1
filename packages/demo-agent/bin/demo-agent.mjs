#!/usr/bin/env node
// Plain JavaScript that every Node parses, so that an old Node prints what to do instead of a syntax error.
import { existsSync } from 'node:fs'

const [major, minor] = process.versions.node.split('.').map(Number)
const entry = new URL('../dist/demo-agent.js', import.meta.url)
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`agentproto-demo-agent needs Node 20.19 or later; this is ${process.version}.\n`)
  process.exitCode = 1
} else if (!existsSync(entry)) {
  process.stderr.write('agentproto-demo-agent is not built; run: npx -y pnpm@12.21.0 build\n')
  process.exitCode = 1
} else {
  await import(entry.href)
}
