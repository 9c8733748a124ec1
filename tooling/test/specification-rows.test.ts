import { expect, test } from 'vitest'
import { ROOT } from '../packages.ts'
import { sourceFiles } from '../source-files.ts'

// AIP-46 is a contract: each row of its tables, and each sentence that a host can violate, has a test whose title begins
// with `AIP-46`, the name of the row as below, and a colon. So have the parts of AIP-45 that a host exposes.

const of = (what: string, names: string): readonly string[] => names.split(' ').map((name) => `${what}${name}`)

const ROWS: Readonly<Record<string, readonly string[]>> = {
  'Session data model': [
    ...of('Session.', 'id adapterSlug workspaceSlug cwd status startedAt endedAt lastOutputAt exitCode label'),
    'Session with fields of a later version',
  ],
  'Status transitions': [
    'starting → running',
    'starting → error',
    'running → exited',
    'running → killed by kill_session',
    'running → killed by DELETE',
    'running → killed by the end of the host',
    'running → error',
  ],
  Workspaces: [
    'workspaces.json',
    'cwd of the spawn',
    'cwd of workspaceSlug',
    'cwd of the active workspace',
    'cwd of the host',
  ],
  'HTTP surface': [
    'GET /sessions',
    'POST /sessions/agent',
    'GET /sessions/:id',
    'POST /sessions/:id/prompt',
    'POST /sessions/:id/kill',
    'DELETE /sessions/:id',
    'GET /sessions/:id/stream',
  ],
  SpawnAgentRequest: of('SpawnAgentRequest.', 'adapter workspaceSlug cwd prompt label'),
  'SSE event format': ['SSE line', 'SSE status', 'SSE events of a later version', 'SSE keep-alive'],
  'MCP tools': [
    'start_agent_session',
    'prompt_agent_session',
    'list_agent_sessions',
    'get_agent_session_output',
    'kill_agent_session',
    'the MCP tools and the HTTP routes',
  ],
  'Multi-turn semantics': [
    'multi-turn',
    'overlapping prompts over HTTP',
    'overlapping prompts over MCP',
    'the end of a turn',
  ],
  'Output projection': of('projection of ', 'text-delta thought tool-call tool-result agent-prompt turn-end error'),
  'Reference Implementation': [
    'createGateway',
    'agentproto serve',
    'sessions.json',
    'agentproto workspace add',
    'agentproto workspace list',
    'agentproto workspace remove',
    'agentproto workspace use',
    'agentproto sessions',
    'agentproto sessions --watch',
    'agentproto sessions --attach',
    'agentproto sessions --json',
  ],
  'Backwards Compatibility': ['agentproto run', 'no adapter installed'],
  'Security Considerations': ['auth of every route', 'secrets in the output', 'cwd of a principal who is not local'],
}

/** The parts of AIP-45 that a driver or a gateway exposes; the package `manifest` tests the rules for manifests. */
const ROWS_OF_45: readonly string[] = [
  'defineAgentCli',
  'start',
  ...of('session.', 'send cancel close'),
  ...of('event ', 'text-delta tool-call tool-result thought agent-prompt turn-end error'),
  'mode',
  'unknown mode',
  'option',
  ...of('continuation ', 'none pinned-session transcript native-resume'),
  'continuation outside supported',
]

const tests = ['packages', 'e2e'].flatMap((folder) =>
  sourceFiles(ROOT, folder).filter(({ path }) => path.endsWith('.test.ts')),
)

/** The part of each test title between the specification's name and the first colon followed by a space. */
function titlesOf(text: string, specification: string): readonly string[] {
  const found = text.matchAll(
    new RegExp(`\\btest(?:\\.\\w+(?:\\([^)]*\\))?)*\\(\\s*['"\`]${specification} (.+?): `, 'g'),
  )
  return [...found].map(([, row = '']) => row)
}

test.each([
  ['AIP-45', ROWS_OF_45],
  ['AIP-46', Object.values(ROWS).flat()],
])('each row of %s has a test that names it, and each test names an existing row', (specification, rows) => {
  const titles = new Set(tests.flatMap(({ text }) => titlesOf(text, specification)))
  expect([...titles].toSorted()).toEqual([...rows].toSorted())
})

test('a title is found in each way of writing a test', () => {
  // Put together from parts, so that this file does not count as their test.
  const A = 'AIP'
  const text = `test('${A}-46 GET /sessions/:id: a')\ntest.each(ERAS)('${A}-46 Session.id: in %s: b')\ntest('of ${A}-46 x: c')`
  expect(titlesOf(text, 'AIP-46')).toEqual(['GET /sessions/:id', 'Session.id'])
})
