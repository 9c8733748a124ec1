import { defined, type PermissionRequest, type RequestFacts, type RequestPath } from '@agentproto/contracts'
import { isInside, realPathsOf } from './real-path.js'
import { matchOfRequest } from './rule-making.js'
import { factsOf, MAX_BASES } from './tool-facts.js'
import { ToolInput } from './tool-input.js'

/**
 * What a person who decides about a tool call has to know, from the facts that rules and modes decide by.
 * @param folders Of the session, its own first, links resolved
 */
export async function requestFacts(
  request: PermissionRequest,
  folders: readonly [string, ...string[]],
): Promise<RequestFacts> {
  const [cwd] = folders
  const input = new ToolInput(request.toolCall)
  const { kind: toolKind, statedKind, commands, unclear } = await factsOf(request.toolCall, cwd)
  const runsIn = await lookUp(input.folders, [cwd], folders)
  const bases = [cwd, ...runsIn.flatMap(({ real }) => real)]
  const paths = await lookUp(input.paths, bases, folders)
  // Of a pattern, only a part that leads out of the folders is worth a row.
  const beyond = (await lookUp(input.roots, bases, folders)).filter(({ inside }) => !inside)
  const [allowRule, denyRule] = await Promise.all([
    matchOfRequest(request, { cwd, decision: 'allow', lifetime: 'session' }),
    matchOfRequest(request, { cwd, decision: 'deny', lifetime: 'session' }),
  ])
  const environment = input.environment.length > 0 ? input.environment : undefined
  const known = defined({ toolKind, statedKind, environment, allowRule, denyRule })
  return { ...known, commands, folders: runsIn, paths: [...paths, ...beyond], urls: [...input.urls], unclear }
}

/** Each name with where it leads. As many bases as rules look at; a name that leads nowhere known is not inside. */
async function lookUp(
  names: ReadonlySet<string>,
  bases: readonly string[],
  folders: readonly string[],
): Promise<readonly RequestPath[]> {
  return Promise.all(
    Array.from(names, async (named) => {
      const real = (await realPathsOf(named, bases.slice(0, MAX_BASES))) ?? []
      return { named, real, inside: real.length > 0 && real.every((path) => isInside(path, folders)) }
    }),
  )
}
