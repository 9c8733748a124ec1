import type { AnswerRequest, SessionRequest } from '@agentproto/client'
import { type AskedPermission, type OptionKind, OPTION_TEXT, type Rule, ruleText } from './request-words.js'

/** An answer that a person can choose. */
export interface Choice {
  /** The key that leads to it. */
  readonly key: string
  /** What it does, in our words. */
  readonly text: string
  /** What the agent calls it. */
  readonly name?: string
  /** It lets the agent do what it asks for, so everything must have been shown. */
  readonly isPositive: boolean
  /** The answer; or the choices that a second press decides between. */
  readonly leads: AnswerRequest | readonly Choice[]
}

/** What the choices depend on besides the options of the agent. */
export interface ChoiceContext {
  readonly facts?: SessionRequest['facts']
  readonly workspace: string
  /** Whether the caller may make a rule of a workspace. */
  readonly mayRuleWorkspace: boolean
}

const LETTERS: Readonly<Record<OptionKind, string>> = {
  allow_once: 'y',
  allow_always: 'a',
  reject_once: 'n',
  reject_always: 'N',
}

/** The answers to a permission request: the options of the agent, and what the gateway can do where it offers less. */
export function permissionChoices({ options }: AskedPermission, context: ChoiceContext): readonly Choice[] {
  const taken = new Set<OptionKind>()
  const choices = options.map((option): Choice => {
    const key = taken.has(option.kind) ? '' : LETTERS[option.kind]
    taken.add(option.kind)
    return {
      key,
      text: OPTION_TEXT[option.kind],
      name: option.name,
      isPositive: isAllowing(option.kind),
      leads: isAlways(option.kind)
        ? [...ruleChoices(options, option.kind, context), agentRemembers(option)]
        : { optionId: option.optionId },
    }
  })
  return [...choices, ...ownChoices(options, context)]
}

/** The answers to a question without a form. */
export function questionChoices(mode: 'form' | 'url'): readonly Choice[] {
  const text = mode === 'url' ? 'I have done it' : 'Accept'
  return [{ key: 'y', text, isPositive: true, leads: { action: 'accept' } }, DECLINE]
}

const DECLINE: Choice = { key: 'n', text: 'Decline', isPositive: false, leads: { action: 'decline' } }

type Options = AskedPermission['options']

function ownChoices(options: Options, context: ChoiceContext): readonly Choice[] {
  const has = (kind: OptionKind): boolean => options.some((option) => option.kind === kind)
  const always = (['allow_always', 'reject_always'] as const).flatMap((kind): Choice[] => {
    const leads = has(kind) ? [] : ruleChoices(options, kind, context)
    return leads.length === 0
      ? []
      : [{ key: LETTERS[kind], text: OPTION_TEXT[kind], isPositive: isAllowing(kind), leads }]
  })
  const deny: Choice = { key: 'n', text: OPTION_TEXT.reject_once, isPositive: false, leads: { action: 'cancel' } }
  return has('reject_once') ? always : [...always, deny]
}

function ruleChoices(options: Options, kind: AlwaysKind, context: ChoiceContext): readonly Choice[] {
  const isPositive = isAllowing(kind)
  const once = options.find((option) => option.kind === (isPositive ? 'allow_once' : 'reject_once'))
  const rule: Rule | undefined = isPositive ? context.facts?.allowRule : context.facts?.denyRule
  if (once === undefined || rule === undefined) return []
  const does = `${isPositive ? 'Allow' : 'Deny'} ${ruleText(rule)}`
  const inSession: Choice = {
    key: 's',
    text: `${does}: in this session, also when it is resumed. A rule of agentproto.`,
    isPositive,
    leads: { optionId: once.optionId, remember: 'session' },
  }
  const inWorkspace: Choice = {
    key: 'w',
    text: `${does}: in every session of the workspace ${context.workspace}, until you remove the rule.`,
    isPositive,
    leads: { optionId: once.optionId, remember: 'workspace' },
  }
  return context.mayRuleWorkspace ? [inSession, inWorkspace] : [inSession]
}

/** The agent's own option, whose reach only the agent knows. */
const agentRemembers = ({ kind, name, optionId }: Options[number]): Choice => ({
  key: 'g',
  text: "Let the agent remember it. What that covers and how long it holds is up to the agent: agentproto doesn't see it and can't take it back.",
  name,
  isPositive: isAllowing(kind),
  leads: { optionId },
})

type AlwaysKind = 'allow_always' | 'reject_always'
const isAllowing = (kind: OptionKind): boolean => kind === 'allow_once' || kind === 'allow_always'
const isAlways = (kind: OptionKind): kind is AlwaysKind => kind === 'allow_always' || kind === 'reject_always'
