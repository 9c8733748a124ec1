import { parseManifest } from './parse-manifest.js'
import type { ParseOptions, ParseResult } from './parse-manifest.js'

/** A RUNNER.md (AIP-17), which is carried and not read: what is asked of it is front matter that is a mapping. */
export type RunnerProfile = Readonly<Record<string, unknown>>

/** Parses the text of a RUNNER.md. Never throws for what the text holds. */
export const parseRunner = (text: string, options: ParseOptions): ParseResult<RunnerProfile> =>
  parseManifest<RunnerProfile, RunnerProfile>(text, options, {
    schema: 'runner',
    rules: () => undefined,
    normalise: (document) => document,
  })
