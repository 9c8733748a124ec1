import type {
  PermissionOption,
  PermissionOptionKind,
  PermissionRequest,
  QuestionRequest,
  RequestFacts,
} from '../agent-request.js'
import type { AnswerRequest } from '../wire/answer-request.js'
import { PERMISSION_OPTION_TEXT, type Quote, ruleText } from './request-text.js'

/** An answer that a person can choose. */
export interface Choice {
  /** The letter that leads to it; empty where another choice has that letter. */
  readonly key: string
  /** What it does, in our words. */
  readonly text: string
  /** What the agent calls it. */
  readonly name?: string
  /** It lets the agent do what it asks for, so everything must have been shown. */
  readonly isPositive: boolean
  /** The answer; or the choices of a second step, which show what holds for longer than once. */
  readonly leads: AnswerRequest | readonly Choice[]
}

/** What the choices depend on besides the options of the agent. */
export interface ChoiceContext {
  readonly facts: RequestFacts | undefined
  /** The workspace of the session, by its slug. */
  readonly workspace: string
  /** Whether the caller may make a rule of a workspace. */
  readonly mayRuleWorkspace: boolean
  readonly quote: Quote
}

/** A letter for the first option of each kind. */
const LETTERS: Readonly<Record<PermissionOptionKind, string>> = {
  allow_once: 'y',
  allow_always: 'a',
  reject_once: 'n',
  reject_always: 'N',
}

/**
 * The answers to a permission request: first the options of the agent, one choice each and in their order, then what the
 * gateway can do where the agent offers less.
 */
export function permissionChoices({ options }: PermissionRequest, context: ChoiceContext): readonly Choice[] {
  const taken = new Set<PermissionOptionKind>()
  const choices = options.map((option): Choice => {
    const { kind, name, optionId } = option
    const key = taken.has(kind) ? '' : LETTERS[kind]
    taken.add(kind)
    return {
      key,
      text: PERMISSION_OPTION_TEXT[kind],
      name,
      isPositive: isAllowing(kind),
      leads: isAlways(kind) ? [...ruleChoices(options, kind, context), agentRemembers(option)] : { optionId },
    }
  })
  return [...choices, ...ownChoices(options, context)]
}

/** The answers to a question without a form. */
export function questionChoices(mode: QuestionRequest['mode']): readonly Choice[] {
  const text = mode === 'url' ? 'I have done it' : 'Accept'
  return [
    { key: 'y', text, isPositive: true, leads: { action: 'accept' } },
    { key: 'n', text: 'Decline', isPositive: false, leads: { action: 'decline' } },
  ]
}

/** Whether a choice has a second step. */
export const hasSecondStep = <C>(leads: AnswerRequest | readonly C[]): leads is readonly C[] => Array.isArray(leads)

type Options = readonly PermissionOption[]
type AlwaysKind = 'allow_always' | 'reject_always'

/** What the agent does not offer, and the gateway can do. */
function ownChoices(options: Options, context: ChoiceContext): readonly Choice[] {
  const has = (kind: PermissionOptionKind): boolean => options.some((option) => option.kind === kind)
  const always = (['allow_always', 'reject_always'] as const).flatMap((kind): Choice[] => {
    const leads = has(kind) ? [] : ruleChoices(options, kind, context)
    if (leads.length === 0) return []
    return [{ key: LETTERS[kind], text: PERMISSION_OPTION_TEXT[kind], isPositive: isAllowing(kind), leads }]
  })
  if (has('reject_once')) return always
  const text = PERMISSION_OPTION_TEXT.reject_once
  return [...always, { key: LETTERS.reject_once, text, isPositive: false, leads: { action: 'cancel' } }]
}

/** Rules of the gateway, each with what it covers. */
function ruleChoices(options: Options, kind: AlwaysKind, context: ChoiceContext): readonly Choice[] {
  const { facts, workspace, mayRuleWorkspace, quote } = context
  const isPositive = isAllowing(kind)
  const once = options.find((option) => option.kind === (isPositive ? 'allow_once' : 'reject_once'))
  const rule = isPositive ? facts?.allowRule : facts?.denyRule
  if (once === undefined || rule === undefined) return []
  const does = `${isPositive ? 'Allow' : 'Deny'} ${ruleText(rule, quote)}`
  const inSession: Choice = {
    key: 's',
    text: `${does}: in this session, also when it is resumed. A rule of agentproto.`,
    isPositive,
    leads: { optionId: once.optionId, remember: 'session' },
  }
  const inWorkspace: Choice = {
    key: 'w',
    text: `${does}: in every session of the workspace ${workspace}, until you remove the rule.`,
    isPositive,
    leads: { optionId: once.optionId, remember: 'workspace' },
  }
  return mayRuleWorkspace ? [inSession, inWorkspace] : [inSession]
}

/** The agent's own option, whose reach only the agent knows. */
const agentRemembers = ({ kind, name, optionId }: PermissionOption): Choice => ({
  key: 'g',
  text: "Let the agent remember it. What that covers and how long it holds is up to the agent: agentproto doesn't see it and can't take it back.",
  name,
  isPositive: isAllowing(kind),
  leads: { optionId },
})

const isAllowing = (kind: PermissionOptionKind): boolean => kind === 'allow_once' || kind === 'allow_always'
const isAlways = (kind: PermissionOptionKind): kind is AlwaysKind => kind === 'allow_always' || kind === 'reject_always'
