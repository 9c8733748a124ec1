import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ownerToken } from '../src/access/owner-token.js'
import { temporaryFolder } from './fixtures/temporary-folder.js'

const modeOf = (path: string): number => statSync(path).mode & 0o777

test.skipIf(process.platform === 'win32')(
  '12.A8 a token file that others can read is replaced and reported; one for the owner alone is kept',
  async () => {
    const path = join(await temporaryFolder(), 'token')
    const problems: string[] = []
    const open = (): string => ownerToken(path, (problem) => problems.push(problem))
    const first = open()
    expect([open(), modeOf(path), problems]).toEqual([first, 0o600, []])
    for (const mode of [0o644, 0o640, 0o660, 0o604]) {
      writeFileSync(path, `${first}\n`)
      chmodSync(path, mode)
      const next = open()
      expect(next).not.toBe(first)
      expect([readFileSync(path, 'utf8').trim(), modeOf(path)]).toEqual([next, 0o600])
    }
    expect(problems).toHaveLength(4)
    expect(problems[0]).toContain('could be read by others')
    expect(problems[0]).not.toContain(first)
  },
)
