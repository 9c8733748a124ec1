import { readFile, stat, writeFile } from 'node:fs/promises'
import { AgentprotoError } from '@agentproto/contracts'
import { JsonFile, type JsonFileOptions } from '@agentproto/json-file'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { tempFile } from './temp-file.js'

const schema = z.object({ names: z.array(z.string()) })
type Names = z.infer<typeof schema>

const namesIn = (path: string, more: Partial<JsonFileOptions<Names>> = {}): JsonFile<Names> =>
  new JsonFile({ path, what: 'file of names', schema, empty: { names: [] }, ...more })
const add = (file: JsonFile<Names>, name: string): Promise<number> =>
  file.change(({ names }) => [{ names: [...names, name] }, names.length + 1])

test('changes of several users lose nothing, and only the owner can read the file', async () => {
  const path = await tempFile()
  const counts = await Promise.all(['a', 'b', 'c', 'd'].map((name) => add(namesIn(path), name)))
  expect(new Set(counts)).toEqual(new Set([1, 2, 3, 4]))
  expect((await namesIn(path).read()).content.names.toSorted()).toEqual(['a', 'b', 'c', 'd'])
  expect(process.platform === 'win32' || ((await stat(path)).mode & 0o777) === 0o600).toBe(true)
})

test('a change to the same content writes nothing', async () => {
  const path = await tempFile()
  expect(await namesIn(path).change((before) => [before, 'result'])).toBe('result')
  await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a file that cannot be understood is reported by a read, and moved aside by a change', async () => {
  const path = await tempFile()
  const warnings: string[] = []
  const file = namesIn(path, { onWarning: (message) => warnings.push(message) })
  await add(file, 'a')
  await writeFile(path, '{"names":[1]}')
  expect(await file.read()).toEqual({ content: { names: [] }, problem: 'names.0 is not valid' })
  expect(warnings).toEqual([])
  await add(file, 'b')
  expect((await file.read()).content.names).toEqual(['b'])
  const aside = /moved to (.*)\.$/.exec(warnings.join())?.[1] ?? ''
  expect(await readFile(aside, 'utf8')).toBe('{"names":[1]}')
})

test('a lock that another holds is waited for, or is an error at once', async () => {
  const path = await tempFile()
  const busy = (): AgentprotoError => new AgentprotoError('provisioning_busy', 'busy')
  await namesIn(path).locked(async () => {
    const impatient = namesIn(path, { lock: { busy } })
    await expect(impatient.locked(() => Promise.resolve())).rejects.toMatchObject({ code: 'provisioning_busy' })
  })
  expect(await add(namesIn(path), 'a')).toBe(1)
})
