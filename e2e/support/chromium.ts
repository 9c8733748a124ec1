import { spawn, spawnSync } from 'node:child_process'
import { expect, onTestFinished } from 'vitest'
import { newMark } from './marked-processes.js'
import { temporaryFolder } from './temporary-folder.js'

/** The browser of this machine, from Debian's `chromium-headless-shell` or `chromium`; undefined where there is none. */
export const chromium = ['chromium-headless-shell', 'chromium'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
)

/** Opens a page in a browser of its own, which ends with the test. */
export function openPage(url: string): void {
  const flags = [
    '--headless',
    // Root has no sandbox to give, and the page is ours.
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--no-first-run',
    `--user-data-dir=${temporaryFolder('chromium')}`,
    // Without somebody who could look at it the shell ends when the page is loaded.
    '--remote-debugging-port=0',
  ]
  const mark = newMark()
  const options = { stdio: 'ignore', detached: true, env: { ...process.env, ...mark.env } } as const
  const { pid } = spawn(chromium ?? '', [...flags, url], options)
  if (pid === undefined) throw new Error(`${chromium} cannot be started`)
  // Debian's command is a script that starts the browser: the group has them all.
  onTestFinished(async () => {
    process.kill(-pid, 'SIGKILL')
    await expect.poll(() => mark.living(), { timeout: 60_000 }).toEqual([])
  })
}
