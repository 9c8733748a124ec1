import { spawn } from 'node:child_process'
import { expect, onTestFinished } from 'vitest'
import { findProgram } from '../../tooling/programs.mjs'
import { newMark } from './marked-processes.js'
import { temporaryFolder } from './temporary-folder.js'

const FLAGS = [
  '--headless',
  // The sandbox does not work as root, and the page is our own.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
]

/** Opens a page in a new browser, which is closed after the test. */
export function openPage(url: string): void {
  const flags = [
    ...FLAGS,
    `--user-data-dir=${temporaryFolder('chromium')}`,
    // Without a debugging port the shell exits when the page is loaded.
    '--remote-debugging-port=0',
  ]
  const mark = newMark()
  const options = { stdio: 'ignore', detached: true, env: { ...process.env, ...mark.env } } as const
  const chromium = findProgram('chromium') ?? ''
  const { pid } = spawn(chromium, [...flags, url], options)
  if (pid === undefined) throw new Error(`${chromium} cannot be started`)
  // The command of Debian is a script that starts the browser: the process group has both.
  onTestFinished(async () => {
    process.kill(-pid, 'SIGKILL')
    await expect.poll(() => mark.living(), { timeout: 60_000 }).toEqual([])
  })
}
