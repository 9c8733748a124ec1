/** Kinds of manifest, by the end of the file name. A prefix ends in a dot, as in `hermes.ACP.md`. */
export const MANIFEST_NAMES = ['AGENT-CLI.md', 'ACP.md', 'SECRETS.md', 'SANDBOX.md', 'RUNNER.md'] as const
export type ManifestName = (typeof MANIFEST_NAMES)[number]

/** The kind of manifest that a file name stands for, if any. */
export const manifestNameOf = (fileName: string): ManifestName | undefined =>
  MANIFEST_NAMES.find((name) => fileName === name || fileName.endsWith(`.${name}`))
