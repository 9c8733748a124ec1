import { isAbsolute, join, sep } from 'node:path'
import { AgentprotoError, defined, type PermissionRequest, type RuleMatch } from '@agentproto/contracts'
import type { AddRuleRequest } from '@agentproto/contracts/wire'
import { quoted, simpleCommands } from './command-words.js'
import { escapePattern, patternWords } from './pattern.js'
import { realPath } from './real-path.js'
import type { RuleDraft } from './rule-book.js'
import { BY_PATH, factsOf, type ToolFacts } from './tool-facts.js'

/** Makes the match of a rule: from what a person writes, or from a request that a person answers. */

/**
 * The match that a person wrote, with an absolute path.
 * @param cwd Where a relative path begins
 * @throws `invalid_request`
 */
export async function matchOf({ decision, toolKind, path, command }: AddRuleRequest, cwd: string): Promise<RuleMatch> {
  if (toolKind === undefined && path === undefined && command === undefined) {
    throw invalid('A rule must say what it is about', { expected: 'toolKind, path or command', field: 'toolKind' })
  }
  if (path !== undefined && command !== undefined && decision === 'allow') {
    throw invalid('The files that a command names do not say what it does', {
      expected: 'path or command',
      field: 'path',
    })
  }
  if (command !== undefined) assertWords(command)
  return defined({ toolKind, path: path === undefined ? undefined : await absolutePattern(path, cwd), command })
}

/**
 * The match for a request's tool call: to allow, this call alone; to deny, also its command or path, where these are clear.
 * @returns undefined where it says nothing but its title
 */
export async function matchOfRequest(
  { toolCall }: PermissionRequest,
  { cwd, decision, lifetime }: Pick<RuleDraft, 'decision' | 'lifetime'> & { readonly cwd: string },
): Promise<RuleMatch | undefined> {
  const facts = await factsOf(toolCall, cwd)
  const isWide = decision === 'deny' && lifetime !== 'once'
  const wide = isWide ? (commandMatch(facts) ?? pathMatch(facts)) : undefined
  const call = decision === 'allow' ? facts.digest : facts.looseDigest
  if (wide !== undefined || call === undefined || facts.nul) return wide
  return { ...(facts.leavesPlan ? { toolKind: 'switch_mode' } : {}), call }
}

function commandMatch({ kind, commands, folders, unclear }: ToolFacts): RuleMatch | undefined {
  const [words, more] = commands.flatMap((line) => simpleCommands(line) ?? [])
  if (kind !== 'execute' || unclear || words === undefined || more !== undefined || folders.length > 0) return undefined
  return { toolKind: kind, command: words.map(patternWord).join(' ') }
}

function pathMatch({ kind, paths }: ToolFacts): RuleMatch | undefined {
  const [path, more] = paths
  if (kind === undefined || !BY_PATH.has(kind) || path === undefined || more !== undefined) return undefined
  return { toolKind: kind, path: escapePattern(path.split(sep).join('/')) }
}

const patternWord = (word: string): string => {
  const escaped = escapePattern(word)
  return /[\s]/.test(word) || word === '' ? `"${escaped}"` : escaped
}

function assertWords(command: string): void {
  if (command.includes('\0')) throw invalid('The command holds NUL', { expected: 'no NUL', field: 'command' })
  const plain = patternWords(command).map((word) => quoted(word.replaceAll(/\\([*?\\])|[*?]/g, 'x')))
  if (plain.length > 0 && simpleCommands(command.replaceAll(/[*?\\]/g, 'x'))?.length === 1) return
  throw invalid('The command pattern is not one simple command', {
    expected: 'words, with * within a word and a last ** for any words, such as "git log **"',
    field: 'command',
    given: command,
  })
}

/** Links in the fixed part of the pattern are followed now, so that the rule keeps meaning the same folder. */
async function absolutePattern(path: string, cwd: string): Promise<string> {
  if (path.includes('\0')) throw invalid('The path holds NUL', { expected: 'no NUL', field: 'path' })
  const names = path.split('/')
  if (names.includes('..')) throw invalid('The path contains ..', { expected: 'no ..', field: 'path', given: path })
  const open = names.findIndex((name) => /[*?]/.test(name.replaceAll(/\\[*?\\]/g, '')))
  const fixed = (open < 0 ? names : names.slice(0, open)).join('/').replaceAll(/\\([*?\\])/g, '$1')
  const at = isAbsolute(path) ? fixed || '/' : join(cwd, fixed)
  const real = await realPath(at)
  if (real === undefined)
    throw invalid('The path cannot be looked at', { expected: 'a path', field: 'path', given: path })
  const rest = open < 0 ? [] : names.slice(open)
  return [real === '/' && rest.length > 0 ? '' : escapePattern(real.split(sep).join('/')), ...rest].join('/')
}

interface Parts {
  readonly expected: string
  readonly field: string
  readonly given?: string
}

const invalid = (what: string, { field, ...parts }: Parts): AgentprotoError =>
  new AgentprotoError('invalid_request', what, { ...parts, data: { field } })
