import type { SchemaName } from '../src/schemas.js'

/** One full, valid document of each kind beside AGENT-CLI.md, as YAML would read it. */
export const DOCUMENTS: Readonly<Record<Exclude<SchemaName, 'agent-cli' | 'runner' | 'config'>, unknown>> = {
  acp: {
    name: 'sample',
    id: 'sample-acp',
    description: 'The wire profile of an agent for tests.',
    version: '1.0.0',
    kind: 'server',
    transport: ['stdio', 'websocket'],
    metadata: {
      aip44: {
        acp_rev: '0123abc',
        tier: 'sandboxed',
        sandbox: './SANDBOX.md',
        capabilities: {
          client: { fs: { readTextFile: true, writeTextFile: false }, terminal: false },
          agent: {
            loadSession: true,
            promptCapabilities: { image: true, audio: false, embeddedContext: true },
            mcpCapabilities: { http: true, sse: false },
          },
        },
      },
      other: { anything: 1 },
    },
  },
  secrets: {
    secrets: [
      {
        slug: 'team/sample-api-key',
        name: 'API key',
        description: 'The key of the sample service.',
        kind: 'opaque',
        backend: 'env://SAMPLE_API_KEY',
        audit: { retention: 'P7Y', pii: false, classification: ['internal'] },
        tags: ['sample'],
        exposures: [
          { kind: 'env', name: 'SAMPLE_API_KEY', field: 'value' },
          { kind: 'of-the-future', path: 'x' },
        ],
        metadata: {},
      },
      { slug: 'login', name: 'Login', description: 'The login of the sample service.', kind: 'oauth' },
    ],
  },
  sandbox: {
    schema: 'sandbox/v1',
    id: '@sample/strict',
    version: '1.0.0',
    provider: 'mastra-e2b',
    config: { cwd: '/work', shell: '/bin/sh' },
    limits: { timeout_ms: 1000, memory_mb: 512, cpu_ms: 1000 },
    env: { auth: { ref: './SECRETS.md', state: { env: ['SAMPLE_API_KEY'] } }, passthrough: ['LANG'], set: { A: 'b' } },
    network: { egress: ['api.sample.example', '*.sample.example:443'], ingress: ['127.0.0.1'] },
    mounts: [
      { source: 'workspace', at: '/work', mode: 'read-write' },
      { source: { file: 'notes.txt' }, at: '/notes', mode: 'read-only' },
    ],
    lifecycle: { pause_after_idle: 'PT5M', destroy_on: ['exit'] },
    read_only: false,
    fs: { read: ['**'], write: ['src/**'], deny: ['.env'] },
    exec: { allow: true, spawn: ['git'] },
    tty: { required: false },
    metadata: {},
  },
  workspaces: {
    version: 1,
    active: 'main',
    workspaces: [
      {
        slug: 'main',
        path: '/work/main',
        addedAt: '2026-05-10T15:31:56.664Z',
        updatedAt: '2026-05-10T15:32:00.123Z',
        label: 'Main',
      },
    ],
  },
}
