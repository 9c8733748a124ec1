import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { request, type OutgoingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startDaemon, type Daemon } from './support/daemon.js'
import { temporaryFolder } from './support/temporary-folder.js'

const SECRET = 'sk-e2e-5d41402abc4b2a76b9719d911017c592'

interface Refusal {
  readonly what: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
  readonly anonymous?: boolean
  readonly status: number
  readonly code: string
}

const REFUSALS: readonly Refusal[] = [
  { what: 'no token', anonymous: true, status: 401, code: 'unauthorized' },
  { what: 'an unknown token', headers: { authorization: `Bearer ${SECRET}` }, status: 401, code: 'unauthorized' },
  { what: 'Host: evil.example', headers: { host: 'evil.example' }, status: 403, code: 'host_not_allowed' },
  {
    what: 'a foreign Origin',
    headers: { origin: 'https://evil.example' },
    status: 403,
    code: 'origin_not_allowed',
  },
  { what: 'text/plain', headers: { 'content-type': 'text/plain' }, status: 415, code: 'unsupported_media_type' },
  {
    what: 'a body of 10 MiB',
    body: JSON.stringify({ adapter: 'demo', prompt: SECRET.padEnd(10 * 1024 * 1024, 'x') }),
    status: 413,
    code: 'payload_too_large',
  },
  { what: 'broken JSON', body: `{"adapter":"demo","label":"${SECRET}`, status: 400, code: 'invalid_json' },
]

test('each refusal has its code, and no secret is stored or logged', async () => {
  const home = temporaryFolder('refusals')
  const daemon = await startDaemon({ home, env: { OPENAI_API_KEY: SECRET } })
  for (const refusal of REFUSALS) {
    const answer = await spawnDemo(daemon, refusal)
    expect({ what: refusal.what, ...answer }).toMatchObject({
      what: refusal.what,
      status: refusal.status,
      type: 'application/problem+json',
      problem: { code: refusal.code, status: refusal.status },
    })
    expect(JSON.stringify(answer)).not.toContain(SECRET)
  }
  const { sessions } = await daemon.client.sessions.list()
  expect(sessions).toEqual([])

  // Even the whole environment of an agent does not contain them.
  const { id } = await daemon.client.sessions.start({ adapter: 'demo', cwd: home })
  await daemon.client.sessions.promptAndWait(id, { prompt: 'run printenv' })
  const kept = [daemon.printed(), ...textsBelow(join(home, '.agentproto'))].join('\n')
  expect(kept).toContain(`HOME=${home}`)
  expect(kept).not.toContain(SECRET)
  expect(kept).not.toContain(daemon.token)
})

/** The content of the home, without the token file. */
const textsBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    // A temporary file may be renamed meanwhile; the one that it replaces is read, too.
    .filter((entry) => entry.isFile() && entry.name !== 'token' && existsSync(join(entry.parentPath, entry.name)))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))

interface Answer {
  readonly status: number | undefined
  readonly type: string | undefined
  readonly problem: unknown
}

/** With node:http, because `fetch` does not send a custom Host. */
function spawnDemo({ url, token }: Daemon, refusal: Refusal): Promise<Answer> {
  const { headers, body = '{"adapter":"demo"}', anonymous } = refusal
  return new Promise((resolve, reject) => {
    const call = request(`${url}/sessions/agent`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        ...(anonymous !== true && { authorization: `Bearer ${token}` }),
        ...headers,
      },
    })
    onTestFinished(() => void call.destroy())
    call.once('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk))
      response.once('end', () => {
        resolve({ status: response.statusCode, type: response.headers['content-type'], problem: JSON.parse(text) })
      })
    })
    // After its response, the gateway need not read the rest of a refused request.
    call.once('error', reject)
    call.end(body)
  })
}
