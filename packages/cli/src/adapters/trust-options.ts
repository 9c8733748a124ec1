import type { CliCommand } from '../cli-command.js'

/** What the user allows an agent of the registry. */
export interface TrustOptions {
  readonly sha256?: string
  readonly allowUnverified?: boolean
  readonly allowScripts?: boolean
  readonly force?: boolean
}

export const addTrustOptions = (command: CliCommand): CliCommand =>
  command
    .option('--sha256 <sum>', 'SHA-256 that the download must have')
    .option('--allow-unverified', 'use a download without a checksum; that of the first one is kept')
    .option('--allow-scripts', 'let npm run the install scripts of the packages')
    .option('--force', 'keep an agent that does not shake hands')
