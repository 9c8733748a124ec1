import { existsSync, readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { lives, saidText, startDemoClient } from './demo-client.js'

test('hang never answers, but for a cancel', async () => {
  const demo = await startDemoClient()
  const turn = demo.prompt('hello; hang; never said')
  await expect.poll(() => saidText(demo.updates)).toBe('echo: hello')
  await demo.cancel()
  expect(await turn).toEqual({ stopReason: 'cancelled' })
  expect(saidText(demo.updates)).toBe('echo: hello')
})

test('hang! does not answer a cancel either, and refuses a second prompt', async () => {
  const demo = await startDemoClient()
  let answered = false
  void demo
    .prompt('hang!')
    .finally(() => (answered = true))
    .catch(() => {})
  await demo.cancel()
  await expect(demo.prompt('hello')).rejects.toThrow('a turn is already running')
  expect(answered).toBe(false)
})

const LONG = ['stream 1000 10', 'late 60000', 'run sleep 60', 'flood 100000000']

test.for(LONG)('a cancel ends "%s" at once', async (word) => {
  const demo = await startDemoClient()
  const turn = demo.prompt(`hello; ${word}`)
  await expect.poll(() => demo.stdout()).toContain('echo: hello')
  const cancelledAt = performance.now()
  await demo.cancel()
  expect(await turn).toEqual({ stopReason: 'cancelled' })
  expect(performance.now() - cancelledAt).toBeLessThan(5_000)
})

test('late answers late', async () => {
  const demo = await startDemoClient()
  const startedAt = performance.now()
  expect(await demo.say('late 50')).toBe('I am 50 ms late.')
  expect(performance.now() - startedAt).toBeGreaterThan(45)
})

test('crash exits in the middle of a line', async () => {
  const demo = await startDemoClient()
  await expect(demo.prompt('hello; crash 7')).rejects.toThrow()
  expect(await demo.exited).toBe(7)
  expect(demo.stdout()).toMatch(/echo: hello.*\n\{"jsonrpc":"2.0","method":"session\/upda$/)
})

test('garbage is on stdout, and the turn goes on', async () => {
  const demo = await startDemoClient()
  expect(await demo.say('garbage <<<oops>>>')).toBe('There was garbage.')
  expect(demo.stdout()).toContain('\n<<<oops>>>\n')
})

test('flood sends every update once, in order', async () => {
  const demo = await startDemoClient()
  await demo.prompt('flood 20000')
  const numbers = [...demo.stdout().matchAll(/"text":"(\d+)\\n"/g)].map(([, number]) => Number(number))
  expect(numbers).toEqual(Array.from({ length: 20_000 }, (_, i) => i + 1))
})

test('stubborn ignores SIGTERM and the end of stdin', async () => {
  const demo = await startDemoClient()
  expect(await demo.say('stubborn')).toBe('I will not go.')
  demo.child.kill('SIGTERM')
  demo.child.kill('SIGINT')
  expect(await demo.say('hello')).toBe('echo: hello')
  demo.child.stdin?.end()
  const ended = await Promise.race([demo.exited, new Promise((resolve) => setTimeout(resolve, 700, 'still there'))])
  expect(ended).toBe('still there')
})

test('fork leaves a grandchild that outlives the agent, in a session of its own', async () => {
  const demo = await startDemoClient()
  const grandchild = Number(/grandchild (\d+)/.exec(await demo.say('fork'))?.[1])
  onTestFinished(() => void process.kill(grandchild, 'SIGKILL'))
  demo.child.stdin?.end()
  expect(await demo.exited).toBe(0)
  expect(lives(grandchild)).toBe(true)
})

test('stop ends the turn with any reason', async () => {
  const demo = await startDemoClient()
  expect(await demo.prompt('stop tired')).toEqual({ stopReason: 'tired' })
  expect(await demo.prompt('stop refusal')).toEqual({ stopReason: 'refusal' })
})

test('duplicate uses one id again and again', async () => {
  const demo = await startDemoClient()
  await demo.prompt('duplicate')
  const calls = demo.updates.filter((update) => update.sessionUpdate === 'tool_call')
  expect(calls.map(({ toolCallId }) => toolCallId)).toEqual(['call-again', 'call-again', 'call-again'])
})

test('fail answers with an error, and the next turn is answered', async () => {
  const demo = await startDemoClient()
  await expect(demo.prompt('fail no luck')).rejects.toMatchObject({ code: -32603, data: { details: 'no luck' } })
  expect(await demo.say('hello')).toBe('echo: hello')
})

test('a running command ends with the agent', async () => {
  const demo = await startDemoClient()
  void demo.prompt('run echo $$ > pid\\; sleep 60').catch(() => {})
  await expect.poll(() => existsSync(`${demo.cwd}/pid`) && readFileSync(`${demo.cwd}/pid`, 'utf8')).toMatch(/\d+\n/)
  const pid = Number(readFileSync(`${demo.cwd}/pid`, 'utf8'))
  demo.child.kill('SIGTERM')
  await demo.exited
  await expect.poll(() => lives(pid)).toBe(false)
})

test('13.6 loop makes the same calls with the same results', async () => {
  const demo = await startDemoClient()
  expect(await demo.say('loop 3 2')).toBe('I found nothing.')
  const inputs = demo.updates.flatMap((update) => (update.sessionUpdate === 'tool_call' ? [update.rawInput] : []))
  expect(inputs).toEqual([1, 2, 1, 2, 1, 2].map((place) => ({ place })))
})
