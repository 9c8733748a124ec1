// Programs that tests start beside Node, and the package that brings each. This is the one table: tests ask it through
// needs.ts, the summary at the end of a run prints it, and .ci/run installs from it.
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installedAgent, PINNED_AGENTS } from '../e2e/agent-cache.mjs'

/**
 * A program of the system. `debian` is its package. `commands` are the names to look for on the PATH, where they differ
 * from the table's name; `folders` are looked through after the PATH. `probe` is run where being there does not mean that the program works.
 */
const SYSTEM_PROGRAMS = {
  bash: { debian: 'bash' },
  bc: { debian: 'bc' },
  // A container or a kernel setting may forbid the namespaces it needs.
  bwrap: {
    debian: 'bubblewrap',
    probe: { args: '--ro-bind / / --unshare-net --unshare-pid --proc /proc true'.split(' ') },
  },
  // Large, and not in every distribution, so a machine without it is no reason to fail.
  chromium: {
    debian: 'chromium-headless-shell',
    optional: true,
    commands: ['chromium-headless-shell', 'chromium'],
    probe: {
      args: [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--dump-dom',
        'data:text/html,shown',
      ],
      prints: 'shown',
    },
  },
  curl: { debian: 'curl' },
  fish: { debian: 'fish' },
  git: { debian: 'git' },
  groff: { debian: 'groff-base' },
  mandoc: { debian: 'mandoc' },
  // Debian installs it where only root's PATH looks.
  'nats-server': { debian: 'nats-server', folders: ['/usr/sbin'] },
  // The part of Python that makes environments is a package of its own.
  'python-venv': {
    debian: 'python3-venv',
    optional: true,
    commands: ['python3'],
    probe: { args: ['-c', 'import ensurepip, venv'] },
  },
  python3: { debian: 'python3' },
  sqlite3: { debian: 'sqlite3' },
  'systemd-analyze': { debian: 'systemd', optional: true },
  tar: { debian: 'tar' },
  tmux: { debian: 'tmux' },
  // Mounts in a namespace of its own, which a container or a kernel setting may forbid.
  unshare: {
    debian: 'util-linux',
    optional: true,
    probe: { args: ['-rm', 'sh', '-c', 'mount -t tmpfs none /tmp'] },
  },
  zsh: { debian: 'zsh' },
}

const PLATFORMS = ['linux']

export const PROGRAM_NAMES = [...Object.keys(SYSTEM_PROGRAMS), ...Object.keys(PINNED_AGENTS), ...PLATFORMS]

/** How to get a program, as the summary of a run says it. */
export function howToGet(name) {
  if (PLATFORMS.includes(name)) return `runs on ${name} only`
  const agent = PINNED_AGENTS[name]
  if (agent) return `npm package ${agent.package}@${agent.version}, installed by pnpm test:agents`
  return `Debian package ${SYSTEM_PROGRAMS[name].debian}`
}

const found = new Map()

/** The path of a program that works here; undefined where there is none. */
export function findProgram(name) {
  if (!PROGRAM_NAMES.includes(name))
    throw new Error(`${name} is not in the table of tooling/programs.mjs; add it there`)
  if (!found.has(name)) found.set(name, look(name))
  return found.get(name)
}

function look(name) {
  if (PLATFORMS.includes(name)) return process.platform === name ? name : undefined
  if (name in PINNED_AGENTS) return installedAgent(name)
  const { probe } = SYSTEM_PROGRAMS[name]
  return pathsOf(name).find((path) => probe === undefined || answers(path, probe))
}

/** Where the PATH has the program, whether it works or not. */
function pathsOf(name) {
  const { commands = [name], folders: more = [] } = SYSTEM_PROGRAMS[name]
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...more]
  return commands.flatMap((command) => folders.map((folder) => join(folder, command))).filter(isExecutable)
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function answers(path, { args, prints = '' }) {
  const { status, stdout } = spawnSync(path, args, { encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' })
  return prints === '' ? status === 0 : (stdout ?? '').includes(prints)
}

/** Debian packages of the programs that are not on the PATH. */
export function missingPackages({ optional }) {
  return Object.entries(SYSTEM_PROGRAMS)
    .filter(([name, program]) => (program.optional ?? false) === optional && pathsOf(name).length === 0)
    .map(([, { debian }]) => debian)
}
