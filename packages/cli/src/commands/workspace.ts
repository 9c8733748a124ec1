import { realpathSync } from 'node:fs'
import { access, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { AgentprotoError, EXIT, type Workspace, type WorkspaceService } from '@agentproto/contracts'
import { createWorkspaces, createWorkspaceTrust, type WorkspaceTrust } from '@agentproto/workspaces'
import { homeOf } from '../daemon/daemon-record.js'
import { paintOf, print, printJson, widthOf, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { noted } from '../noted.js'
import { oneLine } from '../render/printable.js'
import { renderTable, type Column } from '../render/table.js'

export interface AddOptions {
  readonly slug?: string
  readonly label?: string
  readonly use?: boolean
  readonly json?: boolean
}

/** `agentproto workspace add`: prints the slug. */
export async function addWorkspace(io: Io, path: string, { slug, label, use, json }: AddOptions): Promise<number> {
  const request = {
    path: resolve(io.cwd, path),
    ...(slug === undefined ? {} : { slug }),
    ...(label === undefined ? {} : { label }),
    ...(use === undefined ? {} : { use }),
  }
  const about = { action: 'workspace-add', workspace: slug, path: request.path, use }
  const workspace = await noted(io, about, () => workspacesOf(io).add(request))
  if (json === true) printJson(io, workspace)
  else print(io.stdout, workspace.slug)
  return EXIT.ok
}

/** `agentproto workspace list`; `--json` prints the file as AIP-46 has it. */
export async function listWorkspaces(io: Io, { json }: JsonOption): Promise<number> {
  const file = await workspacesOf(io).list()
  if (json === true) {
    printJson(io, file)
    return EXIT.ok
  }
  if (file.workspaces.length === 0) {
    print(io.stdout, 'No workspaces. Add this folder with: agentproto workspace add . --use')
    return EXIT.ok
  }
  const rows = await Promise.all(
    file.workspaces.map(async (each) => ({ ...each, active: each.slug === file.active, there: await isThere(each) })),
  )
  print(io.stdout, table(io, rows))
  return EXIT.ok
}

/** `agentproto workspace remove`. */
export async function removeWorkspace(io: Io, slug: string, { json }: JsonOption): Promise<number> {
  await noted(io, { action: 'workspace-remove', workspace: slug }, () => workspacesOf(io).remove(slug))
  if (json === true) printJson(io, { slug, removed: true })
  else print(io.stderr, `Forgot ${slug}; its folder is untouched.`)
  return EXIT.ok
}

/** `agentproto workspace use`. */
export async function useWorkspace(io: Io, slug: string, { json }: JsonOption): Promise<number> {
  const about = { action: 'workspace-use', workspace: slug }
  const workspace = await noted(io, about, () => workspacesOf(io).use(slug))
  if (json === true) printJson(io, workspace)
  else print(io.stderr, `Sessions now start in ${workspace.path}`)
  return EXIT.ok
}

/** `agentproto workspace show`: the one that is named, else the active one. */
export async function showWorkspace(io: Io, slug: string | undefined, { json }: JsonOption): Promise<number> {
  const { active } = await workspacesOf(io).list()
  const name = slug ?? active
  if (name === undefined) {
    throw new AgentprotoError('workspace_not_found', 'No workspace is active', {
      hint: 'Make this folder one with: agentproto workspace add --use',
    })
  }
  const workspace = await findWorkspace(io, name)
  const about = {
    ...workspace,
    active: name === active,
    exists: await isThere(workspace),
    trusted: (await trustOf(io).list()).some(({ path }) => path === realOf(workspace.path)),
  }
  if (json === true) printJson(io, about)
  else
    print(
      io.stdout,
      Object.entries(about).map(([key, value]) => `${key.padEnd(9)}  ${oneLine(String(value))}`),
    )
  return EXIT.ok
}

/** `agentproto workspace trust`: the adapters of the workspace's own folder may be started from now on. */
export async function trustWorkspace(io: Io, slug: string, { json }: JsonOption): Promise<number> {
  const workspace = await findWorkspace(io, slug)
  const about = { action: 'workspace-trust', workspace: slug, path: workspace.path }
  const { path } = await noted(io, about, () => trustOf(io).trust(workspace.path))
  if (json === true) {
    printJson(io, { slug, path, trusted: true })
    return EXIT.ok
  }
  const adapters = await readdir(join(path, '.agentproto', 'adapters')).catch(() => [])
  const found = adapters.length === 0 ? 'it has none now' : adapters.map(oneLine).join(', ')
  print(io.stderr, `The adapters of ${path} may be started, now and after every change to it: ${found}`)
  return EXIT.ok
}

/** `agentproto workspace distrust`. */
export async function distrustWorkspace(io: Io, slug: string, { json }: JsonOption): Promise<number> {
  const { path } = await findWorkspace(io, slug)
  const about = { action: 'workspace-distrust', workspace: slug, path }
  const was = await noted(io, about, () => trustOf(io).distrust(path))
  if (json === true) printJson(io, { slug, path, trusted: false })
  else print(io.stderr, was ? `The adapters of ${path} are left out again.` : `${path} was not trusted.`)
  return EXIT.ok
}

/** @throws `workspace_not_found`, naming the known ones */
async function findWorkspace(io: Io, slug: string): Promise<Workspace> {
  const { workspaces } = await workspacesOf(io).list()
  const found = workspaces.find((workspace) => workspace.slug === slug)
  if (found !== undefined) return found
  throw new AgentprotoError('workspace_not_found', `There is no workspace ${slug}.`, {
    expected:
      workspaces.length === 0
        ? 'a workspace, and none is registered'
        : `one of ${workspaces.map((each) => each.slug).join(', ')}`,
    given: slug,
    hint: 'Run: agentproto workspace add <folder>',
  })
}

/** Trust is kept by real paths. */
function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const workspacesOf = (io: Io): WorkspaceService => createWorkspaces({ ...filesOf(io), defaultCwd: io.cwd })

const trustOf = (io: Io): WorkspaceTrust => createWorkspaceTrust(filesOf(io))

const filesOf = (io: Io) => ({
  home: homeOf(io).root,
  onWarning: (message: string) => print(io.stderr, `agentproto: ${message}`),
})

interface Row extends Workspace {
  readonly active: boolean
  readonly there: boolean
}

function table(io: Io, rows: readonly Row[]): string[] {
  const paint = paintOf(io, io.stdout)
  const columns: Column<Row>[] = [
    { title: ' ', cell: ({ active }) => (active ? '*' : ''), paint: paint.green },
    { title: 'SLUG', cell: ({ slug }) => slug, paint: paint.cyan },
    {
      title: 'FOLDER',
      cell: ({ path, there }) => (there ? path : `${path} (missing)`),
      shrinkTo: 12,
      paint: (text, { there }) => (there ? text : paint.red(text)),
    },
    { title: 'LABEL', cell: ({ label }) => oneLine(label ?? ''), shrinkTo: 8, dropOrder: 1 },
  ]
  const [titles = '', ...lines] = renderTable(columns, rows, widthOf(io.stdout))
  return [paint.bold(titles), ...lines]
}

const isThere = ({ path }: Workspace): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
