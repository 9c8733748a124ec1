import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createFleetKey, readFleetKey } from '../src/keys/fleet-key.ts'

function temporaryPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agentproto-key-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'fleet.key')
}

test('17.7 a fleet key has 32 random bytes in a file that only its owner may read', async () => {
  const [first, second] = [temporaryPath(), temporaryPath()]
  await createFleetKey(first)
  await createFleetKey(second)
  expect(statSync(first).mode & 0o777).toBe(0o600)
  expect(await readFleetKey(first)).toHaveLength(32)
  expect(await readFleetKey(first)).not.toEqual(await readFleetKey(second))
})

test('17.7 a fleet key that exists is not replaced', async () => {
  const path = temporaryPath()
  await createFleetKey(path)
  const before = readFileSync(path)
  await expect(createFleetKey(path)).rejects.toMatchObject({ code: 'invalid_request' })
  expect(readFileSync(path)).toEqual(before)
})

test('17.7 a key that others may read, that is missing or that is no key is refused, and never quoted', async () => {
  const path = temporaryPath()
  await expect(readFleetKey(path)).rejects.toMatchObject({ code: 'invalid_request' })
  await createFleetKey(path)
  chmodSync(path, 0o640)
  await expect(readFleetKey(path)).rejects.toMatchObject({ code: 'invalid_request', message: /0600/ })
  chmodSync(path, 0o600)
  for (const text of ['', 'short-secret', `${'s'.repeat(43)} more`, 's'.repeat(44), `${'s'.repeat(42)}!`]) {
    writeFileSync(path, text)
    const refused = await readFleetKey(path).catch((thrown: Error) => thrown)
    expect(refused, text).toMatchObject({ code: 'invalid_request' })
    expect(String(refused)).not.toContain('sss')
    expect(String(refused)).not.toContain('secret')
  }
})
