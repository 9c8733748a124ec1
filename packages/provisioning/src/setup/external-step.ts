import { systemClock } from '@agentproto/contracts'
import { referencesIn, substitute } from '../command-line.js'
import type { Question, Terminal } from '../provision-host.js'
import { awaitCallback } from './callback.js'
import { checkedAnswer, givenAnswer } from './prompt-step.js'
import { type SetupContext, shownValues, type Step, stepFailed, type StepResult } from './setup-context.js'
import { externalQuestion } from './step-question.js'

/**
 * `external`: something that the user does on a page. With a callback the page itself sends the value, to a listener on
 * loopback; without one the user enters it.
 */
export async function runExternal(step: Step<'external'>, context: SetupContext): Promise<StepResult> {
  const { terminal } = context.host
  const question = { ...externalQuestion(step), url: addressOf(step, context) }
  const given = givenAnswer(step.id, question, context)
  if (given !== undefined) return { state: 'done', value: given }
  if (terminal === undefined) return { state: 'pending', needs: question }
  const asking: Asking = { question, context, terminal }
  const value = step.callback === undefined ? await askUser(step, asking) : await awaitPage(step, step.callback, asking)
  return step.persist === undefined ? { state: 'done' } : { state: 'done', value }
}

interface Asking {
  readonly question: Question & { readonly url: string }
  readonly context: SetupContext
  readonly terminal: Terminal
}

async function awaitPage(
  step: Step<'external'>,
  { param = 'value', timeoutMs }: NonNullable<Step<'external'>['callback']>,
  { context, terminal }: Asking,
): Promise<string> {
  const { signal, host } = context
  const onListening = (callbackUrl: string): void => terminal.show(addressOf(step, context, callbackUrl))
  const value = await awaitCallback({ param, timeoutMs, signal, clock: host.clock ?? systemClock, onListening })
  if (value !== undefined) return value
  throw stepFailed(step, `the page did not redirect within ${Math.round(timeoutMs / 1_000)} s`)
}

async function askUser(step: Step<'external'>, { question, context, terminal }: Asking): Promise<string> {
  terminal.show(question.url)
  const answer = checkedAnswer(step.id, question, await terminal.ask(question, context.signal))
  if (question.type === 'boolean' && answer !== 'true') throw stepFailed(step, 'it was not done')
  return answer
}

/**
 * The page's address with the URL-encoded values of earlier steps, and the callback: at `${callback_url}`, else as
 * `redirect_uri`.
 */
function addressOf(step: Step<'external'>, context: SetupContext, callbackUrl?: string): string {
  const values = [...shownValues(step.url, context)]
  if (callbackUrl !== undefined) values.push(['callback_url', callbackUrl])
  const address = substitute(step.url, new Map(values.map(([name, value]) => [name, encodeURIComponent(value)])))
  if (callbackUrl === undefined || referencesIn(step.url).includes('callback_url')) return address
  const url = new URL(address)
  url.searchParams.set('redirect_uri', callbackUrl)
  return url.href
}
