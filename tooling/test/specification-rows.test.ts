import { expect, test } from 'vitest'
import { ROOT } from '../packages.ts'
import { sourceFiles } from '../source-files.ts'
import type { SourceFile } from '../source-files.ts'

// AIP-46 is a contract: each row of its tables, and each sentence that a host can violate, has a test whose title begins
// with `AIP-46`, the name of the row as below, and a colon. So have the parts of AIP-45 that a host exposes. A test that is
// skipped somewhere, because it needs a program, a system or an agent, does not count: each row has one that always runs.

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

interface Titled {
  readonly row: string
  /** Whether it runs wherever there is Node. */
  readonly runsAlways: boolean
}

/** The tests of a specification, each with what its title has between the specification's name and the first colon and space. */
function testsOf({ path, text }: SourceFile, specification: string): readonly Titled[] {
  const found = text.matchAll(
    new RegExp(
      `\\btest(?<how>(?:\\.\\w+(?:\\([^)]*\\))?)*)\\(\\s*(?<quote>['"\`])${specification} (?<row>.+?): (?:(?!\\k<quote>).)*\\k<quote>,(?<options>[^=]*)`,
      'gs',
    ),
  )
  return [...found].map(({ groups: { how = '', row = '', options = '' } = {} }) => ({
    row,
    runsAlways:
      !path.endsWith('.agents.test.ts') && !/\.(?:skip|runIf|todo)/.test(how) && !/\b(?:needs\(|skip\b)/.test(options),
  }))
}

test.each([
  ['AIP-45', ROWS_OF_45],
  ['AIP-46', Object.values(ROWS).flat()],
])(
  '12.B7 each row of %s has a test that names it and always runs, and each test names an existing row',
  (specification, rows) => {
    const all = tests.flatMap((file) => testsOf(file, specification))
    expect(all.map(({ row }) => row).filter((row) => !rows.includes(row))).toEqual([])
    const covered = new Set(all.filter(({ runsAlways }) => runsAlways).map(({ row }) => row))
    expect(rows.filter((row) => !covered.has(row))).toEqual([])
  },
)

test('a title is found in each way of writing a test, and one that can be skipped is known', () => {
  // Put together from parts, so that this file does not count as their test.
  const A = 'AIP'
  const found = (line: string, path = 'a.test.ts'): readonly Titled[] => testsOf({ path, text: line }, 'AIP-46')
  const always = { row: 'GET /sessions/:id', runsAlways: true }
  expect(found(`test('${A}-46 GET /sessions/:id: a', async () => {\n`)).toEqual([always])
  expect(found(`test.each(ERAS)('${A}-46 GET /sessions/:id: in %s: b', { timeout: 5 }, () => {`)).toEqual([always])
  expect(found(`test(\n  '${A}-46 GET /sessions/:id: the caller’s',\n  async () => {`)).toEqual([always])
  const skipped = { ...always, runsAlways: false }
  expect(found(`test('${A}-46 GET /sessions/:id: a', needs('tmux'), () => {`)).toEqual([skipped])
  expect(found(`test.skipIf(onWindows)('${A}-46 GET /sessions/:id: a', () => {`)).toEqual([skipped])
  expect(found(`test.runIf(onLinux)('${A}-46 GET /sessions/:id: a', () => {`)).toEqual([skipped])
  expect(found(`test.todo('${A}-46 GET /sessions/:id: a', () => {`)).toEqual([skipped])
  expect(found(`test('${A}-46 GET /sessions/:id: a', { skip: true }, () => {`)).toEqual([skipped])
  expect(found(`test('${A}-46 GET /sessions/:id: a', () => {`, 'a.agents.test.ts')).toEqual([skipped])
  expect(found(`test('of ${A}-46 x: c', () => {`)).toEqual([])
})
