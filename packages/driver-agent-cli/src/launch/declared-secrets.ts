import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defined } from '@agentproto/contracts'
import { type AgentCliManifest, parseSecrets, type SecretDeclaration } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import type { Secrets } from '@agentproto/secrets'

/**
 * The secrets that an adapter is given: those of `auth.ref`, those of a SECRETS.md that its sandbox profile refers to by
 * `env.auth.ref`, and those in the headers of its endpoint.
 */
export async function declaredSecrets(adapter: LoadedAgentCli): Promise<readonly SecretDeclaration[]> {
  const declared = await secretsOfFiles(adapter)
  const more = endpointSecrets(adapter.manifest).filter((slug) => !declared.some((secret) => secret.slug === slug))
  return more.length === 0 ? declared : [...declared, ...more.map(headerSecret)]
}

/** The slugs in the headers of an agent that is reached over the network. */
export const endpointSecrets = (manifest: AgentCliManifest): readonly string[] =>
  manifest.protocol === 'acp' ? (manifest.endpoint?.secrets ?? []) : []

/** No variable has it: it goes with the connection. */
const headerSecret = (slug: string): SecretDeclaration => ({
  slug,
  name: slug,
  description: 'Sent when the agent is connected to.',
  kind: 'opaque',
  variables: [],
  fields: {},
  tags: [],
})

async function secretsOfFiles(adapter: LoadedAgentCli): Promise<readonly SecretDeclaration[]> {
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
