import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

test('a gateway logs its own life and that of its sessions; one in memory logs nothing', async () => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home, log: { level: 'debug' } })
  const owner = { type: 'owner', name: 'owner' } as const
  await gateway.listen({ port: 0 })
  const { id } = await gateway.sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'hi' }, owner)
  await gateway.sessions.waitTurn(id, 1)
  await gateway.sessions.kill(id, owner)
  await gateway.close()
  const text = await readFile(join(home, 'logs', 'gateway.jsonl'), 'utf8')
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines.map(({ msg, status }) => status ?? msg)).toEqual([
    'listening',
    'starting',
    'running',
    'turn ended',
    'killed',
    'session stopped',
    'closed',
  ])
  expect(lines.find(({ msg }) => msg === 'session stopped')).toMatchObject({
    sessionId: id,
    stopReason: 'user_canceled',
  })
  const memory = await testGateway({ home: await temporaryHome(), store: 'memory' })
  await memory.close()
  await expect(readdir(join(memory.home, 'logs'))).rejects.toThrow('ENOENT')
})

test('F75 a flood of problems is logged a few times and counted; the audit log has each attempt', async () => {
  const home = await temporaryHome()
  const problems: string[] = []
  const gateway = await testGateway({
    home,
    log: { maxBytes: 4_096, files: 2 },
    hooks: { beforePrompt: () => Promise.reject(new Error('x'.repeat(500))) },
    onProblem: (problem) => problems.push(problem),
  })
  const owner = { type: 'owner', name: 'owner' } as const
  const { id } = await gateway.sessions.spawn({ adapter: 'demo', cwd: home }, owner)
  for (let at = 0; at < 300; at++)
    await expect(gateway.sessions.prompt(id, { prompt: 'x' }, owner)).rejects.toMatchObject({ code: 'hook_stopped' })
  await gateway.close()
  expect(problems).toHaveLength(300)
  const texts = await Promise.all(
    ['gateway.jsonl.1', 'gateway.jsonl'].map((name) => readFile(join(home, 'logs', name), 'utf8')),
  )
  // A file is full with the line that reaches the limit.
  for (const text of texts) expect(text.length).toBeLessThan(4_096 + 1_024)
  // Twenty in a minute; a machine may be slow.
  expect(texts.join('').match(/"msg":"problem"/g)?.length).toBeLessThan(100)
  expect(texts.at(-1)).toMatch(/"msg":"closed"[^\n]*\n$/)
  const audit = await readFile(join(home, 'logs', 'audit.jsonl'), 'utf8')
  expect(audit.match(/"action":"prompt"[^\n]*"outcome":"hook_stopped"/g)).toHaveLength(300)
  expect((await readdir(join(home, 'logs'))).toSorted()).toEqual(['audit.jsonl', 'gateway.jsonl', 'gateway.jsonl.1'])
})
