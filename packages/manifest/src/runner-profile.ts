import { parseManifest, type ParseOptions, type ParseResult } from './parse-manifest.js'
import { validate } from './validators/runner.js'

/** A RUNNER.md (AIP-17). The host does not read it: its front matter only has to be a mapping. */
export type RunnerProfile = Readonly<Record<string, unknown>>

/** Parses the text of a RUNNER.md. Never throws for the content of the text. */
export const parseRunner = (text: string, options: ParseOptions): ParseResult<RunnerProfile> =>
  parseManifest<RunnerProfile, RunnerProfile>(text, options, {
    schema: 'runner',
    validate,
    normalise: (document) => document,
  }).result
