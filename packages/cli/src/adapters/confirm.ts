import type { CliContext } from '../cli-context.js'
import { askValue } from './setup-terminal.js'

/** Whether a person can be asked. */
export const isAttended = ({ stdin, stderr }: CliContext): boolean => stdin.isTTY === true && stderr.isTTY === true

/** Asks yes or no; no is the default. @throws `cancelled` */
export const confirm = async (context: CliContext, prompt: string, signal: AbortSignal): Promise<boolean> =>
  (await askValue(context, { kind: 'value', type: 'boolean', prompt, default: false }, signal)) === true
