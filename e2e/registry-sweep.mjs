// Adds agents of a registry by their names, one after the other, and prints what became of each:
//   node e2e/registry-sweep.mjs [--registry URL|FILE] [--limit SECONDS] [id[@version]…]
// Without ids, all that npm can install. The registry is the public one; a file is served on loopback. Downloads gigabytes.
// Exit code 1 means that something was left, or failed other than by the agent's own doing.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { sweepEntry } from './support/sweep-entry.mjs'

const PUBLIC = 'https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json'
const COLUMNS = {
  id: ({ id }) => id,
  'asked → got': ({ asked, version }) => (version === undefined || version === asked ? asked : `${asked} → ${version}`),
  MB: ({ mb }) => mb ?? '',
  'handshake ms': ({ observed }) => observed?.handshakeMs ?? '',
  session: ({ observed }) => sessionOf(observed?.session),
  'ends by': ({ observed }) => (observed === undefined ? '' : `${observed.ends}, ${observed.endMs} ms`),
  noise: ({ observed }) => observed?.stdoutNoise.lines ?? '',
  leaves: ({ observed }) => leavesOf(observed?.leaves),
  result: ({ result, error }) => (error === undefined ? result : `${result}: ${error.code}`),
}

const { values, positionals } = parseArgs({
  options: { registry: { type: 'string', default: PUBLIC }, limit: { type: 'string', default: '900' } },
  allowPositionals: true,
})

const { url, document, close } = await openRegistry(values.registry)
const results = []
try {
  printRow(Object.keys(COLUMNS))
  printRow(Object.keys(COLUMNS).map(() => '---'))
  for (const entry of entriesOf(JSON.parse(document), positionals)) {
    const row = await rowOf(entry)
    printRow(Object.values(COLUMNS).map((cell) => cell(row)))
    results.push(row.result)
  }
} finally {
  close()
}
process.exitCode = results.some((result) => ['failed', 'leaves something'].includes(result)) ? 1 : 0

async function openRegistry(address) {
  if (/^https?:/.test(address)) {
    const response = await fetch(address)
    return { url: address, document: await response.text(), close: () => {} }
  }
  const text = readFileSync(address, 'utf8')
  const server = createServer((_request, response) => response.end(text))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${server.address().port}/registry.json`, document: text, close: () => server.close() }
}

function entriesOf({ agents }, names) {
  if (names.length === 0) return agents.filter(({ distribution }) => distribution.npx !== undefined)
  return names.map((name) => {
    const [id, wanted] = name.split('@')
    const entry = agents.find((each) => each.id === id) ?? { id, version: '?', distribution: {} }
    return { ...entry, wanted }
  })
}

async function rowOf({ id, version, wanted, distribution }) {
  const limit = { timeoutMs: Number(values.limit) * 1_000 }
  const found = await sweepEntry({ id, registry: url, ...limit, ...(wanted === undefined ? {} : { version: wanted }) })
  const asked = wanted ?? distribution.npx?.package.replace(/^.+@(?=[^@/]*$)/, '') ?? version
  const { result, error, left } = found
  process.stderr.write(`${id}: ${result}${error === undefined ? '' : ` (${error.message})`}\n`)
  for (const each of left) process.stderr.write(`  left: ${each}\n`)
  return { ...found, asked }
}

function sessionOf(session) {
  if (session === undefined) return ''
  return session === 'opened' ? 'opened' : String(session.refused.agentCode ?? session.refused.code)
}

function leavesOf(leaves) {
  if (leaves === undefined) return ''
  const { processes, files, bytes } = leaves
  return [...processes, ...(files === 0 ? [] : [`${files} files, ${Math.ceil(bytes / 1024)} KiB`])].join('; ')
}

function printRow(cells) {
  console.log(`| ${cells.join(' | ')} |`)
}
