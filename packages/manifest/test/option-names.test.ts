import { parseAgentCli } from '@agentproto/manifest'
import { expect, test } from 'vitest'
import { sampleWith } from './sample.js'

// What an installer or the gateway gets as a name must not be read as an option.

const NPM = '- method: npm\n    package: "@sample/agent"'
const errorsOf = (text: string): readonly string[] => {
  const parsed = parseAgentCli(text, { path: 'sample/AGENT-CLI.md' })
  return parsed.ok ? [] : parsed.problems.map(({ code }) => code)
}

test.each(['-rf', '--version', 'bin/-rf', './-x/run', '/', '.', '..', 'bin/..', 'bin/'])(
  '12.A8 the bin %s is refused',
  (bin) => expect(errorsOf(sampleWith('bin: sample-agent', `bin: "${bin}"`))).toEqual(['value_malformed']),
)

test.each(['sample-agent', 'bin/run', '/opt/a.b/run', './run', '../run', 'node_modules/.bin/x'])(
  '12.A8 the bin %s is accepted',
  (bin) => expect(errorsOf(sampleWith('bin: sample-agent', `bin: ${bin}`))).toEqual([]),
)

test.each([
  ['apt', '-o Dir::Etc=/tmp'],
  ['apt', '-oAPT::Get::AllowUnauthenticated=1'],
  ['apt', 'sudo-'],
  ['apt', '*'],
  ['apt', './evil.deb'],
  ['dnf', '--nogpgcheck'],
  ['pacman', '--config=/tmp/x'],
  ['brew', '--HEAD'],
  ['choco', '--source=evil'],
  ['scoop', '-g'],
  ['cargo', '--git=https://evil.example/x'],
  ['go', '-toolexec=/tmp/x'],
  ['npm', '--registry=https://evil.example'],
  ['npm', '-g'],
  ['npm', 'a --global'],
  ['pip', '--index-url=https://evil.example'],
  ['pip', '-r'],
  ['pip', '-e.'],
  ['pip', 'a\\tb'],
])('12.A8 the %s package %s is refused', (method, name) => {
  const text = sampleWith(NPM, `- method: ${method}\n    package: "${name}"`)
  expect(errorsOf(text)).toEqual(['value_malformed'])
})

test.each([
  ['apt', 'g++'],
  ['apt', 'libx11-6:amd64'],
  ['apt', 'sample=1.2-3~bpo1'],
  ['brew', 'block/tap/goose@1'],
  ['dnf', '@development-tools'],
  ['go', 'github.com/a/b/cmd/c@latest'],
  ['cargo', 'sample@1.2.3'],
  ['scoop', 'extras/sample'],
  ['npm', '@sample/agent@^1.2.0'],
  ['npm', 'git+https://sample.example/agent.git'],
  ['pip', 'sample[all]>=1.0,<2'],
])('12.A8 the %s package %s is accepted', (method, name) => {
  expect(errorsOf(sampleWith(NPM, `- method: ${method}\n    package: "${name}"`))).toEqual([])
})

test.each([
  ['method: vendored\n    path: "--help"'],
  ['method: download\n    url: https://sample.example/a.tgz\n    extract_bin: "--to-command=sh"'],
  ['method: curl\n    url: "-K/tmp/config"'],
  ['method: download\n    url: "--output=/tmp/x"\n    extract_bin: a'],
])('12.A8 the install method %s is refused', (method) => {
  expect(errorsOf(sampleWith(NPM, `- ${method}`))).toEqual(['value_malformed'])
})

test('12.A8 the command of an MCP server is no option', () => {
  const text = sampleWith('protocol: acp\nacp: ./ACP.md', 'protocol: mcp\nmcp: {transport: stdio, command: "-rf"}')
  expect(errorsOf(text)).toContain('value_malformed')
})
