import { defined, systemClock } from '@agentproto/contracts'
import type { ResolvedSecret } from '@agentproto/secrets'
import { resolveSecret } from '../agent-record.js'
import type { OauthParts, Question, Terminal } from '../provision-host.js'
import type { SetupContext, Step, StepResult } from './setup-context.js'

/**
 * `oauth`: a secret whose parts the host's own flow gets, or the user pastes. A secret that is set and has not expired is
 * kept.
 */
export async function runOauth({ secretSlug: slug }: Step<'oauth'>, context: SetupContext): Promise<StepResult> {
  const { host, signal } = context
  const known = await resolveSecret(slug, context)
  if (known !== undefined && !hasEnded(known, (host.clock ?? systemClock).now()))
    return { state: 'done', secretSlug: slug }
  const parts = await (host.oauth?.(slug, signal) ?? (host.terminal && pasted(slug, host.terminal, signal)))
  if (parts === undefined) return { state: 'pending', needs: { kind: 'secret', slug } }
  const { accessToken, refreshToken, expiresAt } = parts
  await host.secrets.set(slug, { kind: 'oauth', accessToken, ...defined({ refreshToken, expiresAt }) })
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
