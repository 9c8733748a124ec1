import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { cli, folder, serve, start, type Ended } from './cli-process.js'

async function gateway(): Promise<{
  readonly home: string
  readonly url: string
  run(...args: string[]): Promise<Ended>
  output(...args: string[]): Promise<string>
}> {
  const home = folder()
  const { url } = await serve(home)
  const run = (...args: string[]): Promise<Ended> => cli(args, { home })
  async function output(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(...args)
    if (code !== 0) throw new Error(`agentproto ${args.join(' ')} exited with ${code}: ${stderr}`)
    return stdout.trim()
  }
  return { home, url, run, output }
}

test('serve prints its address, other commands find it, and SIGTERM stops it', async () => {
  const home = folder()
  const served = await serve(home)
  const status = JSON.parse((await cli(['status', '--json'], { home })).stdout)
  expect(status).toMatchObject({ url: served.url, pid: served.child.pid, sessions: 0, live: 0 })
  served.child.kill('SIGTERM')
  expect(await served.ended).toMatchObject({ code: 0, stdout: `${served.url}\n` })
  expect(existsSync(join(home, 'daemon.json'))).toBe(false)
  expect(await cli(['status'], { home })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('agentproto serve'),
  })
})

test('F94 a second gateway for one home is refused with the address of the first', async () => {
  const home = folder()
  const { url, child } = await serve(home)
  const { code, stderr } = await cli(['serve', '--port', '0'], { home })
  expect(code).toBe(1)
  expect(stderr).toContain(`${url}, process ${child.pid}`)
})

test('AGENTPROTO_URL and AGENTPROTO_TOKEN override the home', async () => {
  const { home, url } = await gateway()
  const env = { AGENTPROTO_URL: url, AGENTPROTO_TOKEN: readFileSync(join(home, 'token'), 'utf8').trim() }
  expect(await cli(['sessions', '--json'], { home: folder(), env })).toMatchObject({ code: 0 })
  expect(await cli(['sessions'], { home: folder(), env: { ...env, AGENTPROTO_TOKEN: 'wrong' } })).toMatchObject({
    code: 5,
  })
})

test('the owner’s token goes to the gateway of its home, and to no other address', async () => {
  const { home, url } = await gateway()
  expect(await cli(['sessions'], { home, env: { AGENTPROTO_URL: `${url}/` } })).toMatchObject({ code: 0 })
  const given: unknown[] = []
  const other = createServer(({ headers }, response) => {
    given.push(headers.authorization)
    response.writeHead(401, { 'content-type': 'application/problem+json' }).end('{"code":"unauthorized"}')
  })
  onTestFinished(() => void other.close())
  await once(other.listen(0, '127.0.0.1'), 'listening')
  const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  expect(await cli(['sessions'], { home, env: { AGENTPROTO_URL: elsewhere } })).toMatchObject({ code: 5 })
  expect(given).toEqual([undefined])
})

test('a session is started, prompted, listed, shown, killed and removed', async () => {
  const { home, run, output } = await gateway()
  const id = await output('sessions', 'start', 'demo', '--label', 'try', '--cwd', home)
  expect(id).toMatch(/^s_/)
  expect(await run('sessions', 'prompt', 'try', 'remember blue', '--wait')).toMatchObject({
    code: 0,
    stdout: 'echo: remember blue\n',
  })
  expect(await output('sessions', 'prompt', id.slice(0, 6), 'recall', '--wait')).toContain('remember blue')
  expect(await output('sessions', 'prompt', 'try', 'hello')).toBe('3')
  const { sessions } = JSON.parse(await output('sessions', '--json'))
  expect(sessions).toMatchObject([{ id, label: 'try', adapterSlug: 'demo', status: 'running', cwd: home }])
  expect(await output('sessions')).toMatch(new RegExp(`^(idle|busy) +try .*demo.*${id.slice(0, 10)}`, 'm'))
  expect(await output('sessions', 'show', 'try')).toMatch(/^folder +\//m)
  expect(await output('sessions', 'kill', 'try', '--reason', 'loop_detected')).toBe(id)
  expect(JSON.parse(await output('sessions', 'show', id, '--json'))).toMatchObject({
    status: 'killed',
    stopReason: 'loop_detected',
  })
  expect(await output('sessions', '--alive', '--json')).toContain('[]')
  expect(await output('sessions', 'rm', 'try')).toBe(id)
  expect(await run('sessions', 'show', id)).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('agentproto sessions'),
  })
})

test('a prompt to a busy session is refused; after an interrupt it is accepted', async () => {
  const { home, run, output } = await gateway()
  await output('sessions', 'start', 'demo', '--label', 'busy', '--cwd', home, '--prompt', 'hang')
  expect(await run('sessions', 'prompt', 'busy', 'hi')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/turn/i),
  })
  expect(await run('sessions', 'interrupt', 'busy')).toMatchObject({ code: 0, stderr: 'The turn was interrupted.\n' })
  expect(await run('sessions', 'interrupt', 'busy')).toMatchObject({ code: 0, stderr: 'No turn was running.\n' })
  expect(await output('sessions', 'prompt', 'busy', 'hi', '--wait')).toBe('echo: hi')
})

test('another command answers a request of an agent', async () => {
  const { home, run, output } = await gateway()
  await output('sessions', 'start', 'demo', '--label', 'asks', '--cwd', home)
  const following = start(['sessions', 'events', 'asks', '-f', '--json'], { home })
  const asked = following.line(/"agent-prompt"/)
  await output('sessions', 'prompt', 'asks', 'ask a.txt hello')
  await asked
  expect(await run('sessions', 'answer', 'asks')).toMatchObject({ code: 2, stderr: expect.stringContaining('--allow') })
  expect(await output('sessions', 'show', 'asks')).toContain('Waits for an answer: Write a.txt')
  const ended = following.line(/"turn-end"/)
  expect(await run('sessions', 'answer', 'asks', '--allow')).toMatchObject({ code: 0, stdout: '' })
  await ended
  expect(readFileSync(join(home, 'a.txt'), 'utf8').trim()).toBe('hello')
  expect(await run('sessions', 'answer', 'asks', '--deny')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('No request is pending'),
  })
})

test('15.2 a denial says why, and the agent gets it', async () => {
  const { home, run, output } = await gateway()
  await output('sessions', 'start', 'demo', '--label', 'asks', '--cwd', home)
  const following = start(['sessions', 'events', 'asks', '-f', '--json'], { home })
  const asked = following.line(/"agent-prompt"/)
  await output('sessions', 'prompt', 'asks', 'ask a.txt hello')
  await asked
  const said = following.line(/Reason: use b.txt/)
  expect(await run('sessions', 'answer', 'asks', '--deny', '--reason', 'use b.txt')).toMatchObject({ code: 0 })
  await said
})

test('events prints the log after the given event', async () => {
  const { home, output } = await gateway()
  await output('sessions', 'start', 'demo', '--label', 'log', '--cwd', home)
  await output('sessions', 'prompt', 'log', 'stream 3', '--wait')
  const events = (await output('sessions', 'events', 'log', '--json')).split('\n').map((line) => JSON.parse(line))
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  const after = (await output('sessions', 'events', 'log', '--json', '--after', '2')).split('\n')
  expect(JSON.parse(after[0] ?? '')).toEqual(events[2])
  expect(await output('sessions', 'events', 'log')).toMatch(/^ +\d+ {2}[\d:.]+ {2}user-prompt +stream 3$/m)
})

test('events -f ends with the session', async () => {
  const { home, output } = await gateway()
  await output('sessions', 'start', 'demo', '--label', 'end', '--cwd', home)
  const following = start(['sessions', 'events', 'end', '-f'], { home })
  await following.line(/status/)
  await output('sessions', 'kill', 'end')
  expect(await following.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('session-stopped') })
})

test('attach in a pipe prints the transcript until the session ends', async () => {
  const { home, output } = await gateway()
  await output('sessions', 'start', 'demo', '--label', 'tail', '--cwd', home)
  await output('sessions', 'prompt', 'tail', 'write x.txt hi', '--wait')
  const attached = start(['sessions', '--attach', 'tail'], { home })
  await attached.line(/── turn 1 · end_turn/)
  await output('sessions', 'kill', 'tail')
  const { code, stdout } = await attached.ended
  expect(code).toBe(0)
  expect(stdout).toMatch(/^❯ write x\.txt hi\n● Write x\.txt/)
  expect(stdout).toMatch(/── session killed \(user_canceled\) ──\n$/)
})

test('a session starts in its workspace, and a fallback is reported', async () => {
  const { run, output } = await gateway()
  const shop = folder('shop')
  expect((await run('sessions', 'start', 'demo', '--label', 'lost')).stderr).toMatch(/workspace/)
  await output('workspace', 'add', shop, '--slug', 'shop', '--use')
  const session = JSON.parse(await output('sessions', 'start', 'demo', '--json'))
  expect(session).toMatchObject({ workspaceSlug: 'shop', cwd: shop })
  expect(await run('sessions', 'start', 'demo', '--workspace', 'nope')).toMatchObject({ code: 2 })
})

test('adapters list shows what is installed', async () => {
  const { output } = await gateway()
  expect(await output('adapters', 'list')).toMatch(/^demo +.* yes/m)
  expect(JSON.parse(await output('adapters', 'list', '--json')).adapters).toContainEqual(
    expect.objectContaining({ slug: 'demo', installed: true }),
  )
})
