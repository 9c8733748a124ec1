import { JsonFile } from '@agentproto/json-file'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { tempFile } from './temp-file.js'

test('the example of the README does what it says', async () => {
  const path = await tempFile()

  const schema = z.object({ names: z.array(z.string()) })
  const file = new JsonFile({ path, what: 'file of names', schema, empty: { names: [] } })
  const count = await file.change(({ names }) => [{ names: [...names, 'first'] }, names.length + 1])
  const { content } = await file.read()
  expect([count, content.names]).toEqual([1, ['first']])
})
