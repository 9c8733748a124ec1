import type { CreatedTokens } from '@agentproto/contracts'

interface Token {
  readonly id: string
  readonly name: string
  /** Id of the token that created it. */
  readonly createdBy?: string
}

interface Ending {
  readonly keepCreated: boolean
  /** With `keepCreated`: the id of the token that counts as the creator from now on; undefined for the owner. */
  readonly heir: string | undefined
}

/** The tokens without one that ends, and without those that it created: directly, or through others that it created. */
export function withoutToken<T extends Token>(
  tokens: readonly T[],
  ending: Token,
  { keepCreated, heir }: Ending,
): CreatedTokens & { readonly left: readonly T[] } {
  const created = new Set([ending.id])
  // A token is after its creator only until that one is rotated, so their order says nothing.
  for (let before = 0; before < created.size;) {
    before = created.size
    for (const { id, createdBy } of tokens) if (createdBy !== undefined && created.has(createdBy)) created.add(id)
  }
  const others = tokens.filter(({ id }) => id !== ending.id)
  const names = others.filter(({ id }) => created.has(id)).map(({ name }) => name)
  if (!keepCreated) return { left: others.filter(({ id }) => !created.has(id)), ended: names, kept: [] }
  return { left: others.map((token) => inherited(token, ending.id, heir)), ended: [], kept: names }
}

function inherited<T extends Token>(token: T, from: string, heir: string | undefined): T {
  if (token.createdBy !== from) return token
  const { createdBy: _, ...rest } = token
  return (heir === undefined ? rest : { ...rest, createdBy: heir }) as T
}
