import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { systemClock } from '@agentproto/contracts'
import { createSandboxes } from '@agentproto/sandbox'
import type { ConfinedLaunch, HeldSandbox, PreparedLaunch, SandboxProvider } from '@agentproto/sandbox'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../tooling/needs.js'
import { folder, profileOf, requestOf } from './confining.ts'

const WORKSPACE = { source: 'workspace', at: '/workspace', mode: 'read-write' } as const
const TEXT = { source: { inline: 'rules' }, at: '/tmp/rules', mode: 'read-only' } as const
/** Asks for each line, which is a URL, by the proxy of its environment. */
const ASKING = `
  import { request } from 'node:http'
  import { createInterface } from 'node:readline'
  const { hostname, port } = new URL(process.env.HTTP_PROXY)
  for await (const url of createInterface({ input: process.stdin })) {
    const answer = await new Promise((resolve) => {
      const asked = request({ hostname, port, path: url, agent: false }, (response) => resolve(response.resume().statusCode))
      asked.on('error', () => resolve('cut')).end()
    })
    console.log(String(answer))
  }`

interface Asking {
  readonly listed: string
  readonly other: string
  readonly parent: string
  readonly confined: ConfinedLaunch
  /** What a request of the confined program is answered with. */
  readonly ask: (url: string) => Promise<string>
}

/** A confined program that may reach one of two servers. */
async function asking(): Promise<Asking> {
  const [listed, other] = [await httpServer(), await httpServer()]
  const parent = join(folder(), 'x'.repeat(120))
  const network = { egress: [listed.slice('http://'.length, -1)], ingress: [] }
  const request = requestOf(folder(), [process.execPath, '--input-type=module', '-e', ASKING], { folder: parent })
  const confined = await createSandboxes().confine(profileOf({ mounts: [WORKSPACE, TEXT], network }), request)
  onTestFinished(() => confined.release())
  expect(confined).toMatchObject({ sandbox: { enforced: true }, endsWithHost: undefined, warnings: [] })
  const { command, args, cwd, env } = confined.launch
  const child = spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await closed
  })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (url: string): Promise<string> => {
    child.stdin.write(`${url}\n`)
    return String((await answers.next()).value)
  }
  return { listed, other, parent, confined, ask }
}

/** As a later host: nothing of the earlier one but its facts, which were stored as JSON. */
async function heldAgain({ confined, parent }: Pick<Asking, 'confined' | 'parent'>): Promise<HeldSandbox> {
  const facts = JSON.parse(JSON.stringify(confined.kept?.facts)) as Record<string, unknown>
  const held = await createSandboxes().holdAgain(facts, { folder: parent, ...waiting() })
  onTestFinished(() => held.leave())
  return held
}

const waiting = () => ({ clock: systemClock, signal: new AbortController().signal })

test('16.3 the network of a confined agent is the same with the next host', needs('linux', 'bwrap'), async () => {
  const { listed, other, parent, confined, ask } = await asking()
  expect([await ask(listed), await ask(other)]).toEqual(['200', '403'])
  await confined.kept?.leave()
  // The request waits until a host is there.
  const waitingAsk = ask(listed)
  const held = await heldAgain({ confined, parent })
  expect(held.warnings).toEqual([])
  expect(await waitingAsk).toBe('200')
  expect([await ask(listed), await ask(other), await ask('http://localhost/')]).toEqual(['200', '403', '403'])
  // The first host is late with its end.
  await confined.release()
  expect(await ask(listed)).toBe('200')
  await held.release()
  expect(existsSync(parent)).toBe(false)
})

test('16.3 a host that is killed leaves a socket, which the next one replaces', needs('linux', 'bwrap'), async () => {
  const { listed, other, parent, confined, ask } = await asking()
  // The first host listens on: it is frozen, not gone.
  const second = await heldAgain({ confined, parent })
  expect(await ask(listed)).toBe('200')
  await second.leave()
  const third = await heldAgain({ confined, parent })
  expect([await ask(listed), await ask(other)]).toEqual(['200', '403'])
  await third.release()
  expect(existsSync(parent)).toBe(false)
})

test(
  '16.3 where the proxy cannot be opened again, the agent has no network, and the session a warning',
  needs('linux', 'bwrap'),
  async () => {
    const cases: readonly ((egress: string) => void)[] = [
      (egress) => rmSync(egress, { recursive: true }),
      (egress) => (renameSync(egress, `${egress}-real`), symlinkSync(`${egress}-real`, egress)),
      (egress) => (rmSync(join(egress, 'proxy')), mkdirSync(join(egress, 'proxy/full'), { recursive: true })),
    ]
    const answers: Promise<string>[] = []
    for (const damage of cases) {
      const { listed, other, parent, confined, ask } = await asking()
      expect(await ask(other)).toBe('403')
      await confined.kept?.leave()
      damage(join(parent, readdirSync(parent)[0] ?? '', 'egress'))
      const { warnings } = await heldAgain({ confined, parent })
      expect(warnings).toEqual([
        expect.stringMatching(/^The agent has no network: its proxy cannot be opened again: E/),
      ])
      answers.push(ask(listed))
    }
    // The agent waits for a while in vain.
    expect(await Promise.all(answers)).toEqual(cases.map(() => 'cut'))
  },
)

test('16.3 what a link in place of the socket names is left as it is', needs('linux', 'bwrap'), async () => {
  const { listed, parent, confined, ask } = await asking()
  expect(await ask(listed)).toBe('200')
  await confined.kept?.leave()
  const [target, socket] = [join(folder(), 'target'), join(parent, readdirSync(parent)[0] ?? '', 'egress/proxy')]
  writeFileSync(target, 'as it was')
  rmSync(socket)
  symlinkSync(target, socket)
  expect((await heldAgain({ confined, parent })).warnings).toEqual([])
  expect(await ask(listed)).toBe('200')
  expect(existsSync(target)).toBe(true)
})

test('16.3 facts that no host has written hold nothing', async () => {
  const egress = { list: ['a.test'], ownNames: [] }
  const forged: readonly Record<string, unknown>[] = [
    {},
    { scratch: '../launch-abcdef' },
    { scratch: 'launch-../../' },
    { scratch: 7 },
    { scratch: 'launch-abcdef', egress: 'all' },
    { scratch: 'launch-abcdef', egress: { ...egress, list: [7] } },
    { scratch: 'launch-abcdef', egress: { list: ['a.test'] } },
  ]
  for (const facts of forged) {
    const holding = createSandboxes().holdAgain({ provider: 'local', facts }, { folder: folder(), ...waiting() })
    await expect(holding).rejects.toMatchObject({ code: 'sandbox_unavailable' })
  }
  for (const provider of ['absent', '__proto__', undefined]) {
    const holding = createSandboxes().holdAgain({ provider, facts: {} }, { folder: folder(), ...waiting() })
    await expect(holding).rejects.toMatchObject({ code: 'sandbox_unavailable' })
  }
})

test('16.3 a registered provider outlives its host only where it says how', async () => {
  const release = async (): Promise<void> => {}
  const facts: unknown[] = []
  const prepared =
    (more: Partial<PreparedLaunch>): SandboxProvider['prepare'] =>
    (_, { launch }) =>
      Promise.resolve({ launch, enforced: true, warnings: [], ...more })
  const kept = { facts: { lease: 7 }, leave: release }
  const holdAgain: SandboxProvider['holdAgain'] = async (given) => {
    facts.push(given)
    return { warnings: ['slower'], release, leave: release }
  }
  const sandboxes = createSandboxes({
    providers: {
      again: { prepare: prepared({ release, kept }), holdAgain },
      once: { prepare: prepared({ release, kept }) },
      held: { prepare: prepared({ release }), holdAgain },
      free: { prepare: prepared({}) },
    },
  })
  const confine = (provider: string) => sandboxes.confine(profileOf({ provider }), requestOf('/tmp', ['/bin/true']))
  expect(await confine('again')).toMatchObject({ endsWithHost: undefined, kept: { facts: { provider: 'again' } } })
  for (const name of ['once', 'held']) {
    const confined = await confine(name)
    expect(confined.endsWithHost).toBe(`its sandbox (${name}) is held by the gateway`)
    expect(confined.kept).toBeUndefined()
  }
  expect((await confine('free')).endsWithHost).toBeUndefined()
  const again = (await confine('again')).kept?.facts ?? {}
  expect((await sandboxes.holdAgain(again, waiting())).warnings).toEqual(['slower'])
  expect(facts).toEqual([{ lease: 7 }])
  await expect(sandboxes.holdAgain({ provider: 'once', facts: {} }, waiting())).rejects.toMatchObject({
    code: 'sandbox_unavailable',
  })
})

test('16.3 the flags of node-permission need no host', async () => {
  const script = join(folder(), 'script.mjs')
  writeFileSync(script, '')
  const request = requestOf(folder(), [process.execPath, script], { folder: folder() })
  const profile = profileOf({ provider: 'node-permission', fs: { read: ['/usr/**'], write: [], deny: [] } })
  const { launch, endsWithHost, kept } = await createSandboxes().confine(profile, request)
  expect(launch.args).not.toEqual(request.launch.args)
  expect([endsWithHost, kept]).toEqual([undefined, undefined])
})

test('16.3 a launch removes what an earlier launch of its session has left', needs('linux', 'bwrap'), async () => {
  const parent = folder()
  const confine = () =>
    createSandboxes().confine(profileOf({ mounts: [TEXT] }), requestOf(folder(), ['/bin/true'], { folder: parent }))
  await confine()
  const { release } = await confine()
  expect(readdirSync(parent)).toHaveLength(1)
  await release()
  expect(existsSync(parent)).toBe(false)
})

async function httpServer(): Promise<string> {
  const server = createServer((_request, response) => response.end('reached'))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
