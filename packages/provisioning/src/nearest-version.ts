import coerce from 'semver/functions/coerce.js'
import compare from 'semver/functions/compare.js'
import parse from 'semver/functions/parse.js'

/**
 * The version that comes nearest to one that is gone, of the same major version: the next one, else the last one before it. A
 * pre-release counts only if the one that is gone was one.
 */
export function nearestVersion(gone: string, versions: readonly string[]): string | undefined {
  // Of a version of four parts the first three count.
  const wanted = parse(gone) ?? coerce(gone)
  if (wanted === null) return undefined
  const near = versions
    .map((version) => parse(version))
    .filter((version) => version !== null)
    .filter(
      ({ major, prerelease }) => major === wanted.major && (prerelease.length === 0 || wanted.prerelease.length > 0),
    )
    .toSorted(compare)
  const next = near.find((version) => compare(version, wanted) >= 0)
  return (next ?? near.at(-1))?.version
}
