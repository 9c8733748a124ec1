import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defined } from '@agentproto/contracts'
import { parseSecrets, type SecretDeclaration } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import type { Secrets } from '@agentproto/secrets'

/**
 * The secrets that an adapter is given: those of `auth.ref`, and those of a SECRETS.md that its sandbox profile
 * refers to by `env.auth.ref`.
 */
export async function declaredSecrets(adapter: LoadedAgentCli): Promise<readonly SecretDeclaration[]> {
  const own = adapter.secrets?.secrets ?? []
  const { secretsRef } = adapter.sandbox.env
  if (secretsRef === undefined || secretsRef === adapter.manifest.auth?.ref) return own
  const more = await secretsIn(join(adapter.directory, secretsRef), adapter)
  return [...own, ...more.filter(({ slug }) => !own.some((secret) => secret.slug === slug))]
}

interface ReadSecrets {
  readonly text: string
  readonly secrets: readonly SecretDeclaration[]
}

/** A gateway that goes on with many agents of one adapter parses its file once, and again when it changes. */
const READ = new WeakMap<LoadedAgentCli, ReadSecrets>()

async function secretsIn(path: string, adapter: LoadedAgentCli): Promise<readonly SecretDeclaration[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const before = READ.get(adapter)
  if (before?.text === text) return before.secrets
  const parsed = parseSecrets(text, { path })
  const secrets = parsed.ok ? parsed.manifest.secrets : []
  READ.set(adapter, { text, secrets })
  return secrets
}

export interface WantedSecrets {
  readonly secrets: Pick<Secrets, 'resolve'>
  readonly declared: readonly SecretDeclaration[]
}

/** The variables of the declared secrets that are set, each with the part of the value that it is declared to get. */
export async function secretVariables({ secrets, declared }: WantedSecrets): Promise<Record<string, string>> {
  const env: Record<string, string> = {}
  for (const { slug, variables, field } of declared.flatMap(partsOf)) {
    const resolved = await secrets.resolve({ slug, variables, ...defined({ field }) })
    if (resolved !== undefined) for (const name of variables) env[name] = resolved.text
  }
  return env
}

/** A declared secret once for each part of its value, with the variables that get that part. */
const partsOf = ({ slug, variables, fields }: SecretDeclaration) =>
  [...new Set(variables.map((name) => fields[name]))].map((field) => ({
    slug,
    field,
    variables: variables.filter((name) => fields[name] === field),
  }))
