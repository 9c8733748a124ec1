import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, folder, serve, type Ended, type Started } from './cli-process.js'

interface Ground {
  readonly home: string
  readonly id: string
  readonly gateway: Started
  run(...args: string[]): Promise<Ended>
}

/** A gateway with an ended session, which answered `heron` in its only turn. */
async function endedSession(): Promise<Ground> {
  const home = folder()
  const gateway = await serve(home)
  const run = (...args: string[]): Promise<Ended> => cli(args, { home })
  await run('sessions', 'start', 'demo', '--label', 'bird', '--cwd', home)
  await run('sessions', 'prompt', 'bird', 'heron', '--wait')
  const { id } = JSON.parse((await run('sessions', 'show', 'bird', '--json')).stdout) as { id: string }
  expect(await run('sessions', 'kill', 'bird')).toMatchObject({ code: 0 })
  return { home, id, gateway, run }
}

test('search finds prompts and answers, and exits with 4 when nothing is found', async () => {
  const { id, run } = await endedSession()
  const found = await run('sessions', 'search', 'HERON', '--json')
  expect(found.code).toBe(0)
  const { hits } = JSON.parse(found.stdout) as { hits: { sessionId: string; turn: number; excerpt: string }[] }
  expect(hits.length).toBeGreaterThan(0)
  for (const hit of hits)
    expect(hit).toMatchObject({ sessionId: id, turn: 1, excerpt: expect.stringContaining('heron') })
  expect(await run('sessions', 'search', 'pelican')).toMatchObject({ code: 4, stdout: '' })
})

test('a session is exported, removed, and imported with its events; a second import gets a new id', async () => {
  const { home, id, run } = await endedSession()
  const events = async (): Promise<string> => (await run('sessions', 'events', id, '--json')).stdout
  const before = await events()
  const file = join(home, 'bird.jsonl')
  expect(await run('sessions', 'export', id, '-o', file)).toMatchObject({ code: 0, stdout: '' })
  const exported = readFileSync(file, 'utf8')
  const again = (await run('sessions', 'export', id)).stdout
  // The first line has the time of the export.
  expect(again.split('\n').slice(1)).toEqual(exported.split('\n').slice(1))
  // An existing file is not overwritten.
  expect(await run('sessions', 'export', id, '-o', file)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('--force'),
  })
  expect(readFileSync(file, 'utf8')).toBe(exported)
  expect(await run('sessions', 'export', id, '-o', file, '--force')).toMatchObject({ code: 0 })
  expect(await run('sessions', 'export', id, '-o', join(home, 'none', 'x'))).toMatchObject({ code: 2, stdout: '' })
  expect((await run('sessions', 'export', id, '--format', 'md')).stdout).toContain('heron')
  expect(await run('sessions', 'prune', '--older-than', '1d')).toMatchObject({ code: 0, stdout: '' })
  expect(await run('sessions', 'prune', '--older-than', '0s', '--dry-run')).toMatchObject({
    code: 0,
    stdout: `${id}\n`,
  })
  expect(await run('sessions', 'prune', '--older-than', '0s')).toMatchObject({ code: 0, stdout: `${id}\n` })
  expect(await run('sessions', 'show', id)).toMatchObject({ stdout: '', code: 4 })
  expect(await run('sessions', 'import', file)).toMatchObject({ code: 0, stdout: `${id}\n` })
  expect(await events()).toBe(before)
  const twin = await run('sessions', 'import', file)
  expect(twin).toMatchObject({ code: 0, stdout: expect.not.stringContaining(id), stderr: expect.stringContaining(id) })
  writeFileSync(file, 'no export')
  expect(await run('sessions', 'import', file)).toMatchObject({ code: 2, stdout: '' })
})

test('wait finds the last turn of a session with more than a thousand', async () => {
  const { home, id, run } = await endedSession()
  const [head = '', ...lines] = (await run('sessions', 'export', id)).stdout.trim().split('\n')
  type Logged = { readonly type: string; readonly turn?: number; readonly text?: string }
  const events = lines.map((line) => JSON.parse(line) as Logged)
  const end = events.findIndex(({ type }) => type === 'turn-end') + 1
  const turn = events.slice(0, end).filter((event) => event.turn === 1)
  const more = Array.from({ length: 1_100 }, (_, n) => turn.map((event): Logged => ({ ...event, turn: n + 2 }))).flat()
  more.splice(-1, 0, { ...more[0], type: 'text-delta', text: ' the last one', turn: 1_101 })
  const all = [...events.slice(0, end), ...more, ...events.slice(end)].map((event, n) => ({ ...event, seq: n + 1 }))
  const file = join(home, 'long.jsonl')
  writeFileSync(file, [head, ...all.map((event) => JSON.stringify(event))].join('\n'))
  const twin = (await run('sessions', 'import', file)).stdout.trim()
  expect((await run('sessions', 'wait', twin)).stdout).toContain('the last one')
  expect(await run('sessions', 'wait', twin, '--turn', '1100')).toMatchObject({ code: 0 })
  expect(await run('sessions', 'wait', twin, '--turn', '1102')).toMatchObject({ code: 4 })
})

test('repair reports a problem, repairs it, and then finds none', async () => {
  const { home, id, run } = await endedSession()
  expect(await run('sessions', 'repair', id)).toMatchObject({ code: 0, stdout: `${id} has no problems.\n` })
  appendFileSync(join(home, 'sessions', id, 'events.jsonl'), '{"seq":99,"ts":"20')
  const seen = await run('sessions', 'repair', id, '--dry-run')
  expect(seen).toMatchObject({ code: 1, stdout: expect.stringMatching(/^found +torn-tail/) })
  expect(await run('sessions', 'repair', id)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^repaired +torn-tail/),
  })
  expect(await run('sessions', 'repair', id)).toMatchObject({ code: 0, stdout: `${id} has no problems.\n` })
})

test('every command that reads a session reports events that cannot be read', async () => {
  const { home, id, gateway, run } = await endedSession()
  gateway.child.kill('SIGTERM')
  await gateway.ended
  const path = join(home, 'sessions', id, 'events.jsonl')
  const lines = readFileSync(path, 'utf8').split('\n')
  const answer = lines.findIndex((line) => line.includes('"text-delta"'))
  lines[answer] = '\0'.repeat(40)
  writeFileSync(path, lines.join('\n'))
  await serve(home)
  const gap = `event ${answer + 1} cannot be read any more`
  const found = await run('sessions', 'search', 'heron')
  // The prompt is found, the answer is not.
  expect(found).toMatchObject({ code: 0, stdout: expect.stringMatching(/user-prompt +heron\n$/) })
  expect(found.stderr).toContain(`an event of ${id} cannot be read`)
  const { unreadable } = JSON.parse((await run('sessions', 'search', 'pelican', '--json')).stdout) as object & {
    unreadable: unknown
  }
  expect(unreadable).toEqual([{ sessionId: id, events: 1 }])
  expect((await run('sessions', 'export', id)).stdout.split('\n')[answer + 1]).toBe(
    JSON.stringify({ type: 'gap', gap: { after: answer, first: answer + 2 } }),
  )
  expect((await run('sessions', 'export', id, '--format', 'md')).stdout).toContain(`\n[gap] ${gap}\n`)
  expect((await run('sessions', '--attach', id)).stdout).toMatch(/heron\n\[gap\] .*cannot be read any more\n/)
  expect((await run('sessions', 'events', id)).stderr).toContain('are lost')
  expect(await run('sessions', 'repair', id, '--dry-run')).toMatchObject({
    code: 1,
    stdout: `found     unreadable-events: 1 event(s) cannot be read any more: ${answer + 1}\n`,
  })
})
