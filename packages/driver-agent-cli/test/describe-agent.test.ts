import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeAgent, type DescribeAgent } from '@agentproto/driver-agent-cli'
import { expect, onTestFinished, test } from 'vitest'
import { processesMarked } from '../../../tooling/process-table.ts'

const demo = fileURLToPath(new URL('../../demo-agent/bin/demo-agent.mjs', import.meta.url))

/** Describes with a temporary folder and a home of its own. */
function describing(command: DescribeAgent['command']) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'agentproto-describe-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const env = { ...process.env, HOME: root, TMPDIR: root }
  const describe = (more: Partial<DescribeAgent> = {}) =>
    describeAgent({ command, cwd: root, env, signal: new AbortController().signal, ...more })
  return { describe, root }
}

test('12.C7 an agent is asked what it offers, and leaves no process and no file', async () => {
  const { describe, root } = describing([process.execPath, demo])
  const { capabilities, modes, session } = await describe()
  expect([capabilities.load, capabilities.embeddedContext, session]).toEqual([true, true, 'opened'])
  expect(modes.map(({ id }) => id)).toEqual(expect.arrayContaining(['default', 'plan']))
  expect([readdirSync(root), processesMarked(root)]).toEqual([[], []])
})

test('12.C7 what is no ACP agent, or is not there, fails with its reason and leaves nothing', async () => {
  const [failing, missing, silent] = [describing(['/bin/false']), describing(['./none']), describing(['/bin/cat'])]
  await expect(failing.describe()).rejects.toMatchObject({ code: expect.stringMatching(/_failed$/) })
  await expect(missing.describe()).rejects.toMatchObject({ code: 'agent_not_installed' })
  const abort = new AbortController()
  const waiting = silent.describe({ signal: abort.signal })
  abort.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
  expect([failing, missing, silent].flatMap(({ root }) => processesMarked(root))).toEqual([])
})
