import { AgentprotoError } from '@agentproto/contracts'
import type { AuthState, ProvisionEvent } from '@agentproto/contracts/wire'
import type { Auth } from '@agentproto/manifest'
import { agentHome, findAgent } from '@agentproto/driver-agent-cli/installation'
import { logInByProtocol, namesItsLogins } from './login-by-protocol.js'
import { type CommandContext, endingOf, prepareCommand, runManifestCommand } from './manifest-command.js'
import { runInTerminal } from './run-command.js'

/** The user may need a password, a phone and a browser. */
const LOGIN_MS = 15 * 60_000
const CHECK_MS = 30_000

/** Asks the manifest's own check; no answer where it has none, or where the check itself fails. */
export async function loginCompleted(
  commandContext: CommandContext,
): Promise<{ readonly completed?: boolean; readonly problem?: string }> {
  const completesWhen = commandContext.adapter.manifest.auth?.login?.completesWhen
  if (completesWhen === undefined) return {}
  const end = await runManifestCommand(completesWhen.cmd, commandContext, { timeoutMs: CHECK_MS })
  if (end.timedOut || end.exitCode === undefined) return { problem: `${completesWhen.cmd}: ${endingOf(end)}` }
  return { completed: end.exitCode === completesWhen.exitCode }
}

/**
 * Runs the manifest's login (AIP-29 §Auth).
 * @param state what is known before it
 * @throws `auth_required` with the command, where it needs a terminal and there is none, or did not succeed
 */
export async function logIn(
  commandContext: CommandContext,
  state: AuthState,
  emit: (event: ProvisionEvent) => void,
): Promise<void> {
  const { manifest } = commandContext.adapter
  const login = manifest.auth?.login
  if (login === undefined) return byProtocol(commandContext, state, emit)
  const exitCode = await runLogin(login, commandContext, emit)
  if (exitCode !== 0) throw loginRequired(commandContext, `and ${login.cmd} ended with ${exitCode}`)
  if (login.completesWhen !== undefined && (await loginCompleted(commandContext)).completed !== true)
    throw loginRequired(commandContext, `and after ${login.cmd} it still is not`)
  emit(loggedIn(state))
}

const loggedIn = (before: AuthState): ProvisionEvent => ({
  type: 'phase',
  phase: 'login',
  state: 'done',
  ...(before === 'authed' ? { detail: 'again' } : {}),
})

/** Where its manifest has no login command, the agent itself may name ways. */
async function byProtocol(
  context: CommandContext,
  before: AuthState,
  emit: (event: ProvisionEvent) => void,
): Promise<void> {
  if (!namesItsLogins(context)) throw await noLoginCommand(context, 'and its manifest has no login command')
  const { redactor } = context.host
  const why = await logInByProtocol(context, (line) =>
    emit({ type: 'output', stream: 'stderr', line: redactor.redact(line) }),
  )
  if (why === undefined) return emit(loggedIn(before))
  throw await noLoginCommand(context, `its manifest has no login command, and ${redactor.redact(why)}`)
}

async function runLogin(
  login: NonNullable<Auth['login']>,
  commandContext: CommandContext,
  emit: (event: ProvisionEvent) => void,
): Promise<number> {
  const { terminal, redactor } = commandContext.host
  if (login.interactive || login.requiresCallbackUrl) {
    if (terminal === undefined) throw loginRequired(commandContext, 'and its login needs a terminal')
    const ready = await prepareCommand(login.cmd, commandContext)
    return terminal.run(ready, () => runInTerminal(ready))
  }
  const end = await runManifestCommand(login.cmd, commandContext, {
    timeoutMs: LOGIN_MS,
    onLine: (stream, line) => emit({ type: 'output', stream, line: redactor.redact(line) }),
  })
  if (end.timedOut) throw loginRequired(commandContext, `and ${login.cmd}: ${endingOf(end)}`)
  return end.exitCode ?? 128
}

/** Its own program may log in. It is often in a folder that is not on PATH, so its path is named. */
async function noLoginCommand(commandContext: CommandContext, why: string): Promise<AgentprotoError> {
  const { adapter, host } = commandContext
  const { manifest } = adapter
  const found = await findAgent(manifest, host)
  if (waysIn(adapter).length > 0 || found === undefined) return loginRequired(commandContext, why)
  // The login must be in the home that the agent uses.
  const variables = Object.entries(agentHome(manifest, host)?.variables ?? {})
  const command = [...variables.map(([name, value]) => `${name}=${value}`), found.file].join(' ')
  return new AgentprotoError('auth_required', `${manifest.name} is not logged in, ${why}`, {
    hint: `Log in with its own program, if it can: ${command}; what it says of that: agentproto adapters show ${manifest.id}`,
  })
}

/** The error of every surface for a missing login, with the command and the alternatives. */
export function loginRequired({ adapter }: Pick<CommandContext, 'adapter'>, why?: string): AgentprotoError {
  const { name, auth } = adapter.manifest
  const ways = waysIn(adapter)
  const login = auth?.login?.cmd
  const what = `${name} is not logged in${why === undefined ? '' : `, ${why}`}`
  return new AgentprotoError('auth_required', what, {
    ...(ways.length === 0 ? {} : { hint: `To log in, ${ways.join(', or ')}` }),
    data: login === undefined ? {} : { login },
  })
}

/** The ways to log in that a manifest names. */
export function waysIn({ manifest, secrets }: CommandContext['adapter']): readonly string[] {
  const { id, auth } = manifest
  const ways = auth?.login === undefined ? [] : [`run: agentproto adapters login ${id}`]
  const [secret] = secrets?.secrets ?? []
  const variables = auth?.state.env ?? []
  if (secret !== undefined) ways.push(`set a key: agentproto secrets set ${secret.slug}`)
  else if (variables.length > 0) ways.push(`set ${variables.join(' or ')} in the environment of agentproto`)
  return ways
}
