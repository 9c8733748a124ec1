import { spawn } from 'node:child_process'
import type { CliContext } from './cli-context.js'

/** Whether a browser of this machine can show a page to the person. */
export const hasDesktop = ({ env }: Pick<CliContext, 'env'>): boolean =>
  process.platform === 'darwin' || Boolean(env['DISPLAY']) || Boolean(env['WAYLAND_DISPLAY'])

/**
 * Opens a page of the web, or a file, in the browser of the desktop, where there is one. Other users can read the arguments of a
 * process: an address must hold no secret.
 */
export function openInBrowser(context: Pick<CliContext, 'env'>, address: string): void {
  if (!/^(https?|file):\/\//.test(address) || !hasDesktop(context)) return
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const child = spawn(program, [address], { stdio: 'ignore', detached: true })
  child.once('error', () => undefined)
  child.unref()
}
