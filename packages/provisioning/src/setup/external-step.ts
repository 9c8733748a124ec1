import { systemClock } from '@agentproto/contracts'
import type { SetupStep } from '@agentproto/manifest'
import { referencesIn } from '../command-line.js'
import type { Question, Terminal } from '../provision-host.js'
import { awaitCallback } from './callback.js'
import { checkedAnswer } from './prompt-step.js'
import { isConfidential, type SetupContext, shownValues, stepFailed, type StepResult } from './setup-context.js'

type ExternalStep = Extract<SetupStep, { kind: 'external' }>

/**
 * `external`: something that the user does on a page. With a callback the page itself sends the value, to a listener on
 * loopback; without one the user enters it.
 */
export async function runExternal(step: ExternalStep, context: SetupContext): Promise<StepResult> {
  const { inputs, host } = context
  const question = questionOf(step, context)
  if (Object.hasOwn(inputs, step.id)) {
    return { state: 'done', value: checkedAnswer(step.id, question, inputs[step.id]) }
  }
  if (host.terminal === undefined) return { state: 'pending', needs: question }
  const { callback } = step
  const asking: Asking = { question, context, terminal: host.terminal }
  const value = callback === undefined ? await askUser(step, asking) : await awaitPage(step, callback, asking)
  return step.persist === undefined ? { state: 'done' } : { state: 'done', value }
}

interface Asking {
  readonly question: Question
  readonly context: SetupContext
  readonly terminal: Terminal
}

async function awaitPage(
  step: ExternalStep,
  { param = 'value', timeoutMs }: NonNullable<ExternalStep['callback']>,
  { context, terminal }: Asking,
): Promise<string> {
  const { signal, host } = context
  const onListening = (callbackUrl: string): void => terminal.show(addressOf(step, context, callbackUrl))
  const value = await awaitCallback({ param, timeoutMs, signal, clock: host.clock ?? systemClock, onListening })
  if (value !== undefined) return value
  throw stepFailed(step, `the page did not redirect within ${Math.round(timeoutMs / 1_000)} s`)
}

async function askUser(step: ExternalStep, { question, context, terminal }: Asking): Promise<string> {
  terminal.show(question.url ?? step.url)
  const answer = checkedAnswer(step.id, question, await terminal.ask(question, context.signal))
  if (question.type === 'boolean' && answer !== 'true') throw stepFailed(step, 'it was not done')
  return answer
}

function questionOf(step: ExternalStep, context: SetupContext): Question {
  const url = addressOf(step, context)
  const { description } = step
  if (step.persist === undefined)
    return { kind: 'value', type: 'boolean', prompt: `${description ?? step.id}: done?`, url }
  return {
    kind: 'value',
    type: isConfidential(step) ? 'secret' : 'text',
    prompt: description ?? `What the page gives for ${step.id}`,
    url,
  }
}

/**
 * The page's address with the URL-encoded values of earlier steps, and the callback: at `${callback_url}`, else as
 * `redirect_uri`.
 */
function addressOf(step: ExternalStep, context: SetupContext, callbackUrl?: string): string {
  const values = new Map(shownValues(step.url, context))
  if (callbackUrl !== undefined) values.set('callback_url', callbackUrl)
  const address = step.url.replaceAll(/\$\{([^}]{1,200})\}/g, (whole, name: string) => {
    const value = values.get(name)
    return value === undefined ? whole : encodeURIComponent(value)
  })
  if (callbackUrl === undefined || referencesIn(step.url).includes('callback_url')) return address
  const url = new URL(address)
  url.searchParams.set('redirect_uri', callbackUrl)
  return url.href
}
