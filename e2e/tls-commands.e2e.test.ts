import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newAuthority } from './support/certificates.js'
import { CLI, startDaemon } from './support/daemon.js'
import { finished, type Finished } from './support/finished-process.js'
import { temporaryFolder } from './support/temporary-folder.js'

// `agentproto serve` with TLS, and the other commands: in its home, and from elsewhere.

function files(texts: Readonly<Record<string, string>>): (name: string) => string {
  const folder = temporaryFolder('tls')
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text, { mode: 0o600 })
  return (name) => join(folder, name)
}

const agentproto = (args: readonly string[], env: Readonly<Record<string, string>>): Promise<Finished> =>
  finished([CLI, ...args], { env: { ...process.env, AGENTPROTO_NO_START: '1', ...env } })

test('commands find a gateway with client certificates in its home; from elsewhere they use the given certificates', async () => {
  const [authority, clients] = [newAuthority(), newAuthority('Clients')]
  const server = authority.issue({ name: 'one', hosts: ['127.0.0.1'] })
  const me = clients.issue({ name: 'me' })
  const at = files({
    'ca.pem': authority.cert,
    'cert.pem': server.cert,
    'key.pem': server.key,
    'clients.pem': clients.cert,
    'me.pem': me.cert,
    'me-key.pem': me.key,
  })
  const home = temporaryFolder('home')
  const tls = ['--tls-cert', at('cert.pem'), '--tls-key', at('key.pem'), '--tls-client-ca', at('clients.pem')]
  const { url, token } = await startDaemon({ home, args: tls })
  expect(url).toMatch(/^https:/)
  const here = { AGENTPROTO_HOME: join(home, '.agentproto') }
  expect(await agentproto(['status'], here)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`at ${url}, pid`),
  })
  expect(await agentproto(['sessions', '--json'], here)).toMatchObject({ code: 0 })
  expect(JSON.parse(readFileSync(join(home, '.agentproto', 'daemon.json'), 'utf8'))).toMatchObject({ url })

  const elsewhere = async (env: Record<string, string>): Promise<Finished> =>
    agentproto(['sessions', '--json'], {
      AGENTPROTO_HOME: temporaryFolder('elsewhere'),
      AGENTPROTO_URL: url,
      AGENTPROTO_TOKEN: token,
      ...env,
    })
  const trusting = { AGENTPROTO_TLS_CA: at('ca.pem') }
  const known = { ...trusting, AGENTPROTO_TLS_CERT: at('me.pem'), AGENTPROTO_TLS_KEY: at('me-key.pem') }
  expect(await elsewhere(known)).toMatchObject({ code: 0, stderr: '' })
  expect(await elsewhere({ ...known, AGENTPROTO_TLS_CA: '', NODE_EXTRA_CA_CERTS: at('ca.pem') })).toMatchObject({
    code: 0,
  })
  const refusals: readonly (readonly [Record<string, string>, string])[] = [
    [{}, `The certificate of ${url} is not trusted`],
    [{}, 'AGENTPROTO_TLS_CA'],
    [trusting, `${url} requires a client certificate`],
    [trusting, 'AGENTPROTO_TLS_CERT'],
    [{ ...known, AGENTPROTO_TLS_CERT: at('none.pem') }, 'The file of AGENTPROTO_TLS_CERT cannot be read'],
  ]
  for (const [env, message] of refusals) {
    // Sometimes the connection is closed before the TLS alert arrives.
    const refusal = async (): Promise<string> => {
      const { code, stderr } = await elsewhere(env)
      return code === 0 ? 'it was let in' : stderr
    }
    await expect.poll(refusal).toContain(message)
  }
})

test('an invalid TLS configuration is refused with its problem', async () => {
  const [authority, stranger] = [newAuthority(), newAuthority()]
  const at = files({ 'cert.pem': authority.cert, 'key.pem': stranger.key })
  const env = { AGENTPROTO_HOME: temporaryFolder('home') }
  const serve = (...args: string[]): Promise<Finished> => agentproto(['serve', '--port', '0', ...args], env)
  expect(await serve('--tls-cert', at('cert.pem'), '--tls-key', at('key.pem'))).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('listen.tls.key is not the key of listen.tls.cert'),
  })
  expect(await serve('--tls-cert', at('cert.pem'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('listen.tls.key is missing'),
  })
  expect(await serve('--tls-cert', at('cert.pem'), '--tls-key', at('gone.pem'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('listen.tls.key cannot be read'),
  })
})
