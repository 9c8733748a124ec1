import type { SessionRequest } from '@agentproto/client'
import { computed, signal } from '@preact/signals'
import { shown } from '../parts/shown-text.js'

/** A preference of this browser, and no secret. */
const STORED = 'agentproto.notify'
const BODY_CHARS = 200

const isWished = signal(readWish())
const permission = signal(typeof Notification === 'undefined' ? 'denied' : Notification.permission)

/** `impossible`: the browser has none here, as it does for a page that is not on a safe connection, or the person forbade it. */
export const notifying = computed<'on' | 'off' | 'impossible'>(() => {
  if (permission.value === 'denied') return 'impossible'
  return isWished.value && permission.value === 'granted' ? 'on' : 'off'
})

/** Called by a press: a browser asks the person only then. */
export async function setNotifying(isOn: boolean): Promise<void> {
  if (isOn) permission.value = await Notification.requestPermission()
  isWished.value = isOn
  try {
    localStorage.setItem(STORED, String(isOn))
  } catch {
    // A browser without storage forgets the wish.
  }
}

/** Says which requests are new, while the person looks elsewhere. */
export function notifyOf(requests: readonly SessionRequest[]): void {
  if (notifying.value !== 'on' || document.hasFocus()) return
  try {
    for (const request of requests) show(request)
  } catch {
    // On a phone only a service worker may notify: a page that tries is refused, whatever the person allowed.
    permission.value = 'denied'
  }
}

function show({ request, requestId }: SessionRequest): void {
  const title = request.kind === 'permission' ? 'An agent asks for a permission' : 'An agent asks a question'
  const words = request.kind === 'permission' ? (request.toolCall.title ?? '') : request.message
  const notification = new Notification(title, { body: shown(words).slice(0, BODY_CHARS), tag: requestId })
  notification.addEventListener('click', () => {
    window.focus()
    location.hash = '#/'
  })
}

function readWish(): boolean {
  try {
    return localStorage.getItem(STORED) === 'true'
  } catch {
    return false
  }
}
