import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cli, folder } from './cli-process.js'

const DEMO = fileURLToPath(new URL('../bin/demo-agent.mjs', import.meta.url))
/** The exit code of an agent without a login. */
const NOT_LOGGED_IN = 41

interface OwnAgentOptions {
  readonly needsLogin?: boolean
  readonly flags?: readonly string[]
  /** Default: the demo agent. */
  readonly agent?: string
  /** Whether its sessions share one process. */
  readonly isShared?: boolean
}

/** Adds an adapter, without installing it: the demo agent, with a login if wanted. */
export async function ownAgent(
  home: string,
  { needsLogin = false, flags = [], agent = DEMO, isShared = false }: OwnAgentOptions = {},
): Promise<{ readonly login: string }> {
  const at = join(folder('adapter'), 'own')
  mkdirSync(at)
  const login = join(folder('login'), 'done')
  const base = { name: 'own', id: 'own', description: 'An own agent.', version: '1.0.0' }
  const auth = { expiry: { detect: `exit_code:${NOT_LOGGED_IN}` }, login: { cmd: 'own-agent login' } }
  const manifest = {
    ...base,
    bin: 'own-agent',
    install: [{ method: 'vendored', path: './own-agent' }],
    version_check: { cmd: 'own-agent --version', parse: '(\\d+\\.\\d+\\.\\d+)', range: '>=0.0.0' },
    ...(needsLogin ? { auth } : {}),
    sandbox: { provider: 'local' },
    protocol: 'acp',
    acp: './ACP.md',
    ...(isShared ? { metadata: { agentproto: { process: 'shared' } } } : {}),
  }
  const write = (name: string, content: unknown) =>
    writeFileSync(join(at, name), `---\n${JSON.stringify(content)}\n---\n`)
  write('AGENT-CLI.md', manifest)
  const aip44 = { acp_rev: '064ee1ffe194cdb14e1d45d66875ce74a14933c3', tier: 'basic' }
  write('ACP.md', { ...base, kind: 'client', transport: 'stdio', metadata: { aip44 } })
  const script = [
    '#!/bin/sh',
    `if [ "$1" = login ]; then echo yes > '${login}'; exit 0; fi`,
    ...(needsLogin ? [`[ "$1" = --version ] || [ -e '${login}' ] || exit ${NOT_LOGGED_IN}`] : []),
    // The sessions that it starts use the same adapter.
    'export AGENTPROTO_AGENT=own',
    `exec '${process.execPath}' '${agent}' ${flags.join(' ')} "$@"`,
  ]
  writeFileSync(join(at, 'own-agent'), `${script.join('\n')}\n`)
  chmodSync(join(at, 'own-agent'), 0o755)
  const { code, stderr } = await cli(['adapters', 'add', at], { home })
  if (code !== 0) throw new Error(stderr)
  return { login }
}
