import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { createRedactor, createSecrets } from '@agentproto/secrets'
import { homeOf } from '../daemon-record.js'
import type { Io } from '../io.js'

/** Forms that are a credential whoever made it. */
const SHAPES: readonly [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[redacted key]'],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, '$1 [redacted]'],
  [/\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs]|npm|hf|AKIA|AIza)[-_]?[\w-]{12,}/g, '[redacted]'],
  [/\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*/g, '[redacted]'],
  [/(\/\/[^\s/:@"]+:)[^\s/@"]+@/g, '$1[redacted]@'],
  // A name that says so, and its value, in JSON, YAML, an environment or an address.
  [
    // Quotes are escaped where a text stands in JSON.
    /((?:api[-_]?key|token|secret|passw(?:or)?d|credential|authorization)[\w-]*(?:\\*["'])?\s*[:=]\s*(?:\\*["'])?)[^\s"',;&}{[\]\\]{4,}/gi,
    '$1[redacted]',
  ],
]

/**
 * Takes out of a text every secret that this home and this environment know, whatever looks like one, and the user's
 * own folder.
 */
export async function supportRedaction(io: Io): Promise<(text: string) => string> {
  const { isSecretName } = await import('@agentproto/subprocess')
  const home = homeOf(io)
  const redactor = createRedactor()
  for (const [name, value = ''] of Object.entries(io.env)) if (isSecretName(name)) redactor.add(value)
  redactor.add((await readFile(home.token, 'utf8').catch(() => '')).trim())
  const secrets = createSecrets({ home: home.root, env: io.env, redactor, onWarning: () => undefined })
  for (const { slug } of await secrets.list().catch(() => [])) await secrets.resolve({ slug }).catch(() => undefined)
  return function redact(text) {
    const known = redactor.redact(text)
    const shaped = SHAPES.reduce((clean, [shape, mark]) => clean.replace(shape, mark), known)
    return shaped.replaceAll(homedir(), '~')
  }
}
