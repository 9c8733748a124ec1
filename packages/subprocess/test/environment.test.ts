import { buildEnvironment, isSecretName } from '@agentproto/subprocess'
import { expect, test } from 'vitest'

test.each([
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'GITHUB_TOKEN',
  'GH_TOKEN',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_ACCESS_KEY_ID',
  'AWS_SESSION_TOKEN',
  'NPM_TOKEN',
  'npm_config__authToken',
  'DATABASE_PASSWORD',
  'PGPASSWORD',
  'DB_PASS',
  'STRIPE_SECRET',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'SENTRY_DSN',
  'SESSION_COOKIE',
  'JWT_SECRET',
  'SSH_PRIVATE_KEY',
  'MY_APIKEY',
  'CLIENT_SECRET',
  'HF_TOKEN',
  'GITLAB_PAT',
  'BASIC_AUTH',
  'MYSQL_PWD',
])('%s looks like a secret', (name) => expect(isSecretName(name)).toBe(true))

test.each([
  'SSH_AUTH_SOCK',
  'XAUTHORITY',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'PATH',
  'HOME',
  'PWD',
  'OLDPWD',
  'LANG',
  'EDITOR',
  'AUTHOR',
  'KEYBOARD',
  'TOKENIZERS_PARALLELISM',
  'PASSENGER',
  'COLORTERM',
  'GIT_AUTHOR_NAME',
  'NODE_OPTIONS',
  'HTTP_PROXY',
  'MONKEY',
  'COMPASS',
])('%s does not', (name) => expect(isSecretName(name)).toBe(false))

const parent = {
  PATH: '/bin',
  HOME: '/h',
  GITHUB_TOKEN: 't',
  SSH_AUTH_SOCK: '/s',
  EDITOR: 'vi',
  LC_ALL: 'C',
  NODE_CHANNEL_FD: '3',
  AGENTPROTO_SESSION_ID: 'old',
  AGENTPROTO_URL: 'old',
  UNSET: undefined,
}

test('filtered drops secrets, the stale and the pipes of Node', () => {
  expect(buildEnvironment({ policy: 'filtered', parent })).toEqual({
    PATH: '/bin',
    HOME: '/h',
    SSH_AUTH_SOCK: '/s',
    EDITOR: 'vi',
    LC_ALL: 'C',
  })
})

test('isolated keeps what a program needs to run', () => {
  expect(buildEnvironment({ policy: 'isolated', parent })).toEqual({ PATH: '/bin', HOME: '/h', LC_ALL: 'C' })
})

test('what the manifest names passes both; the session wins over the manifest, and it over the host', () => {
  for (const policy of ['filtered', 'isolated'] as const) {
    const env = buildEnvironment({
      policy,
      parent,
      passthrough: ['GITHUB_TOKEN', 'AGENTPROTO_URL'],
      declared: { HOME: '/declared', A: '1', AGENTPROTO_AGENT: 'x' },
      injected: { A: '2', AGENTPROTO_SESSION_ID: 'new' },
    })
    expect(env).toMatchObject({
      GITHUB_TOKEN: 't',
      HOME: '/declared',
      A: '2',
      AGENTPROTO_SESSION_ID: 'new',
      AGENTPROTO_AGENT: 'x',
    })
    expect(env).not.toHaveProperty('AGENTPROTO_URL')
  }
})

test('a variable of ours passes once the manifest names it, except what would hand over the gateway', () => {
  const env = { AGENTPROTO_DEMO_HOME: '/d', AGENTPROTO_OTHER: 'x', AGENTPROTO_TOKEN: 't', AGENTPROTO_HOME: '/h' }
  const passthrough = ['AGENTPROTO_DEMO_HOME', 'AGENTPROTO_TOKEN', 'AGENTPROTO_HOME']
  for (const policy of ['filtered', 'isolated'] as const) {
    expect(buildEnvironment({ policy, parent: env, passthrough })).toEqual({ AGENTPROTO_DEMO_HOME: '/d' })
  }
})
