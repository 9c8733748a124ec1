/** Parts of a path with either slash; pure, since the checker also runs where there is no file system. */

export const basename = (path: string): string => path.slice(lastSlash(path) + 1)

/** Name of the folder that holds the file, or none when the path does not say. */
export function parentName(path: string): string | undefined {
  const folder = path.slice(0, Math.max(lastSlash(path), 0))
  const name = folder.slice(lastSlash(folder) + 1)
  return name === '' || name === '.' || name === '..' ? undefined : name
}

const lastSlash = (path: string): number => Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'))
