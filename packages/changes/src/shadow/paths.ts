import { AgentprotoError } from '@agentproto/contracts'

/** Checked paths of a request, without `/` at their ends; absent for all. @throws `path_invalid` */
export function checkPaths(paths: readonly string[] | undefined): readonly string[] | undefined {
  const checked = paths?.map(checkPath)
  return checked?.includes('') === true ? undefined : checked
}

/** Whether a path is one of these, or below one. */
export const isWanted = (path: string, paths: readonly string[] | undefined): boolean =>
  paths === undefined || paths.some((each) => path === each || path.startsWith(`${each}/`))

function checkPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  const isOutside = path.startsWith('/') || path.includes('\0') || parts.includes('..')
  if (path !== '' && !isOutside) return parts.join('/')
  throw new AgentprotoError('path_invalid', 'The path cannot be used.', {
    expected: 'a path relative to the folder, inside of it, with `/`',
    given: path,
  })
}
