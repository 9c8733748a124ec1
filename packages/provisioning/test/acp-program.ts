/** The source of an ACP agent, whose version its one option prints. Each of its sessions is opened, and no prompt is answered. */
export const acpProgram = (version: string): string => `#!/usr/bin/env node
const { createInterface } = require('node:readline')
if (process.argv.includes('--version')) {
  console.log('${version}')
  process.exit(0)
}
const results = {
  initialize: { protocolVersion: 1, agentInfo: { name: 'sample', version: '${version}' }, agentCapabilities: { loadSession: true } },
  'session/new': { sessionId: 's1', modes: { currentModeId: 'code', availableModes: [{ id: 'code', name: 'Code' }] } },
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return
  const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'no such method' } }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
})
`

/** A program that prints its version, and ends as soon as it is to speak. */
export const silentProgram = (version: string): string => `#!/usr/bin/env node
if (process.argv.includes('--version')) console.log('${version}')
process.exit(process.argv.includes('--version') ? 0 : 3)
`
