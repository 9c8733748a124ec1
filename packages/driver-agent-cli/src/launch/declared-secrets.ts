import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSecrets, type SecretDeclaration } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'

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
