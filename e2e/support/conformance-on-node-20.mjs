// The conformance suite imports `globSync`, which Node 20 does not have, for a command that is not used here.
import { register } from 'node:module'

const SHIM = `data:text/javascript,${encodeURIComponent(`
export * from 'node:fs'
export { default } from 'node:fs'
export const globSync = () => []
`)}`
const hooks = `
export async function resolve(specifier, context, next) {
  const meant = specifier === 'fs' && context.parentURL?.includes('@modelcontextprotocol/conformance')
  return meant ? { url: ${JSON.stringify(SHIM)}, shortCircuit: true } : next(specifier, context)
}
`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
