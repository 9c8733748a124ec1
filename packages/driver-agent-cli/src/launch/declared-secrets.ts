import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
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
  const path = join(adapter.directory, secretsRef)
  const text = await readFile(path, 'utf8').catch(() => '')
  const parsed = parseSecrets(text, { path })
  const more = parsed.ok ? parsed.manifest.secrets : []
  return [...own, ...more.filter(({ slug }) => !own.some((secret) => secret.slug === slug))]
}

/** The variables of the declared secrets that are set. */
export async function secretVariables({
  secrets,
  declared,
}: {
  readonly secrets: Pick<Secrets, 'resolve'>
  readonly declared: readonly SecretDeclaration[]
}): Promise<Record<string, string>> {
  const env: Record<string, string> = {}
  for (const { slug, variables } of declared) {
    const resolved = variables.length === 0 ? undefined : await secrets.resolve({ slug, variables })
    if (resolved !== undefined) for (const name of variables) env[name] = resolved.text
  }
  return env
}
