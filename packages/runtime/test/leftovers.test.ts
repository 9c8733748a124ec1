import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { findMarkedProcesses } from '@agentproto/subprocess'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

test('F43 F22 what a killed gateway left running, a grandchild of its own session too, is ended at the next boot', async () => {
  const home = await temporaryHome()
  const child = fork(fileURLToPath(new URL('./fixtures/doomed-gateway.mjs', import.meta.url)), [home], { execArgv: [] })
  const id = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve(String(message)))
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}`)))
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await exited
  // A stubborn agent and its grandchild live on: their stdin has ended, and they do not care.
  expect(findMarkedProcesses(id).length).toBeGreaterThanOrEqual(2)
  const problems: string[] = []
  const { sessions } = await testGateway({ home, onProblem: (problem) => void problems.push(problem) })
  expect(findMarkedProcesses(id)).toEqual([])
  expect(problems.join()).toContain(id)
  expect(await sessions.get(id)).toMatchObject({ status: 'error', stopReason: 'agent_crashed' })
})
