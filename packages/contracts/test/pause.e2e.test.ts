import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

const built = new URL('../dist/index.js', import.meta.url).href

test('a program that only waits for a pause goes on after it', async () => {
  const program = `import { pause, systemClock } from ${JSON.stringify(built)}
    await pause(systemClock, 20)
    process.stdout.write('on')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program])
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
  const [code] = await once(child, 'close')
  expect({ code, output }).toEqual({ code: 0, output: 'on' })
})
