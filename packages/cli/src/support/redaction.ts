import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { createGatewayTokens, createRedactor, createSecrets } from '@agentproto/secrets'
import { homeOf } from '../daemon/daemon-record.js'
import type { CliContext } from '../cli-context.js'

/** Text that has the form of a credential. */
const SHAPES: readonly [RegExp, string][] = [
  [
    /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)/g,
    '[redacted key]',
  ],
  [/\bAGE-SECRET-KEY-1[A-Z0-9]{20,}/g, '[redacted key]'],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, '$1 [redacted]'],
  // Prefixes of token issuers.
  [
    /\b(?:sk|pk|rk|gsk|xai|gh[oprsu]|github_pat|glpat|xox[a-e]|xox[prs]|xapp|npm|hf|AKIA|ASIA|AIza|dop_v1|shpat)[-_]?[\w-]{12,}/g,
    '[redacted]',
  ],
  [/\b(?:ya29|SG|hv[bsr])\.[\w-]{16,}(?:\.[\w-]+)*/g, '[redacted]'],
  [/\bpypi-[\w-]{40,}/g, '[redacted]'],
  [/\b\d{8,10}:AA[\w-]{30,}/g, '[redacted]'],
  [/\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*/g, '[redacted]'],
  [/(\/\/[^\s/:@"]+:)[^\s/@"]+@/g, '$1[redacted]@'],
  [/((?:Account|SharedAccess)Key=)[^\s;"'\\]{8,}/gi, '$1[redacted]'],
  [/\b((?:set-)?cookie(?:\\*["'])?\s*[:=]\s*(?:\\*["'])?)[^\r\n"\\]+/gi, '$1[redacted]'],
  // The registry login of a Docker configuration, and a line of .netrc.
  [/("auth\\*"\s*:\s*\\*")[\w+/=-]{6,}/g, '$1[redacted]'],
  [/(\bmachine\s+\S+\s+login\s+\S+\s+password\s+)[^\s"\\]+/g, '$1[redacted]'],
  // A name for a secret with its value, in JSON, YAML, an environment or a URL.
  [
    // Quotes are escaped when the text is inside JSON.
    /((?:api[-_]?key|token|secret|passw(?:or)?d|passphrase|credential|authorization)[\w-]*(?:\\*["'])?\s*[:=]\s*(?:\\*["'])?)[^\s"',;&}{[\]\\]{4,}/gi,
    '$1[redacted]',
  ],
]

/** Redacts every secret of this home and this environment, text that looks like one, and the user's home folder. */
export async function supportRedaction(context: CliContext): Promise<(text: string) => string> {
  const { isSecretName } = await import('@agentproto/subprocess')
  const home = homeOf(context)
  const redactor = createRedactor()
  for (const [name, value = ''] of Object.entries(context.env)) if (isSecretName(name)) redactor.add(value)
  redactor.add((await readFile(home.token, 'utf8').catch(() => '')).trim())
  const secrets = createSecrets({ home: home.root, env: context.env, redactor, onWarning: () => undefined })
  for (const { slug } of await secrets.list().catch(() => [])) await secrets.resolve({ slug }).catch(() => undefined)
  const gateways = createGatewayTokens({ home: home.root, env: context.env, redactor, onWarning: () => undefined })
  for (const { url } of await gateways.list().catch(() => [])) await gateways.get(url).catch(() => undefined)
  return function redact(text) {
    const known = redactor.redact(text)
    const shaped = SHAPES.reduce((clean, [shape, mark]) => clean.replace(shape, mark), known)
    return shaped.replaceAll(homedir(), '~')
  }
}
