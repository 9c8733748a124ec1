import { AgentprotoError } from '@agentproto/contracts'
import type { AdapterService, AgentPlan, FoundAgents } from '@agentproto/contracts/wire'
import {
  entryFindings,
  type EntryTarget,
  PUBLISH_CHECKS,
  type PublishFinding,
} from '@agentproto/provisioning/publish-check'
import { expect, test } from 'vitest'

// What the report says of an entry. How entries are read and installed is tested where that is done.

const plan = { registryId: 'sample', way: 'npx', package: 'sample@1.0.0' } as AgentPlan
const found = (ids: readonly string[], problems: readonly string[] = []): FoundAgents => ({
  agents: ids.map((registryId) => ({ registryId, name: registryId, description: '', installed: false })),
  registry: { source: 'file', agents: ids.length, problems: [...problems] },
})

interface Answers {
  readonly read?: FoundAgents | AgentprotoError
  readonly planned?: AgentPlan | AgentprotoError
  readonly added?: AgentprotoError
}

const orThrow = <T>(value: T | AgentprotoError): T => {
  if (value instanceof AgentprotoError) throw value
  return value
}

/** The findings, and what comes of the entry. */
async function check(target: EntryTarget, { read = found(['sample']), planned = plan, added }: Answers = {}) {
  const adapters = {
    search: async () => orThrow(read),
    lookUp: async () => orThrow(planned),
    async *addAgent(id: string) {
      yield { type: 'warning', message: 'its scripts were skipped' }
      if (added !== undefined) throw added
      yield { type: 'added', adapter: { slug: id }, state: {} }
    },
  } as unknown as Pick<AdapterService, 'search' | 'lookUp' | 'addAgent'>
  const findings: PublishFinding[] = []
  const running = entryFindings(target, { adapters, signal: new AbortController().signal })
  for (;;) {
    const { value, done } = await running.next()
    if (done === true) return { findings, entry: value }
    findings.push(value)
  }
}

const FILE = { from: '/agent.json' }
const verdicts = (findings: readonly PublishFinding[]) => findings.map(({ id, verdict }) => `${id} ${verdict}`)

test('an entry that can be installed passes, with what was decided for its author', async () => {
  const { findings, entry } = await check(FILE)
  expect(verdicts(findings)).toEqual(['entry pass', 'platform pass', 'install pass'])
  expect(findings[2]).toMatchObject({ seen: expect.stringContaining('its scripts were skipped') as unknown })
  expect(entry).toEqual({ slug: 'sample' })
})

test('an entry that is not valid fails, and everything after it is skipped', async () => {
  for (const read of [found([], ['x: `id` is wrong']), new AgentprotoError('registry_invalid', 'It is not JSON')]) {
    const { findings, entry } = await check(FILE, { read })
    expect(findings.map(({ id }) => id)).toEqual([...PUBLISH_CHECKS])
    expect(findings[0]).toMatchObject({
      id: 'entry',
      verdict: 'fail',
      seen: expect.stringMatching(/is wrong|not JSON/) as unknown,
    })
    expect(findings.slice(1).every(({ verdict }) => verdict === 'skipped')).toBe(true)
    expect(entry).toBeUndefined()
  }
})

test('an entry of which a part was left out fails, and is installed all the same', async () => {
  const { findings } = await check(FILE, { read: found(['sample'], ['sample: `icon` is left out.']) })
  expect(verdicts(findings)).toEqual(['entry fail', 'platform pass', 'install pass'])
})

test('problems of other entries of a registry are not those of this one', async () => {
  const read = found(['sample'], ['other: `id` is wrong'])
  expect(verdicts((await check({ id: 'sample' }, { read })).findings)[0]).toBe('entry pass')
  const { findings } = await check({ id: 'missing' }, { read })
  expect(findings[0]).toMatchObject({ verdict: 'fail', expected: 'an entry called missing', seen: 'there is none' })
})

test('a version that is gone, a deprecated package and an install that fails are failures', async () => {
  const gone = await check(FILE, { planned: { ...plan, missing: '1.0.1' } })
  expect(verdicts(gone.findings)).toEqual(['entry pass', 'platform fail', 'install pass'])
  const old = await check(FILE, { planned: { ...plan, deprecated: 'use another' } })
  expect(old.findings[1]).toMatchObject({ verdict: 'fail', seen: 'use another' })
  const nowhere = await check(FILE, { planned: new AgentprotoError('install_failed', 'no way for this platform') })
  expect(nowhere.findings[1]).toMatchObject({
    id: 'platform',
    verdict: 'fail',
    seen: expect.stringContaining('no way for this platform') as unknown,
  })
  const broken = await check(FILE, { added: new AgentprotoError('install_failed', 'npm failed') })
  expect(broken.findings[2]).toMatchObject({
    id: 'install',
    verdict: 'fail',
    seen: expect.stringContaining('npm failed') as unknown,
  })
  expect(broken.entry).toBeUndefined()
})

test('a file with several agents needs an id; a registry that cannot be read, and a cancel, are errors', async () => {
  await expect(check(FILE, { read: found(['a', 'b']) })).rejects.toMatchObject({ code: 'invalid_request' })
  for (const code of ['registry_unavailable', 'cancelled'] as const) {
    const read = new AgentprotoError(code, 'no')
    await expect(check({ id: 'sample' }, { read })).rejects.toMatchObject({ code })
  }
})
