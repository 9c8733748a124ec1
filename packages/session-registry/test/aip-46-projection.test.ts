import type { OutputLine } from '@agentproto/contracts'
import type { AgentSignal } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { scripted, type Script } from './fixtures/scripted-agent.js'
import { memoryRegistry, owner } from './fixtures/test-registry.js'

// AIP-46 §Output projection, row by row: the line of each event in the ring buffer.

const END = { type: 'turn-end', reason: 'end_turn' } as const

/** The lines of one turn of an agent that emits this, without its prompt. */
async function linesOf(...signals: readonly AgentSignal[]): Promise<readonly OutputLine[]> {
  const script: Script = ({ emit }) => emit(...signals, END)
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await registry.waitTurn(id, 1)
  return (await registry.output(id)).slice(1)
}

const stdout = (line: string): OutputLine => ({ line, stream: 'stdout' })
const end = stdout('── turn-end (end_turn) ──')

test('AIP-46 projection of text-delta: the text, joined at line breaks', async () => {
  const texts = ['one ', 'line\nan', 'other\n\n', 'last'].map((text) => ({ type: 'text-delta', text }) as const)
  expect(await linesOf(...texts)).toEqual([...['one line', 'another', '', 'last'].map(stdout), end])
})

test('AIP-46 projection of thought: [thought] before each line', async () => {
  const texts = ['hm, ', 'yes\nno'].map((text) => ({ type: 'thought', text }) as const)
  expect(await linesOf(...texts)).toEqual([stdout('[thought] hm, yes'), stdout('[thought] no'), end])
})

test('AIP-46 projection of tool-call: [tool] and the name, once', async () => {
  const call = { type: 'tool-call', toolCallId: 'a', toolName: 'bash' } as const
  const signals = [
    call,
    { ...call, status: 'in_progress' },
    { type: 'tool-result', toolCallId: 'a', status: 'completed' },
  ]
  expect(await linesOf(...(signals as readonly AgentSignal[]))).toEqual([stdout('[tool] bash'), end])
})

test('AIP-46 projection of tool-result: [tool-error] where it failed, nothing where it did not', async () => {
  const failed = { type: 'tool-result', toolCallId: 'a', status: 'failed' } as const
  expect(await linesOf({ type: 'tool-call', toolCallId: 'a', title: 'rm -r /' }, failed)).toEqual([
    stdout('[tool] rm -r /'),
    stdout('[tool-error] rm -r /'),
    end,
  ])
})

test('AIP-46 projection of agent-prompt: [awaiting input] and what is asked', async () => {
  const asks: Script = async ({ ask, emit }) => {
    await ask({ kind: 'question', message: 'Which one?', mode: 'form' })
    await emit(END)
  }
  const { registry } = await memoryRegistry(scripted(asks))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await expect.poll(async () => (await registry.get(id)).turn.state).toBe('awaiting-input')
  expect((await registry.output(id)).at(-1)).toEqual(stdout('[awaiting input] Which one?'))
})

test('14.1.2 16.1 the lines of a permission have its whole command, its variables and where its path leads, whatever its title is', async () => {
  const input = { command: 'echo ok; rm -rf /', cwd: '/', env: { LD_PRELOAD: '/tmp/x.so' } }
  const toolCall = { type: 'tool-call', toolCallId: 't', title: 'Harmless', kind: 'execute', input } as const
  const options = [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }] as const
  const asks: Script = async ({ ask, emit }) => {
    await ask({ kind: 'permission', toolCall: { ...toolCall, locations: [{ path: '/etc/../etc/x' }] }, options })
    await emit(END)
  }
  const { registry } = await memoryRegistry(scripted(asks))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await expect.poll(async () => (await registry.get(id)).turn.state).toBe('awaiting-input')
  expect((await registry.output(id)).slice(-4)).toEqual([
    stdout('[awaiting input] Harmless'),
    stdout('[awaiting input] command: echo ok; rm -rf /'),
    stdout('[awaiting input] variable: LD_PRELOAD=/tmp/x.so'),
    stdout('[awaiting input] path: /etc/x (outside)'),
  ])
})

test('AIP-46 projection of turn-end: a rule with the reason', async () => {
  for (const reason of ['end_turn', 'max_tokens', 'refusal'] as const) {
    const { registry } = await memoryRegistry(scripted(({ emit }) => emit({ type: 'turn-end', reason })))
    const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
    await registry.waitTurn(id, 1)
    expect((await registry.output(id)).at(-1)).toEqual(stdout(`── turn-end (${reason}) ──`))
  }
})

test('AIP-46 projection of error: [error], the message and the end of stderr', async () => {
  expect(await linesOf({ type: 'error', message: 'it broke', stderrTail: 'one\ntwo' })).toEqual([
    stdout('[error] it broke'),
    { line: 'one', stream: 'stderr' },
    { line: 'two', stream: 'stderr' },
    end,
  ])
  // Also where the agent is gone, and its last words with it.
  const { agents, ...never } = scripted(() => new Promise(() => undefined))
  const { registry } = await memoryRegistry(never)
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  agents[0]?.die({ message: 'The agent exited', stderrTail: 'segfault', duringTurn: true })
  await registry.waitTurn(id, 1)
  await settled()
  expect(await registry.output(id)).toEqual(
    expect.arrayContaining([stdout('[error] The agent exited'), { line: 'segfault', stream: 'stderr' }]),
  )
})
