import { expect, test } from 'vitest'
import { ROOT } from '../packages.ts'
import { importsOf, sourceFiles, withoutComments } from '../source-files.ts'

// The command line talks to a gateway only through `@agentproto/client`. The exception is the `fetch` that it passes to the client.

const TRANSPORTS: readonly string[] = ['packages/cli/src/http-fetch.ts', 'packages/cli/src/in-process.ts']
const files = sourceFiles(ROOT, 'packages/cli/src')

test('no command sends a request by itself', () => {
  const reaching = files.filter(
    ({ text }) =>
      /(?<![.\w])fetch\(/.test(withoutComments(text)) ||
      importsOf(text).some(
        ({ specifier, how }) => how !== 'type' && /^(?:node:)?(?:https?|http2|undici|ws|eventsource)$/.test(specifier),
      ),
  )
  expect(reaching.map(({ path }) => path).filter((path) => !TRANSPORTS.includes(path))).toEqual([])
  expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining([...TRANSPORTS]))
})
