import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { defineConfig, type Options } from 'tsup'

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

/**
 * The YAML library's build for browsers is the same code, but the one for Node looks up a debugging variable in
 * `process.env` at every token, which is a third of the time that a manifest takes to be parsed.
 */
const fromManifest = createRequire(new URL('../manifest/package.json', import.meta.url))
const yamlWithoutEnv = `${dirname(fromManifest.resolve('yaml/package.json'))}/browser/index.js`

/**
 * One self-contained package: every dependency is bundled, so that the packed tarball runs where no
 * registry has our other packages. All chunks lie flat in `dist`, because the runtime finds the catalogue
 * and the programs that it starts at `../catalog` and `../bin` from whichever chunk it ended in.
 *
 * There are several bundles. esbuild decides per file, not per entry, what is kept: in one bundle the
 * gateway's use of zod would make every small command load it, and the SDKs' use of all of zod the gateway.
 */
const bundle: Options = {
  format: 'esm',
  platform: 'node',
  target: 'node20',
  splitting: true,
  clean: false,
  dts: false,
  onSuccess: sweep,
  noExternal: [/.*/],
  define: { AGENTPROTO_BUILD: JSON.stringify(buildCommit() ?? null) },
  // CommonJS dependencies ask for Node's own modules by `require` and for their folder by `__dirname`.
  banner: {
    js: [
      "import { createRequire as __createRequire } from 'node:module'",
      "import { dirname as __dirnameOf } from 'node:path'",
      "import { fileURLToPath as __pathOf } from 'node:url'",
      'const require = __createRequire(import.meta.url), __filename = __pathOf(import.meta.url), __dirname = __dirnameOf(__filename)',
    ].join('\n'),
  },
  esbuildOptions(options) {
    // Read the workspace packages' source: the bundle is the same whether or not they were built.
    options.conditions = ['@agentproto/source', 'module', 'import', 'node', 'default']
    options.alias = { yaml: yamlWithoutEnv }
    options.legalComments = 'eof'
    // The text of a program stays in memory as long as the program: no comments, and one byte a character.
    options.minifyWhitespace = true
    options.charset = 'ascii'
  },
}

/**
 * The source of `manifest` compiles a schema at its first use. The bundle takes what the build of that package
 * has compiled, so that neither ajv nor the time it takes is in it.
 */
const compiledValidators: Plugin = {
  name: 'compiled-validators',
  setup(build) {
    build.onLoad({ filter: /[/\\]manifest[/\\]src[/\\]validators[/\\][a-z-]+\.ts$/ }, ({ path }) => {
      const file = path.replace(/([/\\])src([/\\]validators[/\\][a-z-]+)\.ts$/, '$1dist$2.js')
      const contents = readFileSync(file, 'utf8')
      if (contents.includes('compileValidator(')) throw new Error(`${file} is not compiled: build @agentproto/manifest`)
      return { contents, loader: 'js', resolveDir: dirname(file) }
    })
  },
}

/** The commit that is built; undefined outside of a checkout, as in an unpacked source archive. */
function buildCommit(): string | undefined {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

const startedAt = Date.now() - 1
let bundlesLeft = 5

copyIn('../demo-agent/bin/demo-agent.mjs', 'bin/demo-agent.mjs')
for (const name of ['egress-relay.mjs', 'sandbox-probe.mjs']) copyIn(`../sandbox/bin/${name}`, `bin/${name}`)
// It is started by the runtime, and lives through upgrades: all of it is in one file.
copyIn('../keeper/bin/agentproto-keeper.mjs', 'bin/agentproto-keeper.mjs')
// It finds its native module where this package is installed, if the platform has one.
copyIn('../adapter-pty-repl/bin/pty-host.mjs', 'bin/pty-host.mjs')
copyIn('../adapters/catalog', 'catalog')
// The runtime finds the console at `../app`.
copyIn('../console/app', 'app')
copyIn('../adapters/dist/catalogue.json', 'dist/catalogue.json')
// A new folder: the sweep below removes an old one.
rmSync('dist/schemas', { recursive: true, force: true })
copyIn('../manifest/src/schemas', 'dist/schemas')
chmodSync('bin/demo-agent.mjs', 0o755)

/** What one bundle leaves to another, as a file beside it. */
const apart = (packages: Readonly<Record<string, string>>): Plugin => ({
  name: 'apart',
  setup(build) {
    build.onResolve({ filter: /^@agentproto\// }, ({ path }) => {
      const file = packages[path]
      return file === undefined ? undefined : { path: file, external: true }
    })
  },
})

/** What the gateway imports only when the first agent needs it. */
const LATER = {
  '@agentproto/mcp-tools': './mcp-tools.js',
  '@agentproto/gateway-http/openapi': './openapi.js',
  '@agentproto/acp': './acp.js',
  '@agentproto/acp-server': './acp-server.js',
  '@agentproto/arm-mcp': './arm-mcp.js',
  '@agentproto/fleet': './fleet.js',
  '@agentproto/adapter-pty-repl': './adapter-pty-repl.js',
} as const

export default defineConfig([
  {
    ...bundle,
    entry: { main: 'src/main.ts' },
    esbuildPlugins: [compiledValidators, apart({ ...LATER, '@agentproto/runtime': './gateway.js' })],
  },
  {
    ...bundle,
    entry: { gateway: '../runtime/src/index.ts' },
    esbuildPlugins: [compiledValidators, apart(LATER)],
  },
  {
    ...bundle,
    entry: {
      'mcp-tools': '../mcp-tools/src/index.ts',
      openapi: '../gateway-http/src/openapi.ts',
      acp: '../arms/acp/src/index.ts',
      'acp-server': '../acp-server/src/index.ts',
      'arm-mcp': '../arms/mcp/src/index.ts',
      fleet: '../fleet/src/index.ts',
      'adapter-pty-repl': '../adapter-pty-repl/src/index.ts',
    },
  },
  { ...bundle, entry: { 'demo-agent': '../demo-agent/src/demo-agent.ts' } },
  // Nothing but Node's own modules is in it, so it needs no `require`.
  { ...bundle, banner: {}, entry: { 'agentproto-keeper': '../keeper/src/agentproto-keeper.ts' } },
])

/**
 * What an earlier build left would be packed, so it goes when every bundle is written, and not before: who
 * runs the command meanwhile has one build or the other. The compiler's own output in `.types` stays.
 */
function sweep(): Promise<void> {
  bundlesLeft -= 1
  if (bundlesLeft > 0) return Promise.resolve()
  for (const name of readdirSync('dist')) {
    if (name !== '.types' && statSync(`dist/${name}`).mtimeMs < startedAt) rmSync(`dist/${name}`)
  }
  return Promise.resolve()
}

function copyIn(from: string, to: string): void {
  if (!existsSync(from)) throw new Error(`${from} is missing`)
  cpSync(from, to, { recursive: true })
  if (!statSync(to).isDirectory()) return
  for (const name of readdirSync(to)) {
    if (!existsSync(`${from}/${name}`)) rmSync(`${to}/${name}`, { recursive: true })
  }
}
