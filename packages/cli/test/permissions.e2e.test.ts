import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, folder, serve, type Ended } from './cli-process.js'

interface Asking {
  readonly home: string
  readonly cwd: string
  agentproto(...args: readonly string[]): Promise<Ended>
}

/** A gateway with a session `s` of the demo agent, in the workspace `shop`. */
async function gateway(): Promise<Asking> {
  const [home, cwd] = [folder(), folder('shop')]
  const agentproto: Asking['agentproto'] = (...args) => cli(args, { home, cwd })
  await agentproto('workspace', 'add', cwd, '--slug', 'shop', '--use')
  await serve(home)
  expect(await agentproto('sessions', 'start', 'demo', '--label', 's')).toMatchObject({ code: 0 })
  return { home, cwd, agentproto }
}

async function waits({ agentproto }: Pick<Asking, 'agentproto'>): Promise<void> {
  const shown = async (): Promise<string> => (await agentproto('sessions', 'show', 's')).stdout
  await expect.poll(shown, { timeout: 30_000 }).toContain('Waits for an answer')
}

const rulesOf = async ({ agentproto }: Asking, ...scope: readonly string[]): Promise<Record<string, unknown>[]> =>
  JSON.parse((await agentproto('permissions', 'list', '--json', ...scope)).stdout).rules

test('a remembered answer is a rule, which can be listed and removed', async () => {
  const asking = await gateway()
  const { agentproto } = asking
  await agentproto('sessions', 'prompt', 's', 'ask a.txt hi')
  await waits(asking)
  expect(await agentproto('sessions', 'answer', 's', '--allow', '--remember', 'session')).toMatchObject({
    code: 0,
    stderr: 'Answered: Write a.txt\n',
  })
  expect(await rulesOf(asking, '--session', 's')).toMatchObject([
    { decision: 'allow', lifetime: 'session', match: { call: expect.any(String) } },
  ])
  // The second time the rule answers. Another text for the same file is still asked about.
  const again = await agentproto('sessions', 'prompt', 's', 'ask a.txt hi', '--wait', '--when-busy', 'queue')
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('I was allowed to write a.txt.') })
  const list = await agentproto('permissions', 'list', '--session', 's')
  const [ruleId = ''] = /pr_\w+/.exec(list.stdout) ?? []
  expect(list.stdout).toMatch(/allow +this call only +session +owner/)
  expect(await agentproto('permissions', 'remove', ruleId.slice(0, -3), '--session', 's')).toMatchObject({
    code: 0,
    stdout: `${ruleId}\n`,
  })
  expect(await agentproto('permissions', 'remove', ruleId, '--session', 's')).toMatchObject({ code: 4 })
  await agentproto('sessions', 'prompt', 's', 'ask a.txt hi')
  await waits(asking)
})

test('a rule of the workspace applies to its other sessions, and can be removed from them', async () => {
  const asking = await gateway()
  const { agentproto } = asking
  await agentproto('sessions', 'prompt', 's', 'ask a.txt hi')
  await waits(asking)
  await agentproto('sessions', 'answer', 's', '--deny', '--remember', 'workspace')
  expect(await rulesOf(asking)).toMatchObject([{ decision: 'deny', lifetime: 'workspace' }])
  await agentproto('sessions', 'start', 'demo', '--label', 'other')
  const denied = await agentproto('sessions', 'prompt', 'other', 'ask a.txt hi', '--wait')
  expect(denied).toMatchObject({ code: 5, stdout: expect.stringContaining('not allowed to write a.txt') })
  // The list of a session includes the rules of its workspace, which the same id removes.
  const [rule] = await rulesOf(asking, '--session', 'other')
  await agentproto('permissions', 'remove', String(rule?.['ruleId']), '--session', 'other')
  expect(await rulesOf(asking)).toEqual([])
})

test('rules can be added by hand, and a deny rule wins', async () => {
  const asking = await gateway()
  const { agentproto, cwd } = asking
  const allow = await agentproto('permissions', 'allow', '--tool', 'edit', '--path', '**', '--session', 's')
  expect(allow).toMatchObject({ code: 0, stdout: expect.stringMatching(/^pr_\w+\n$/) })
  expect(await agentproto('sessions', 'prompt', 's', 'ask b.txt hi', '--wait')).toMatchObject({ code: 0 })
  const deny = await agentproto('permissions', 'deny', '--path', 'b.txt', '--workspace', 'shop', '--json')
  expect(JSON.parse(deny.stdout)).toMatchObject({ decision: 'deny', match: { path: join(cwd, 'b.txt') } })
  expect(await agentproto('sessions', 'prompt', 's', 'ask b.txt hi', '--wait')).toMatchObject({ code: 5 })
})

test('an invalid command changes nothing', async () => {
  const home = folder()
  await serve(home)
  const agentproto = (...args: readonly string[]): Promise<Ended> => cli(args, { home })
  expect(await agentproto('permissions', 'list')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--session'),
  })
  await agentproto('sessions', 'start', 'demo', '--label', 's')
  expect(await agentproto('permissions', 'allow', '--session', 's')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('toolKind, path or command'),
  })
  await agentproto('sessions', 'prompt', 's', 'question what')
  await waits({ agentproto })
  const remembered = await agentproto('sessions', 'answer', 's', '--allow', '--remember', 'session')
  expect(remembered).toMatchObject({ code: 2, stderr: expect.stringContaining('--remember') })
})
