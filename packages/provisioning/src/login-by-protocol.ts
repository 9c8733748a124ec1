import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import { type AgentLogin, type AskedAgent, withAgentLogins } from '@agentproto/driver-agent-cli'
import { remoteAddress } from '@agentproto/manifest'
import { type CommandContext, environmentOf } from './manifest-command.js'
import type { Terminal } from './provision-host.js'
import { runInTerminal } from './run-command.js'

/** Whether an agent can be asked for its ways to log in. */
export const namesItsLogins = ({ adapter: { manifest } }: Pick<CommandContext, 'adapter'>): boolean =>
  manifest.protocol === 'acp' && remoteAddress(manifest) === undefined

/**
 * Logs in by a way that the agent itself names, over its protocol or in the terminal.
 * @returns why it is not logged in, or undefined
 * @throws `cancelled`
 */
export async function logInByProtocol(
  context: CommandContext,
  onLine: (line: string) => void,
): Promise<string | undefined> {
  const { adapter, host, signal } = context
  const asking = { adapter, host, env: environmentOf(context), signal, onLine }
  try {
    const chosen = await withAgentLogins(asking, (agent) => logInOrChoose(agent, context))
    if (typeof chosen === 'object') return await runLogin(chosen, context)
    return chosen
  } catch (thrown) {
    if (signal.aborted) throw new AgentprotoError('cancelled', 'The login was cancelled', { cause: thrown })
    if (!isAgentprotoError(thrown) || thrown.code === 'cancelled') throw thrown
    return thrown.message
  }
}

/** @returns the way that needs the terminal, once the agent has ended; why there is none; undefined when it is logged in */
async function logInOrChoose(
  { logins, authenticate }: AskedAgent,
  { host: { terminal }, signal }: CommandContext,
): Promise<AgentLogin | string | undefined> {
  if (logins.length === 0) return 'it names no way to log in'
  const possible = logins.filter((login) => terminal !== undefined || login.terminal === undefined)
  const [first] = possible
  if (first === undefined) return `its ways to log in need a terminal: ${namesOf(logins)}`
  if (possible.length > 1 && terminal === undefined)
    return `it has several ways to log in, and only a terminal can choose: ${namesOf(logins)}`
  const chosen = possible.length === 1 ? first : await choose(possible, terminal as Terminal, signal)
  if (chosen.terminal !== undefined) return chosen
  await authenticate(chosen.id)
  return undefined
}

async function choose(logins: readonly AgentLogin[], terminal: Terminal, signal: AbortSignal): Promise<AgentLogin> {
  const options = logins.map(({ id, name }) => ({ value: id, label: name }))
  const answer = await terminal.ask(
    { kind: 'value', prompt: 'How do you want to log in?', type: 'select', options },
    signal,
  )
  const chosen = logins.find(({ id }) => id === answer)
  if (chosen === undefined) throw new AgentprotoError('cancelled', 'No way to log in was chosen')
  return chosen
}

async function runLogin({ name, terminal: program }: AgentLogin, { host, signal }: CommandContext) {
  if (program === undefined || host.terminal === undefined) return `${name} needs a terminal`
  const ready = { file: program.command, args: program.args, cwd: host.home, env: program.env, signal }
  const exitCode = await host.terminal.run(ready, () => runInTerminal(ready))
  return exitCode === 0 ? undefined : `${name} ended with ${exitCode}`
}

const namesOf = (logins: readonly AgentLogin[]): string => logins.map(({ name }) => name).join('; ')
