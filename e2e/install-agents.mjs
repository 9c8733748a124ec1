// Installs the real agents that the end-to-end tests drive: node e2e/install-agents.mjs
// Does nothing when they are installed. AGENTPROTO_E2E_CACHE moves the cache.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentFolder, cacheFolder, installedAgent, PINNED_AGENTS } from './agent-cache.mjs'

for (const name of Object.keys(PINNED_AGENTS)) {
  if (!installedAgent(name)) install(name)
  process.stdout.write(`${name} ${checkedVersion(name)}: ${installedAgent(name)}\n`)
}

/** Installs beside the target and renames it, so that a partial install is never used. */
function install(name) {
  const { package: npmPackage, version } = PINNED_AGENTS[name]
  mkdirSync(cacheFolder, { recursive: true })
  const folder = mkdtempSync(join(cacheFolder, '.installing-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
    npm(['install', '--no-audit', '--no-fund', '--save-exact', `${npmPackage}@${version}`], folder)
    moveTo(agentFolder(name), folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function moveTo(target, folder) {
  rmSync(target, { recursive: true, force: true })
  try {
    renameSync(folder, target)
  } catch (error) {
    // Another process has just installed it.
    if (!existsSync(target)) throw error
  }
}

function npm(args, cwd) {
  const onWindows = process.platform === 'win32'
  execFileSync(onWindows ? 'npm.cmd' : 'npm', args, { cwd, stdio: ['ignore', 'inherit', 'inherit'], shell: onWindows })
}

/** Detects an agent whose install script did not run here, and not during a test. */
function checkedVersion(name) {
  const { version, mute = false } = PINNED_AGENTS[name]
  if (mute) return version
  const home = mkdtempSync(join(cacheFolder, '.version-home-'))
  try {
    const printed = execFileSync(installedAgent(name), ['--version'], {
      encoding: 'utf8',
      env: { ...process.env, HOME: home, ...xdgFolders(home) },
      timeout: 60_000,
    })
    if (printed.includes(version)) return version
    throw new Error(`${name} --version printed "${printed.trim()}", expected ${version}`)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function xdgFolders(folder) {
  const names = ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'XDG_STATE_HOME']
  return Object.fromEntries(names.map((name) => [name, folder]))
}
