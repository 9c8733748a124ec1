// Lets the command line at /srv/agentproto write a home at /srv/home: a workspace, tokens, sessions with turns, a permission, a
// changed file, a budget and a pending request. What a commit does not know yet is left out. What must be found again is written to
// /srv/expected.json.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

execFileSync('git', ['init', '-q'], { cwd: '/srv/work' })
writeFileSync('/srv/work/readme.txt', 'at first\n')
execFileSync('git', ['add', '-A'], { cwd: '/srv/work' })
execFileSync('git', ['commit', '-qm', 'first'], { cwd: '/srv/work' })

const gateway = spawn(process.execPath, ['/srv/agentproto/bin/agentproto.mjs', 'serve', '--port', '0'], {
  cwd: '/srv/work',
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [url] = await once(createInterface(gateway.stdout), 'line')
const owner = readFileSync('/srv/home/token', 'utf8').trim()

async function call(method, path, body) {
  const headers = { authorization: `Bearer ${owner}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const answer = await response.json()
  if (response.ok) return answer
  throw Object.assign(new Error(`${method} ${path}: ${JSON.stringify(answer)}`), { status: response.status })
}

/** Undefined for what this commit does not know. */
async function tryCall(method, path, body) {
  try {
    return await call(method, path, body)
  } catch (error) {
    if (error.status !== 404 && error.status !== 400 && error.status !== 405) throw error
    return undefined
  }
}

async function start(label, budget) {
  const body = { adapter: 'demo', workspaceSlug: 'work', label }
  const budgeted = budget && (await tryCall('POST', '/sessions/agent', { ...body, budget }))
  return (budgeted ?? (await call('POST', '/sessions/agent', body))).id
}

const prompt = (id, text) => call('POST', `/sessions/${id}/prompt`, { prompt: text, wait: true })

async function pendingRequest(id) {
  for (;;) {
    const { requests } = await call('GET', `/sessions/${id}/requests`)
    const pending = requests.find(
      ({ resolved, outcome, state, status }) => !resolved && !outcome && (state ?? status ?? 'pending') === 'pending',
    )
    if (pending) return pending.requestId
    await delay(20)
  }
}

async function eventsOf(id) {
  const all = []
  for (;;) {
    const { events, nextAfter } = await call('GET', `/sessions/${id}/events?after=${all.at(-1)?.seq ?? 0}&limit=1000`)
    if (events.length === 0) return all
    all.push(...events)
    void nextAfter
  }
}

await call('POST', '/workspaces', { path: '/srv/work', slug: 'work', use: true })
const tokens = {}
for (const request of [
  { name: 'ci', scope: 'operate' },
  { name: 'bound', scope: 'read', workspaces: ['work'] },
]) {
  const created = await tryCall('POST', '/tokens', request)
  if (created) tokens[request.name] = created.token ?? created.value
}

const one = await start('one', { turns: 40 })
await prompt(one, 'write notes.txt of the first turn')
await call('POST', `/sessions/${one}/prompt`, { prompt: 'ask asked.txt with a permission' })
await call('POST', `/sessions/${one}/requests/${await pendingRequest(one)}`, { optionId: 'allow' })
while ((await call('GET', `/sessions/${one}`)).turn.state !== 'idle') await delay(20)
await prompt(one, 'think; usage 0.25 100')

const two = await start('two')
await prompt(two, 'plan')
const three = await start('three')
await prompt(three, 'stream 20')
await call('POST', `/sessions/${three}/kill`)
await call('POST', `/sessions/${two}/prompt`, { prompt: 'ask later.txt never answered' })
const pending = await pendingRequest(two)

const sessions = []
for (const id of [one, two, three]) {
  const { label, turnCount } = await call('GET', `/sessions/${id}`)
  sessions.push({ id, label, turnCount, events: (await eventsOf(id)).map(({ seq, type }) => `${seq} ${type}`) })
}
gateway.kill('SIGTERM')
const [code, signal] = await once(gateway, 'exit')
if (code !== 0) throw new Error(`The gateway ended with ${code ?? signal}`)
writeFileSync('/srv/expected.json', `${JSON.stringify({ owner, tokens, pending, sessions }, undefined, 1)}\n`)
