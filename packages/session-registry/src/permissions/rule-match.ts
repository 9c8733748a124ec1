import type { PermissionRule, RuleMatch } from '@agentproto/contracts'
import { looseWords, simpleCommands } from './command-words.js'
import { matchesPath, matchesWords, occursIn } from './pattern.js'
import { isInside } from './real-path.js'
import { BY_PATH, type ToolFacts } from './tool-facts.js'

/**
 * Whether a rule matches a tool call. A rule that allows must match everything that the call does, and never matches what
 * cannot be judged; a rule that denies matches as soon as a part of the call does.
 * @param roots Folders of the session, resolved
 */
export const ruleHolds = ({ decision, match }: PermissionRule, facts: ToolFacts, roots: readonly string[]): boolean =>
  decision === 'deny' ? denies(match, facts) : allows(match, facts, roots)

function denies({ toolKind, path, command, call }: RuleMatch, facts: ToolFacts): boolean {
  return (
    (toolKind === undefined || toolKind === facts.kind || toolKind === facts.statedKind || leaves(toolKind, facts)) &&
    (path === undefined || facts.paths.some((each) => matchesPath(path, each))) &&
    (command === undefined || occursIn(command, looseWords(facts.said))) &&
    (call === undefined || call === facts.looseDigest)
  )
}

export function allows(match: RuleMatch, facts: ToolFacts, roots: readonly string[]): boolean {
  const { toolKind, path, command, call } = match
  if (facts.leavesPlan && toolKind !== 'switch_mode') return false
  if (toolKind !== undefined && toolKind !== facts.kind && !leaves(toolKind, facts)) return false
  // The same call was judged when it was allowed.
  if (call !== undefined) return call === facts.digest
  if (facts.unclear) return false
  if (command !== undefined) return allowsCommands(command, facts, roots)
  if (path !== undefined) return allowsPaths(path, facts)
  return namesWork(facts) && staysInside(facts, roots)
}

/** A title alone proves nothing. */
const namesWork = ({ kind, paths, commands }: ToolFacts): boolean =>
  kind === 'execute' ? commands.length > 0 : paths.length > 0 || !BY_PATH.has(kind)

const staysInside = ({ paths, folders }: ToolFacts, roots: readonly string[]): boolean =>
  [...paths, ...folders].every((each) => isInside(each, roots))

/** The files that a command names do not say what it does. */
const allowsPaths = (pattern: string, { paths, commands }: ToolFacts): boolean =>
  commands.length === 0 && paths.length > 0 && paths.every((each) => matchesPath(pattern, each))

const leaves = (toolKind: RuleMatch['toolKind'], { leavesPlan }: ToolFacts): boolean =>
  leavesPlan && toolKind === 'switch_mode'

function allowsCommands(pattern: string, facts: ToolFacts, roots: readonly string[]): boolean {
  const commands = facts.commands.flatMap((line) => simpleCommands(line) ?? [[]])
  return commands.length > 0 && staysInside(facts, roots) && commands.every((words) => matchesWords(pattern, words))
}
