import { createClient } from '@agentproto/client'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { cli, folder, serve, start } from './cli-process.js'
import { terminal } from './terminal.js'

/** A gateway with sessions of the demo agent that ask, oldest first. */
async function asking(labels: readonly string[]) {
  const home = folder('inbox')
  const { url } = await serve(home)
  const client = createClient({ url, token: readFileSync(join(home, 'token'), 'utf8').trim() })
  for (const label of labels) {
    const { id } = await client.sessions.start({ adapter: 'demo', cwd: home, label, prompt: 'ask' })
    await expect.poll(async () => (await client.sessions.get(id)).pendingRequests, { timeout: 20_000 }).toBe(1)
  }
  return { home, client }
}

test('14.2.2 without a terminal, requests are printed whole with the commands that answer them, and these work', async () => {
  const { home, client } = await asking(['one', 'two'])
  const { stdout } = await cli(['requests'], { home })
  const answers = stdout.match(/agentproto sessions answer \S+ \S+ --allow/g) ?? []
  expect(answers).toHaveLength(2)
  expect(stdout.indexOf('one (demo')).toBeLessThan(stdout.indexOf('two (demo'))
  const { stdout: json } = await cli(['inbox', '--json'], { home })
  expect(JSON.parse(json)).toMatchObject({ requests: [{ state: 'pending' }, { state: 'pending' }] })
  for (const answer of answers) expect((await cli(answer.split(' ').slice(1), { home })).code).toBe(0)
  expect((await cli(['requests'], { home })).stdout).toBe('No request waits for you.\n')
  expect(await client.sessions.waiting()).toEqual({ requests: [] })
})

test('14.2.2 --watch --json has a document for each request, and for who answered it', async () => {
  const { home, client } = await asking(['one'])
  const watch = start(['requests', '--watch', '--json'], { home })
  const asked: unknown = JSON.parse(await watch.line(/"asked"/))
  expect(asked).toMatchObject({ type: 'asked', request: { state: 'pending' } })
  const [request] = (await client.sessions.waiting()).requests
  const gone = watch.line(/"gone"/)
  await client.sessions.answer(request?.sessionId ?? '', request?.requestId ?? '', { action: 'cancel' })
  expect(JSON.parse(await gone)).toMatchObject({
    type: 'gone',
    requestId: request?.requestId,
    by: { type: 'principal', name: 'owner' },
  })
})

test.each([
  [80, 24],
  [120, 40],
  [50, 20],
])(
  '14.2.2 at %i×%i a person answers what waits, sees what was answered elsewhere, and the command ends',
  async (columns, rows) => {
    needs('tmux')
    const { home, client } = await asking(['one', 'two'])
    const screen = terminal(['requests'], home, { columns, rows })
    // A narrow screen does not show all of it at once.
    const shown = await screen.shows(/\(1 of 2\)[\s\S]*\[y\] Allow once[\s\S]*(?:Press one key|seen its end)/)
    if (shown.includes('seen its end')) screen.press('NPage')
    await screen.shows(/Press one key/)
    screen.type('y')
    await screen.shows(/✓ one: .*you[\s\S]*two \(demo[\s\S]*\[y\] Allow once/)
    const { requests } = await client.sessions.waiting()
    const [request] = requests
    await client.sessions.answer(request?.sessionId ?? '', request?.requestId ?? '', { action: 'cancel' })
    const last = await screen.shows(/✓ two: .*answered by owner[\s\S]*No request waits for you\.[\s\S]*exit code 0/)
    expect(last.split('\n').every((row) => row.length <= columns)).toBe(true)
  },
)

test('14.2.3 notify test says what is missing, and status what is notified', async () => {
  const home = folder('notify')
  await cli(['config', 'set', 'notify.command', '["true"]'], { home })
  await serve(home)
  expect(await cli(['notify', 'test'], { home })).toMatchObject({ code: 0, stdout: 'command true: delivered\n' })
  expect((await cli(['notify', 'status'], { home })).stdout).toContain('command true: 0 delivered')
  expect((await cli(['status'], { home })).stdout).toContain('command true: 0 delivered')
  const other = folder('notify')
  await serve(other)
  const refused = await cli(['notify', 'test'], { home: other })
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('agentproto config set notify.webhook.url'),
  })
})
