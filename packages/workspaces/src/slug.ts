import { basename } from 'node:path'
import { AgentprotoError, NO_WORKSPACE } from '@agentproto/contracts'
import { SLUG, SLUG_CHARS_MAX } from './workspaces-file.js'

/** A slug for a folder, made from its name, that no other workspace has. */
export function slugFor(path: string, taken: ReadonlySet<string>): string {
  const name = basename(path)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARS_MAX - 8)
    .replace(/^-+|-+$/g, '')
  const base = name === '' ? 'workspace' : name
  for (let count = 1; ; count++) {
    const slug = count === 1 ? base : `${base}-${count}`
    if (slug !== NO_WORKSPACE && !taken.has(slug)) return slug
  }
}

/** @throws `workspace_invalid` */
export function checkSlug(slug: string): string {
  if (SLUG.test(slug) && slug.length <= SLUG_CHARS_MAX && slug !== NO_WORKSPACE) return slug
  const reserved = slug === NO_WORKSPACE
  throw new AgentprotoError(
    'workspace_invalid',
    reserved ? `The slug ${slug} is reserved: it means that no workspace is involved.` : 'The slug is not valid.',
    {
      expected: reserved
        ? 'another slug'
        : `lower-case letters, digits and hyphens, beginning with a letter or digit, at most ${SLUG_CHARS_MAX} characters`,
      given: slug,
    },
  )
}
