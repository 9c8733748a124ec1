import type { Caller } from '@agentproto/client'

export type Scope = Caller['scope']

/** What each scope allows, after "may". */
export const SCOPE_TEXT: Readonly<Record<Scope, string>> = {
  read: 'only look',
  operate: 'work with sessions',
  admin: 'do everything',
}

export const isScope = (word: string): word is Scope => Object.hasOwn(SCOPE_TEXT, word)
