import { describe, expect, test } from 'vitest'
import { OWNER } from '../../gateway-http/test/fake-gateway.ts'
import { connected, ERAS } from './connected.ts'

// AIP-46 §MCP tools, row by row, in both eras of the protocol.

describe.each(ERAS)('%s client', (era) => {
  test('AIP-46 start_agent_session: {adapter, workspaceSlug?, cwd?, prompt?, label?} returns the Session', async () => {
    const { tool, sessions } = await connected(era)
    const args = { adapter: 'demo', workspaceSlug: 'main', cwd: '/work/a', prompt: 'hello', label: 'mine' }
    const session = await tool('start_agent_session', args)
    expect(session).toMatchObject({
      id: 's1',
      adapterSlug: 'demo',
      workspaceSlug: 'main',
      cwd: '/work/a',
      label: 'mine',
      status: 'running',
    })
    expect(sessions.calls[0]).toEqual(['spawn', args, OWNER])
  })

  test('AIP-46 prompt_agent_session: {sessionId, prompt} returns before the turn has ended', async () => {
    const { tool, sessions } = await connected(era)
    await tool('start_agent_session', { adapter: 'demo' })
    expect(await tool('prompt_agent_session', { sessionId: 's1', prompt: 'hang' })).toEqual({
      ok: true,
      sessionId: 's1',
      turn: 1,
    })
    expect((await sessions.turns('s1')).at(-1)).toMatchObject({ state: 'running' })
  })

  test('AIP-46 overlapping prompts over MCP: an error', async () => {
    const { tool } = await connected(era)
    await tool('start_agent_session', { adapter: 'demo', prompt: 'hang' })
    const refused = await tool('prompt_agent_session', { sessionId: 's1', prompt: 'again' })
    expect(refused).toMatchObject({ isError: true, code: 'turn_in_progress', status: 409, retryable: true })
  })

  test('AIP-46 list_agent_sessions: {onlyAlive?} returns {sessions}', async () => {
    const { tool } = await connected(era)
    await tool('start_agent_session', { adapter: 'demo' })
    await tool('start_agent_session', { adapter: 'demo' })
    await tool('kill_agent_session', { sessionId: 's1' })
    expect(await tool('list_agent_sessions')).toMatchObject({
      sessions: [{ id: 's1', status: 'killed' }, { id: 's2' }],
    })
    expect(await tool('list_agent_sessions', { onlyAlive: true })).toMatchObject({ sessions: [{ id: 's2' }] })
  })

  test('AIP-46 get_agent_session_output: {sessionId, lastN?} returns the last lines', async () => {
    const { tool } = await connected(era)
    await tool('start_agent_session', { adapter: 'demo', prompt: 'one' })
    await tool('prompt_agent_session', { sessionId: 's1', prompt: 'two' })
    const line = (text: string): object => ({ line: `echo "${text}"`, stream: 'stdout' })
    expect(await tool('get_agent_session_output', { sessionId: 's1' })).toEqual({ lines: [line('one'), line('two')] })
    expect(await tool('get_agent_session_output', { sessionId: 's1', lastN: 1 })).toEqual({ lines: [line('two')] })
  })

  test('AIP-46 kill_agent_session: {sessionId} returns {ok, sessionId}', async () => {
    const { tool } = await connected(era)
    await tool('start_agent_session', { adapter: 'demo' })
    expect(await tool('kill_agent_session', { sessionId: 's1' })).toEqual({ ok: true, sessionId: 's1' })
    expect(await tool('kill_agent_session', { sessionId: 's1' })).toEqual({ ok: false, sessionId: 's1' })
  })
})
