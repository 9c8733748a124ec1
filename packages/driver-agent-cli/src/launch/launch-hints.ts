import { asList, asString, defined } from '@agentproto/contracts'
import type { AgentCliManifest } from '@agentproto/manifest'
import { manifestHint, member, staysBelow, textsOf } from './manifest-hint.js'

/**
 * Facts about an agent's program under `metadata.agentproto` of its manifest, beyond AIP-45. Each is optional; a value of
 * the wrong shape counts as absent.
 */
export interface LaunchHints {
  /**
   * `launch`: files below the agent's own prefix that are started instead of what npm linked, the first that
   * is there. `{os}` and `{arch}` are Node's names. A native binary, or a script that is run under Node: an
   * npm launcher between them and the host would orphan them.
   */
  readonly files: readonly string[]
  /** `node`: range of Node versions that the agent runs on, where its own `engines` is too strict. */
  readonly node?: string
  /** `python`: range of Python versions that the agent runs on. */
  readonly python?: string
  /** `doctor.prompt` and `doctor.long_prompt`: the prompts of an examination. */
  readonly prompt?: string
  readonly longPrompt?: string
  /** `resume_after_ms`: how long after its start a session can first be resumed; at most two minutes. */
  readonly resumeAfterMs: number
  /** `install_scripts`: whether npm runs the scripts of the packages that it installs. */
  readonly installScripts: 'run' | 'skip'
  /** `unpack`: whether `download` unpacks the whole archive, or the program alone. */
  readonly unpack: 'all' | 'program'
  /** `registry.version`: that of the entry which the manifest was written from; absent for any other manifest. */
  readonly registryVersion?: string
  /** `unverified`: what the manifest's author has not tried. */
  readonly unverified: readonly string[]
}

/** Reads the hints of a manifest. */
export function launchHints(manifest: Pick<AgentCliManifest, 'metadata'>): LaunchHints {
  const doctor = manifestHint(manifest, 'doctor')
  return {
    files: textsOf(manifestHint(manifest, 'launch')).map(forThisHost).filter(staysBelow),
    resumeAfterMs: milliseconds(manifestHint(manifest, 'resume_after_ms')),
    installScripts: manifestHint(manifest, 'install_scripts') === 'skip' ? 'skip' : 'run',
    unpack: manifestHint(manifest, 'unpack') === 'all' ? 'all' : 'program',
    unverified: textsOf(asList(manifestHint(manifest, 'unverified'))),
    ...defined({
      node: asString(manifestHint(manifest, 'node')) || undefined,
      python: asString(manifestHint(manifest, 'python')) || undefined,
      prompt: asString(member(doctor, 'prompt')) || undefined,
      registryVersion: asString(member(manifestHint(manifest, 'registry'), 'version')) || undefined,
      longPrompt: asString(member(doctor, 'long_prompt')) || undefined,
    }),
  }
}

const RESUME_AFTER_MS_MAX = 120_000

const milliseconds = (value: unknown): number =>
  typeof value === 'number' && value > 0 ? Math.min(value, RESUME_AFTER_MS_MAX) : 0

const forThisHost = (file: string): string =>
  file.replaceAll('{os}', process.platform).replaceAll('{arch}', process.arch)
