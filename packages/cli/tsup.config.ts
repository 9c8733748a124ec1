import { chmodSync, cpSync, existsSync, rmSync } from 'node:fs'
import { defineConfig } from 'tsup'

/**
 * One self-contained package: every dependency is bundled, so that the packed tarball runs where no
 * registry has our other packages. All chunks lie flat in `dist`, because `runtime` finds the catalogue and
 * the demo agent at `../catalog` and `../bin/demo-agent.mjs` from whichever chunk it ended in.
 */
export default defineConfig({
  entry: { main: 'src/main.ts', 'demo-agent': '../demo-agent/src/demo-agent.ts' },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  splitting: true,
  clean: ['!.types/**'],
  dts: false,
  noExternal: [/.*/],
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
    options.chunkNames = '[name]-[hash]'
    options.legalComments = 'eof'
  },
  async onSuccess() {
    copyIn('../demo-agent/bin/demo-agent.mjs', 'bin/demo-agent.mjs')
    copyIn('../adapters/catalog', 'catalog')
    chmodSync('bin/demo-agent.mjs', 0o755)
  },
})

function copyIn(from: string, to: string): void {
  if (!existsSync(from)) throw new Error(`${from} is missing`)
  rmSync(to, { recursive: true, force: true })
  cpSync(from, to, { recursive: true })
}
