import { defined, systemClock } from '@agentproto/contracts'
import type { SetupStep } from '@agentproto/manifest'
import type { OauthValue, ResolvedSecret } from '@agentproto/secrets'
import type { OauthParts, Question, Terminal } from '../provision-host.js'
import type { SetupContext, StepResult } from './setup-context.js'

/**
 * `oauth`: a secret whose parts the host's own flow gets, or the user pastes. A secret that is set and has not expired is
 * kept.
 */
export async function runOauth(
  step: Extract<SetupStep, { kind: 'oauth' }>,
  context: SetupContext,
): Promise<StepResult> {
  const { host, declared, signal } = context
  const { secretSlug: slug } = step
  const known = await host.secrets.resolve(declared.find((secret) => secret.slug === slug) ?? { slug })
  if (known !== undefined && !hasEnded(known, (host.clock ?? systemClock).now()))
    return { state: 'done', secretSlug: slug }
  const parts = await (host.oauth?.(slug, signal) ?? (host.terminal && pasted(slug, host.terminal, signal)))
  if (parts === undefined) return { state: 'pending', needs: { kind: 'secret', slug } }
  await host.secrets.set(slug, valueOf(parts))
  return { state: 'done', secretSlug: slug }
}

const hasEnded = ({ expiresAt }: ResolvedSecret, now: number): boolean =>
  expiresAt !== undefined && Date.parse(expiresAt) <= now

async function pasted(slug: string, terminal: Terminal, signal: AbortSignal): Promise<OauthParts> {
  const question = (prompt: string, type: Question['type']): Question => ({ kind: 'value', prompt, type, default: '' })
  const ask = async (prompt: string, type: Question['type']): Promise<string> =>
    String(await terminal.ask(question(prompt, type), signal)).trim()
  const accessToken = await ask(`Access token of ${slug}`, 'secret')
  const refreshToken = await ask('Refresh token (Enter for none)', 'secret')
  const expiresAt = await ask('When the access token ends, such as 2027-01-31T12:00:00Z (Enter for never)', 'text')
  return { accessToken, ...(refreshToken === '' ? {} : { refreshToken }), ...(expiresAt === '' ? {} : { expiresAt }) }
}

const valueOf = ({ accessToken, refreshToken, expiresAt }: OauthParts): OauthValue => ({
  kind: 'oauth',
  accessToken,
  ...defined({ refreshToken, expiresAt }),
})
