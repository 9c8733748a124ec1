import { spawn, spawnSync } from 'node:child_process'
import { expect, onTestFinished } from 'vitest'
import { newMark } from './marked-processes.js'
import { temporaryFolder } from './temporary-folder.js'

const FLAGS = [
  '--headless',
  // Root has no sandbox to give, and the page is ours.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
]

/**
 * The browser of this machine, from Debian's `chromium-headless-shell` or `chromium`; undefined where there is none, or
 * none that can show a page: a container may not let it.
 */
export const chromium = ['chromium-headless-shell', 'chromium'].find((name) => {
  const page = [...FLAGS, '--dump-dom', 'data:text/html,<p>shown</p>']
  return spawnSync(name, page, { encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' }).stdout?.includes('shown')
})

/** Opens a page in a browser of its own, which ends with the test. */
export function openPage(url: string): void {
  const flags = [
    ...FLAGS,
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
