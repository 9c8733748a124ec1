import { AgentprotoError, defined } from '@agentproto/contracts'
import { substitute } from '../command-line.js'
import { endingOf, runManifestCommand } from '../manifest-command.js'
import type { Question } from '../provision-host.js'
import { type SetupContext, shownValues, type Step, stepFailed, type StepResult, valuesFor } from './setup-context.js'
import { promptQuestion } from './step-question.js'

/** `prompt`: a value from the user or the request. */
export async function runPrompt(step: Step<'prompt'>, context: SetupContext): Promise<StepResult> {
  const question = await questionOf(step, context)
  const { host, signal } = context
  const given = givenAnswer(step.id, question, context)
  if (given !== undefined) return { state: 'done', value: given }
  if (host.terminal === undefined) return { state: 'pending', needs: question }
  return { state: 'done', value: checkedAnswer(step.id, question, await host.terminal.ask(question, signal)) }
}

/** The question, with the choices that a command of the manifest lists. */
async function questionOf(step: Step<'prompt'>, context: SetupContext): Promise<Question> {
  const prompt = substitute(step.prompt, shownValues(step.prompt, context))
  return { ...promptQuestion(step), prompt, ...defined({ options: await listedOptions(step, context) }) }
}

const OPTIONS_MAX = 1_000

async function listedOptions(step: Step<'prompt'>, context: SetupContext): Promise<Question['options']> {
  const { options } = step
  if (options === undefined || !('cmd' in options)) return undefined
  const values = await valuesFor(options.cmd, context)
  const end = await runManifestCommand(options.cmd, context, { timeoutMs: options.timeoutMs, values })
  if (end.timedOut || end.exitCode !== 0)
    throw stepFailed(step, context.host.redactor.redact(`its choices cannot be listed: ${endingOf(end)}`))
  const lines = end.stdout.split('\n').map((line) => line.replace(/\r$/, ''))
  const listed = lines.filter((line) => line.trim() !== '').slice(0, OPTIONS_MAX)
  if (listed.length === 0) throw stepFailed(step, 'there is nothing to choose from')
  return listed.map((line) => {
    const [value = '', label = value] = line.split('\t', 2)
    return { value, label }
  })
}

/** The answer that came with the request, if there is one. @throws as {@link checkedAnswer} */
export const givenAnswer = (id: string, question: Question, { inputs }: SetupContext): string | undefined =>
  Object.hasOwn(inputs, id) ? checkedAnswer(id, question, inputs[id]) : undefined

/** An answer as text. @throws `invalid_request`, never with the answer of a secret question */
export function checkedAnswer(id: string, question: Question, answer: unknown): string {
  const text = typeof answer === 'boolean' || typeof answer === 'number' ? String(answer) : answer
  const given =
    typeof text === 'string' && text !== '' ? text : question.default === undefined ? '' : String(question.default)
  const problem = problemWith(question, given)
  if (problem === undefined) return given
  throw new AgentprotoError('invalid_request', `The answer to the step ${id} is not valid`, {
    expected: problem,
    ...(question.type === 'secret' ? {} : { given }),
    data: { field: `inputs.${id}` },
  })
}

function problemWith({ type, options }: Question, given: string): string | undefined {
  if (given === '') return 'a text that is not empty'
  if (given.length > 64 * 1024 || given.includes('\0')) return 'at most 65536 characters without NUL'
  if (type === 'boolean' && given !== 'true' && given !== 'false') return 'true or false'
  if (type !== 'select' || options === undefined || options.some(({ value }) => value === given)) return undefined
  return `one of ${options
    .map(({ value }) => value)
    .slice(0, 20)
    .join(', ')}`
}
