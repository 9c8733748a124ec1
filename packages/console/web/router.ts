import { computed, signal } from '@preact/signals'

/** The places of the console, in the fragment of the address: the same below any path prefix, and never sent to a server. */
export type Place =
  | { readonly name: 'needs-you' }
  | { readonly name: 'sessions' }
  | { readonly name: 'session'; readonly id: string }
  | { readonly name: 'changes'; readonly id: string }
  | { readonly name: 'usage' }
  | { readonly name: 'settings' }

const hash = signal(location.hash)
addEventListener('hashchange', () => (hash.value = location.hash))

/** Where the person is. An unknown address is the first place. */
export const place = computed<Place>(() => {
  const [first, id, below] = hash.value.replace(/^#\/?/, '').split('/').map(decoded)
  if (first === 'settings' || first === 'usage') return { name: first }
  if (first !== 'sessions') return { name: 'needs-you' }
  if (id === undefined || id === '') return { name: 'sessions' }
  return below === 'changes' ? { name: 'changes', id } : { name: 'session', id }
})

/** The address of a place, for a link. */
export function addressOf(to: Place): string {
  switch (to.name) {
    case 'needs-you':
      return '#/'
    case 'sessions':
      return '#/sessions'
    case 'session':
      return `#/sessions/${encodeURIComponent(to.id)}`
    case 'changes':
      return `#/sessions/${encodeURIComponent(to.id)}/changes`
    case 'usage':
      return '#/usage'
    case 'settings':
      return '#/settings'
  }
}

export function goTo(to: Place): void {
  location.hash = addressOf(to)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
