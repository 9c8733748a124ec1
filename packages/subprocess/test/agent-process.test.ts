import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Launch } from '@agentproto/contracts/agent'
import { spawnAgentProcess, type SpawnOptions } from '@agentproto/subprocess'
import { describe, expect, onTestFinished, test } from 'vitest'
import { launchOf, script, type Spawn, spawnKept, start, type Started } from './launching.ts'

const quiet = { graces: { stdinGraceMs: 100, termGraceMs: 200 }, onLines: () => {} }

function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'subprocess-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

describe.each<[string, Spawn]>([
  ['of this host', spawnAgentProcess],
  ['16.a1 that a keeper holds', spawnKept],
])('an agent %s', (_how, spawn) => {
  const begin = (launch: Launch, options: Partial<SpawnOptions> = {}): Promise<Started> => start(launch, options, spawn)

  test('lines go in and come out', async () => {
    const { agent, line } = await begin(script('echo.mjs'))
    void agent.write('one')
    void agent.write('two')
    expect([await line(), await line()]).toEqual(['one', 'two'])
    expect(agent.info.startTime).not.toBe('')
  })

  test('the arguments reach the program without a shell', async () => {
    const odd = ['$HOME', '; echo x', 'a b', '"q"', '*']
    const { agent, lines } = await begin(
      launchOf(process.execPath, ['-p', 'JSON.stringify(process.argv.slice(1))', ...odd]),
    )
    await agent.closed
    expect(JSON.parse(lines.join(''))).toEqual(odd)
  })

  test('the environment is exactly what was given', async () => {
    const launch = launchOf(process.execPath, ['-p', 'JSON.stringify(process.env)'])
    const { agent, lines } = await begin({ ...launch, env: { A: '1', AGENTPROTO_SESSION_ID: launch.marker } })
    await agent.closed
    expect(JSON.parse(lines.join(''))).toEqual({ A: '1', AGENTPROTO_SESSION_ID: launch.marker })
  })

  test('the output before an exit is passed on before `closed`, which has the exit code', async () => {
    const program = `process.stdout.write('x'.repeat(300000) + '\\nlast'); process.exitCode = 7`
    const { agent, lines } = await begin(launchOf(process.execPath, ['-e', program]))
    expect(await agent.closed).toEqual({ exitCode: 7 })
    expect(lines.map((line) => line.length)).toEqual([300_000, 4])
  })

  test('the signal that ended a process is reported', async () => {
    const { agent } = await begin(launchOf(process.execPath, ['-e', 'process.kill(process.pid, "SIGKILL")']))
    expect(await agent.exit).toEqual({ signal: 'SIGKILL' })
  })

  test('F34 a slow reader slows the agent down and loses nothing', async () => {
    const program = `let n = 0; const more = () => { while (n < 50000) if (!process.stdout.write(n++ + '\\n')) return process.stdout.once('drain', more) }; more()`
    const seen: string[] = []
    let busy = 0
    const { agent } = await begin(launchOf(process.execPath, ['-e', program]), {
      onLines: async (lines) => {
        expect(++busy).toBe(1)
        seen.push(...lines)
        await new Promise((resolve) => setTimeout(resolve, 2))
        busy--
      },
    })
    await agent.closed
    expect(seen).toEqual(Array.from({ length: 50_000 }, (_, n) => String(n)))
  })

  test('a failing reader does not stop the reading', async () => {
    let batches = 0
    const { agent } = await begin(script('echo.mjs'), { onLines: () => Promise.reject(new Error(String(batches++))) })
    void agent.write('one')
    await expect.poll(() => batches).toBe(1)
    void agent.write('two')
    await expect.poll(() => batches).toBe(2)
  })

  test('a full stdin is reported, and drained', async () => {
    const { agent } = await begin(launchOf('/bin/sleep', ['30']))
    const full = agent.write('x'.repeat(1 << 20))
    expect(full).toBeInstanceOf(Promise)
    expect(agent.write('more')).toBe(full)
    await agent.terminate()
    // The pipe is closed, so that no writer waits forever.
    await full
    expect(agent.write('later')).toBeUndefined()
  })

  test('stderr comes as lines, and its end is kept', async () => {
    const seen: string[] = []
    const program = `console.error('a'.repeat(100000)); console.error('b\\nc'); process.stderr.write('open')`
    const { agent } = await begin(launchOf(process.execPath, ['-e', program]), {
      onStderr: (lines) => void seen.push(...lines),
    })
    await agent.closed
    expect(agent.stderrTail()).toHaveLength(64 << 10)
    expect(agent.stderrTail()).toMatch(/aaa\nb\nc\nopen$/)
    expect(seen.slice(-3)).toEqual(['b', 'c', 'open'])
    expect(seen.join('')).toBe(`${'a'.repeat(100_000)}bcopen`)
  })

  test('a line beyond the limit is dropped and reported; the next one is read', async () => {
    const dropped: number[] = []
    const program = `process.stdout.write('x'.repeat(500000) + '\\nnext\\n')`
    const { agent, lines } = await begin(launchOf(process.execPath, ['-e', program]), {
      maxLineBytes: 100_000,
      onOversize: (bytes) => void dropped.push(bytes),
    })
    await agent.closed
    expect({ lines, dropped }).toEqual({ lines: ['next'], dropped: [500_000] })
  })

  test('output of a descendant that came while the host was busy is read after the process itself ended', async () => {
    const dir = scratch()
    const [ready, go, done] = [join(dir, 'ready'), join(dir, 'go'), join(dir, 'done')]
    const timers = new Set<() => void>()
    const runAll = (): void => {
      const due = [...timers]
      timers.clear()
      for (const run of due) run()
    }
    const clock = {
      now: () => 0,
      after: (_: number, run: () => void) => {
        timers.add(run)
        return { cancel: () => void timers.delete(run) }
      },
    }
    const orphan = `trap '' TERM; : > ${ready}; while ! [ -e ${go} ]; do :; done; echo late; : > ${done}`
    // Its SIGTERM comes with the end of the shell: before that, the orphan must have its trap.
    const shell = `(${orphan}) & while ! [ -e ${ready} ]; do :; done; echo early`
    const { agent, lines } = await begin(launchOf('/bin/sh', ['-c', shell]), { clock })
    await agent.exit
    await expect.poll(() => lines).toEqual(['early'])
    writeFileSync(go, '')
    // Waits as a busy host does, without reading a pipe; a test must end all the same.
    const until = Date.now() + 10_000
    while (!existsSync(done) && Date.now() < until);
    expect(existsSync(done)).toBe(true)
    runAll()
    expect((await agent.closed, lines)).toEqual(['early', 'late'])
    // The clock moves only by hand, and the orphan may not have been gone yet when it last did.
    let isEnded = false
    void agent.terminate().finally(() => (isEnded = true))
    await expect
      .poll(() => {
        runAll()
        return isEnded
      })
      .toBe(true)
  })
})

test('F26 a broken stdin is reported and is not an error of the host', async () => {
  let broken = ''
  const { agent } = await start(
    launchOf(process.execPath, ['-e', 'require("fs").closeSync(0); setInterval(() => {}, 1000)']),
    {
      onBroken: (reason) => (broken = reason),
    },
  )
  await expect.poll(() => (void agent.write('x'), broken)).toContain('stdin')
})

test.each([
  ['a missing working directory', { cwd: '/no/such/folder' }, 'cwd_invalid', /does not exist/],
  ['a relative working directory', { cwd: 'src' }, 'cwd_invalid', /not absolute/],
  ['a file as working directory', { cwd: process.execPath }, 'cwd_invalid', /not a directory/],
  ['F88 a NUL in the working directory', { cwd: '/tmp\0' }, 'cwd_invalid', /NUL/],
  [
    'F88 a working directory with a name beyond measure',
    { cwd: `/${'x'.repeat(5000)}` },
    'cwd_invalid',
    /ENAMETOOLONG/,
  ],
  ['F88 an executable with a name beyond measure', { command: `/${'x'.repeat(5000)}` }, 'spawn_failed', /ENAMETOOLONG/],
  ['a missing executable', { command: '/no/such/agent' }, 'agent_not_installed', /does not exist/],
  ['a folder as executable', { command: '/tmp' }, 'spawn_failed', /not a file/],
  ['a relative executable', { command: 'node' }, 'spawn_failed', /absolute/],
  ['a NUL in an argument', { args: ['\0'] }, 'spawn_failed', /null bytes/],
  ['arguments that are too long', { args: ['x'.repeat(3 << 20)] }, 'spawn_failed', /too long/],
])('F28 %s is refused by its own name', async (_, wrong, code, words) => {
  const launch = { ...launchOf(process.execPath), ...wrong }
  await expect(spawnAgentProcess(launch, quiet)).rejects.toMatchObject({ code, message: expect.stringMatching(words) })
})

test.each([
  ['without permission', '#!/bin/sh\n', 0o644, /no permission/],
  ['with an interpreter that is not there', '#!/no/such/interpreter -x\n', 0o755, /\/no\/such\/interpreter/],
])('F28 an executable %s is refused by its own name', async (_, text, mode, words) => {
  const file = join(scratch(), 'agent')
  writeFileSync(file, text)
  chmodSync(file, mode)
  const starting = spawnAgentProcess(launchOf(file), quiet)
  await expect(starting).rejects.toMatchObject({ code: 'spawn_failed', message: expect.stringMatching(words) })
})
