/** The places of the console, in the fragment of the address: the same below any path prefix, and never sent to a server. */
export type Place =
  | { readonly name: 'needs-you' }
  /** `host`: only those of one host. */
  | { readonly name: 'sessions'; readonly host?: string }
  | { readonly name: 'session'; readonly id: string }
  | { readonly name: 'changes'; readonly id: string }
  /** `host`: the one that is looked for. */
  | { readonly name: 'hosts'; readonly host?: string }
  | { readonly name: 'usage' }
  | { readonly name: 'settings' }

/** The place of a fragment. */
export function placeAt(fragment: string): Place {
  const [path = '', query] = fragment.replace(/^#\/?/, '').split('?', 2)
  const [first, id, below] = path.split('/').map(decoded)
  const host = new URLSearchParams(query).get('host')
  const ofHost = host === null || host === '' ? {} : { host }
  if (first === 'settings' || first === 'usage') return { name: first }
  if (first === 'hosts') return { name: 'hosts', ...ofHost }
  if (first !== 'sessions') return { name: 'needs-you' }
  if (id === undefined || id === '') return { name: 'sessions', ...ofHost }
  return below === 'changes' ? { name: 'changes', id } : { name: 'session', id }
}

/** The address of a place, for a link. */
export function addressOf(to: Place): string {
  switch (to.name) {
    case 'needs-you':
      return '#/'
    case 'sessions':
      return `#/sessions${queryOf(to)}`
    case 'hosts':
      return `#/hosts${queryOf(to)}`
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

const queryOf = ({ host }: { readonly host?: string }): string =>
  host === undefined ? '' : `?${new URLSearchParams({ host }).toString()}`

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
