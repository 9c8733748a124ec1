import type { Place } from './place.js'
import { goTo } from './router.js'

/** The keys of the console: what they do, for the help; and their actions. */
export interface KeyText {
  readonly keys: readonly string[]
  readonly text: string
  /** Only where there are several hosts. */
  readonly isOfFleet?: true
}

/** What the help shows. */
export const KEYS: readonly KeyText[] = [
  { keys: ['j', 'k'], text: 'next question, previous question' },
  { keys: ['y'], text: 'go to the answer that allows once, or to the first field of a form; Enter gives it' },
  { keys: ['n'], text: 'go to the answer that denies once, or declines; Enter gives it' },
  { keys: ['r'], text: 'go to the reason of a denial' },
  { keys: ['a'], text: 'go to the answer that allows always; Enter shows what it covers' },
  { keys: ['N'], text: 'go to the answer that denies always; Enter shows what it covers' },
  { keys: ['s', 'w', 'g'], text: 'below what a rule covers: go to this session, this workspace, the agent' },
  { keys: ['Esc'], text: 'one step back; out of a text field' },
  { keys: ['g n'], text: 'go to Needs you' },
  { keys: ['g s'], text: 'go to Sessions' },
  { keys: ['g h'], text: 'go to Hosts', isOfFleet: true },
  { keys: ['g u'], text: 'go to Usage' },
  { keys: ['g e'], text: 'go to Settings' },
  { keys: ['?'], text: 'this help' },
]

/** The second key of `g`. */
const PLACES: Readonly<Record<string, Place>> = {
  n: { name: 'needs-you' },
  s: { name: 'sessions' },
  h: { name: 'hosts' },
  u: { name: 'usage' },
  e: { name: 'settings' },
}
/** After `g` the second key is awaited for so long, in milliseconds. */
const SECOND_KEY_MS = 1_500

/** Follows the keys of the page until the returned function is called. They do nothing while a person types. */
export function followKeys(onHelp: () => void): () => void {
  let goAt = -Infinity
  const onKey = (event: KeyboardEvent): void => {
    if (!isCommand(event)) return leaveText(event)
    const isSecond = event.timeStamp - goAt < SECOND_KEY_MS
    goAt = -Infinity
    // Otherwise the letter would also be typed into the field that it leads to.
    if ((isSecond && isPlaceKey(event.key)) || isHelpKey(event.key, onHelp) || isCardKey(event.key))
      event.preventDefault()
    else if (event.key === 'g') goAt = event.timeStamp
  }
  document.addEventListener('keydown', onKey)
  return () => document.removeEventListener('keydown', onKey)
}

/** Escape leaves a text, so that the keys of the console work again. */
function leaveText({ key, target }: KeyboardEvent): void {
  if (key !== 'Escape' || !(target instanceof HTMLElement) || !target.matches(TYPING)) return
  const card = target.closest<HTMLElement>('article.request')
  if (card === null) target.blur()
  else card.focus()
}

/** A key that is held down, with a modifier, in a dialog or in a text is not one of ours. */
function isCommand({ ctrlKey, altKey, metaKey, repeat, defaultPrevented, target }: KeyboardEvent): boolean {
  if (ctrlKey || altKey || metaKey || repeat || defaultPrevented) return false
  if (document.querySelector('dialog[open]') !== null || !(target instanceof HTMLElement)) return false
  return !target.isContentEditable && !target.matches(TYPING)
}

/** Where a letter is text, or chooses from a list. */
const TYPING = 'textarea, select, input:not([type="radio"], [type="checkbox"], [type="button"])'

function isPlaceKey(key: string): boolean {
  const to = PLACES[key]
  if (to !== undefined) goTo(to)
  return to !== undefined
}

function isHelpKey(key: string, onHelp: () => void): boolean {
  if (key === '?') onHelp()
  return key === '?'
}

/** @returns whether the key moved to a question or to one of its answers */
function isCardKey(key: string): boolean {
  const cards = [...document.querySelectorAll<HTMLElement>('article.request')]
  const at = cards.findIndex((card) => card.contains(document.activeElement))
  const to = key === 'j' ? cards[at + 1] : key === 'k' ? cards[at - 1] : answerIn(cards[Math.max(at, 0)], key)
  focus(to)
  return to !== undefined
}

const answerIn = (card: HTMLElement | undefined, key: string): HTMLElement | undefined =>
  [...(card?.querySelectorAll<HTMLElement>('[data-key]') ?? [])].find((each) => each.dataset['key'] === key)

function focus(to: HTMLElement | undefined): void {
  to?.focus({ preventScroll: true })
  to?.scrollIntoView({ block: 'nearest' })
}
