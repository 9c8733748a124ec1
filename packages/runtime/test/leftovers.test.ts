import { fork, spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type AgentProcessInfo, homeLayout, type StoredSession } from '@agentproto/contracts/agent'
import { findMarkedProcesses, identify } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { sharedDemo } from './fixtures/shared-demo.js'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

test('F43 F22 what a killed gateway left running, a grandchild of its own session too, is ended at the next boot', async () => {
  const home = await temporaryHome()
  const id = await killedGateway([home])
  // A stubborn agent and its grandchild live on: their stdin has ended, and they do not care.
  expect(findMarkedProcesses(id).length).toBeGreaterThanOrEqual(2)
  const problems: string[] = []
  const { sessions } = await testGateway({ home, onProblem: (problem) => void problems.push(problem) })
  expect(findMarkedProcesses(id)).toEqual([])
  expect(problems.join()).toContain(id)
  expect(await sessions.get(id)).toMatchObject({ status: 'error', stopReason: 'agent_crashed' })
})

test('F43 what a killed gateway left of a shared process is found by the session that is left of it', async () => {
  const home = await temporaryHome()
  // The first session had ended; a process with its marker would never be found.
  const id = await killedGateway([home, await sharedDemo(home)])
  expect(findMarkedProcesses(id)).toEqual([])
  const record = JSON.parse(await readFile(join(homeLayout(home).sessions, id, 'meta.json'), 'utf8')) as StoredSession
  const { marker } = record.process as AgentProcessInfo
  expect(marker).toMatch(/^shared_/)
  expect(findMarkedProcesses(marker).length).toBeGreaterThanOrEqual(2)
  await testGateway({ home })
  expect(findMarkedProcesses(marker)).toEqual([])
})

test('F29 a stranger’s process that has got the pid of a dead agent is left alone', async () => {
  const home = await temporaryHome()
  const first = await testGateway({ home })
  const { id } = await first.sessions.spawn({ adapter: 'demo', cwd: home }, { type: 'owner', name: 'owner' })
  await first.close()
  const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)'], { stdio: 'ignore' })
  onTestFinished(() => void stranger.kill('SIGKILL'))
  const { pid = 0 } = stranger
  const path = join(homeLayout(home).sessions, id, 'meta.json')
  const record = JSON.parse(await readFile(path, 'utf8')) as StoredSession
  const running = { ...record.session, status: 'running' }
  await writeFile(path, JSON.stringify({ ...record, session: running, process: { pid, startTime: 'long ago' } }))
  const { sessions } = await testGateway({ home })
  expect(await sessions.get(id)).toMatchObject({ status: 'error', stopReason: 'agent_crashed' })
  expect([stranger.exitCode, stranger.signalCode, identify(pid)?.pid]).toEqual([null, null, pid])
})

/** Starts a gateway in a process of its own and kills it once its agent is in the middle of something. */
async function killedGateway(args: readonly string[]): Promise<string> {
  const child = fork(fileURLToPath(new URL('./fixtures/doomed-gateway.mjs', import.meta.url)), [...args], {
    execArgv: [],
  })
  const id = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve(message as string))
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}`)))
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await exited
  return id
}
