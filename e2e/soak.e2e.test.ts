import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const SOAK = fileURLToPath(new URL('./soak.mjs', import.meta.url))

interface Quarter {
  readonly rssMb: number
  readonly descriptors: number
}

test('many sessions one after the other leak no descriptor', { timeout: 300_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SOAK, '--quick'])
  const { report, tight } = JSON.parse(stdout) as { readonly report: readonly Quarter[]; readonly tight: boolean }
  expect(report).toHaveLength(5)
  expect(tight, stdout).toBe(true)
})
