// Replaces the modules in dist/validators, which compile a schema at its first use, by the code that ajv compiles it to.
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { createAjv } from './dist/validators/compile-validator.js'

const folder = fileURLToPath(new URL('dist/validators', import.meta.url))
const ajv = createAjv({ source: true, esm: true })
for (const file of readdirSync(folder)) {
  const [, name] = /^(.+)\.js$/.exec(file) ?? []
  if (name === undefined || name === 'compile-validator') continue
  const code = standaloneCode.default(ajv, { validate: `${name}.schema.json` })
  writeFileSync(`${folder}/${file}`, withImports(code))
  rmSync(`${folder}/${file}.map`, { force: true })
}

/** ajv writes `require` for its runtime even in an ES module. */
function withImports(code) {
  const paths = [...new Set([...code.matchAll(/require\("([^"]+)"\)/g)].map(([, path]) => path))]
  const imports = paths.map((path, index) => `import required${index} from ${JSON.stringify(`${path}.js`)}\n`)
  return `${imports.join('')}${code.replace(/require\("([^"]+)"\)/g, (_, path) => `required${paths.indexOf(path)}`)}\n`
}
