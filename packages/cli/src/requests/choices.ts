import type { PermissionOption, PermissionOptionKind, QuestionRequest, RuleMatch } from '@agentproto/contracts'
import type { AnswerRequest } from '@agentproto/contracts/wire'
import { OPTION_TEXT, ruleText } from '../render/request-kind.js'
import type { AskedRequest } from '../render/request-content.js'

/** An answer and the keys that give it. */
export interface Choice {
  /** The first one is shown. */
  readonly keys: readonly string[]
  /** What it does, in our words. */
  readonly text: string
  /** What the agent calls it. */
  readonly name?: string
  /** It lets the agent do what it asks for, so everything must have been shown. */
  readonly isPositive: boolean
  /** The answer; or the choices that a second key decides between. */
  readonly leads: AnswerRequest | readonly Choice[]
}

/** A letter for the first option of each kind; every option also has its number. */
const LETTERS: Readonly<Record<PermissionOptionKind, string>> = {
  allow_once: 'y',
  allow_always: 'a',
  reject_once: 'n',
  reject_always: 'N',
}

/** The answers to a permission request: the options of the agent, and a denial where it offers none. */
export function permissionChoices(asked: AskedRequest, options: readonly PermissionOption[]): readonly Choice[] {
  const taken = new Set<string>()
  const choices = options.map((option, index): Choice => {
    const letter = LETTERS[option.kind]
    const isFirst = !taken.has(letter)
    taken.add(letter)
    return {
      keys: [...(isFirst ? [letter] : []), ...(index < 9 ? [String(index + 1)] : [])],
      text: OPTION_TEXT[option.kind],
      name: option.name,
      isPositive: isAllowing(option.kind),
      leads: isAlways(option.kind) ? alwaysChoices(asked, option.kind, option) : { optionId: option.optionId },
    }
  })
  return [...choices, ...ownChoices(asked, options)]
}

/** The answers to a question without a form. */
export function questionChoices({ mode }: QuestionRequest): readonly Choice[] {
  const text = mode === 'url' ? 'I have done it' : 'Accept'
  return [
    { keys: ['y'], text, isPositive: true, leads: { action: 'accept' } },
    { keys: ['n'], text: 'Decline', isPositive: false, leads: { action: 'decline' } },
  ]
}

/** What the agent does not offer, and the gateway can do. */
function ownChoices(asked: AskedRequest, options: readonly PermissionOption[]): readonly Choice[] {
  const has = (kind: PermissionOptionKind): boolean => options.some((option) => option.kind === kind)
  const always = (['allow_always', 'reject_always'] as const).flatMap((kind): Choice[] => {
    const leads = has(kind) ? [] : alwaysChoices(asked, kind)
    return leads.length === 0
      ? []
      : [{ keys: [LETTERS[kind]], text: OPTION_TEXT[kind], isPositive: isAllowing(kind), leads }]
  })
  const deny: Choice = { keys: ['n'], text: OPTION_TEXT.reject_once, isPositive: false, leads: { action: 'cancel' } }
  return has('reject_once') ? always : [...always, deny]
}

/**
 * What can be decided for longer than once, each with what it covers: a rule of the gateway, or the agent's own option, whose
 * reach only the agent knows.
 */
function alwaysChoices(
  { request, facts, session }: AskedRequest,
  kind: 'allow_always' | 'reject_always',
  option?: PermissionOption,
): readonly Choice[] {
  const isPositive = isAllowing(kind)
  const once = optionOf(request, isPositive ? 'allow_once' : 'reject_once')
  const rule = isPositive ? facts?.allowRule : facts?.denyRule
  const ours = once === undefined || rule === undefined ? [] : ruleChoices({ once, rule, isPositive, session })
  if (option === undefined) return ours
  const text =
    "Let the agent remember it. What that covers and how long it holds is up to the agent: agentproto doesn't see it and can't take it back."
  return [...ours, { keys: ['g'], text, name: option.name, isPositive, leads: { optionId: option.optionId } }]
}

interface RuleOf extends Pick<Choice, 'isPositive'>, Pick<AskedRequest, 'session'> {
  readonly once: PermissionOption
  readonly rule: RuleMatch
}

function ruleChoices({ once: { optionId }, rule, isPositive, session }: RuleOf): readonly Choice[] {
  const does = `${isPositive ? 'Allow' : 'Deny'} ${ruleText(rule)}`
  return [
    {
      keys: ['s'],
      text: `${does}: in this session, also when it is resumed. A rule of agentproto.`,
      isPositive,
      leads: { optionId, remember: 'session' },
    },
    {
      keys: ['w'],
      text: `${does}: in every session of the workspace ${session.workspaceSlug}, until you remove the rule.`,
      isPositive,
      leads: { optionId, remember: 'workspace' },
    },
  ]
}

const optionOf = (request: AskedRequest['request'], kind: PermissionOptionKind): PermissionOption | undefined =>
  request.kind === 'permission' ? request.options.find((option) => option.kind === kind) : undefined

const isAllowing = (kind: PermissionOptionKind): boolean => kind === 'allow_once' || kind === 'allow_always'
const isAlways = (kind: PermissionOptionKind): kind is 'allow_always' | 'reject_always' =>
  kind === 'allow_always' || kind === 'reject_always'
