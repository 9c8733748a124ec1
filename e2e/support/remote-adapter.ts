import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLI } from './daemon.js'

export interface RemoteAdapter {
  /** Slug of the adapter and of its secret. */
  readonly slug: string
  /** The gateway that serves the agent, and its path. */
  readonly url: string
  readonly path?: string
  readonly token: string
}

/** Writes an adapter into a home whose agent is behind `/acp` of another gateway on this machine, with the owner's consent. */
export function addRemoteAdapter(home: string, { slug, url, path = '/acp/demo', token }: RemoteAdapter): void {
  const root = join(home, '.agentproto')
  const folder = join(root, 'adapters', slug)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const base = { name: slug, id: slug, description: 'The demo agent of another gateway.', version: '1.0.0' }
  const endpoint = { url: url.replace('http', 'ws') + path, headers: { authorization: `Bearer {secret:${slug}}` } }
  const write = (name: string, content: object): void =>
    writeFileSync(join(folder, name), `---\n${JSON.stringify({ ...base, ...content })}\n---\n`)
  write('AGENT-CLI.md', {
    bin: slug,
    install: [{ method: 'endpoint', experimental: true }],
    version_check: { cmd: `${slug} --version`, parse: '(\\d+\\.\\d+\\.\\d+)', range: '*' },
    session: { mode: 'resumable' },
    capabilities: { streaming: true, tool_calls: true, resumable: true, bidirectional: true },
    sandbox: { provider: 'local' },
    protocol: 'acp',
    acp: './ACP.md',
    metadata: { agentproto: { endpoint } },
  })
  const capabilities = {
    client: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    agent: { loadSession: true },
  }
  const aip44 = { acp_rev: '064ee1ffe194cdb14e1d45d66875ce74a14933c3', tier: 'basic', capabilities }
  write('ACP.md', { id: `${slug}-acp`, kind: 'client', transport: 'websocket', metadata: { aip44 } })
  consentTo(join(root, 'config.json'), new URL(url).host)
  setSecret(home, slug, token)
}

/** Sets the value of a secret, as its owner does. */
export function setSecret(home: string, slug: string, value: string): void {
  const env = { ...process.env, HOME: home, AGENTPROTO_HOME: join(home, '.agentproto') }
  const args = [CLI, 'secrets', 'set', slug, '--store', 'file']
  const { status, stderr } = spawnSync(process.execPath, args, { input: `${value}\n`, encoding: 'utf8', env })
  if (status !== 0) throw new Error(`The secret cannot be set: ${stderr}`)
}

function consentTo(path: string, place: string): void {
  const config = existsSync(path)
    ? (JSON.parse(readFileSync(path, 'utf8')) as { endpoints?: { private?: string[] } })
    : {}
  const endpoints = { private: [...(config.endpoints?.private ?? []), place] }
  writeFileSync(path, JSON.stringify({ ...config, endpoints }), { mode: 0o600 })
}
