import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, folder } from './cli-process.js'
import { needs } from '../../../tooling/needs.ts'

/** A folder with a program that records its arguments. */
function manager(name: string, exit = 0): { readonly bin: string; calls(): string[] } {
  const bin = folder('bin')
  const path = join(bin, name)
  writeFileSync(path, `#!/bin/sh\necho "$*" >> "${bin}/calls"\n[ ${exit} = 0 ] || echo "no bus" >&2\nexit ${exit}\n`)
  chmodSync(path, 0o755)
  return { bin, calls: () => readFileSync(join(bin, 'calls'), 'utf8').trim().split('\n') }
}

test('a systemd unit is written, started, stopped and removed', async () => {
  const [home, config] = [folder(), folder('config')]
  const { bin, calls } = manager('systemctl')
  const env = { XDG_CONFIG_HOME: config, PATH: `${bin}:${process.env['PATH']}` }
  const installed = await cli(['service', 'install', '--manager', 'systemd'], { home, env })
  const path = installed.stdout.trim()
  expect(installed).toMatchObject({ code: 0, stderr: '' })
  expect(path).toMatch(new RegExp(`^${config}/systemd/user/agentproto-[0-9a-f]{8}\\.service$`))
  const unit = readFileSync(path, 'utf8')
  expect(unit).toContain(`Environment="AGENTPROTO_HOME=${home}"`)
  // Agents outlive a gateway that crashes or is reloaded.
  expect(unit).toMatch(/^ExecReload=".*" ".*" "restart"$/m)
  expect(unit).toContain('KillMode=process\n')
  expect(calls()).toEqual([
    '--user daemon-reload',
    expect.stringMatching(/^--user enable --now agentproto-\w+\.service$/),
  ])
  expect(await cli(['service', 'uninstall', '--manager', 'systemd'], { home, env })).toMatchObject({ code: 0 })
  expect(existsSync(path)).toBe(false)
  expect(await cli(['service', 'uninstall', '--manager', 'systemd'], { home, env })).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('There is no unit'),
  })
})

test('a failing service manager is reported, with the commands to run', async () => {
  const [home, config] = [folder(), folder('config')]
  const env = { XDG_CONFIG_HOME: config, PATH: `${manager('systemctl', 1).bin}:${process.env['PATH']}` }
  const { code, stderr } = await cli(['service', 'install', '--manager', 'systemd'], { home, env })
  expect(code).toBe(1)
  expect(stderr).toMatch(/systemctl failed: no bus.*run: systemctl --user daemon-reload && systemctl --user enable/)
})

test('--print changes nothing', async () => {
  const [home, config] = [folder(), folder('config')]
  const env = { XDG_CONFIG_HOME: config }
  expect((await cli(['service', 'install', '--print', '--manager', 'systemd'], { home, env })).stdout).toMatch(
    /^\[Unit\]/,
  )
  expect(existsSync(join(config, 'systemd'))).toBe(false)
})

test('systemd accepts the unit, for any folder name', needs('systemd-analyze'), async () => {
  const strange = join(folder(), 'a 100% "home" of $USER')
  mkdirSync(strange)
  const { stdout } = await cli(['service', 'install', '--print', '--manager', 'systemd'], { home: strange })
  const path = join(folder('unit'), 'agentproto.service')
  writeFileSync(path, stdout)
  const { status, stderr } = spawnSync('systemd-analyze', ['--user', 'verify', path], {
    encoding: 'utf8',
    env: { ...process.env, XDG_RUNTIME_DIR: folder('runtime') },
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

test('the launchd agent is a property list with the same content', needs('python3'), async () => {
  const home = join(folder(), 'a <home> & more')
  mkdirSync(home)
  const { stdout } = await cli(['service', 'install', '--print', '--manager', 'launchd'], { home })
  const read = 'import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'
  const plist: unknown = JSON.parse(execFileSync('python3', ['-c', read], { input: stdout, encoding: 'utf8' }))
  expect(plist).toMatchObject({
    ProgramArguments: [process.execPath, expect.stringContaining('agentproto'), 'serve'],
    EnvironmentVariables: { AGENTPROTO_HOME: home },
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
  })
})
