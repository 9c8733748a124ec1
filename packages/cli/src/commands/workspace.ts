import { realpathSync } from 'node:fs'
import { access, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { AgentprotoError, defined, type Workspace, type WorkspaceService } from '@agentproto/contracts'
import { createWorkspaces, createWorkspaceTrust, type WorkspaceTrust } from '@agentproto/workspaces'
import type { Command } from 'commander'
import { paintFor, print, printJson, warn, type CliContext } from '../cli-context.js'
import { examples, type JsonOption, type Run } from '../command-definition.js'
import { homeOf } from '../daemon/daemon-record.js'
import { withAudit } from '../home-audit.js'
import { printTable } from '../render/table.js'
import { oneLine } from '../render/printable.js'

const HELP = `
Examples:
  $ agentproto workspace add . --use
  $ agentproto workspace add ~/code/shop --slug shop --label "Web shop"
  $ agentproto workspace use shop

A session runs in --cwd, else in its --workspace, else in the active workspace.
An adapter decides what is run: trust a workspace only if you trust everyone who can write to its folder.`

interface AddOptions extends JsonOption {
  readonly slug?: string
  readonly label?: string
  readonly use?: boolean
}

/** These commands edit the workspaces file, under a lock, and need no gateway. */
export function define(workspace: Command, run: Run): void {
  workspace.description('name the folders that sessions run in').addHelpText('after', HELP)
  workspace
    .command('add')
    .description('add a folder, and print the slug of the workspace')
    .argument('[path]', 'the folder', '.')
    .option('--slug <slug>', 'its name (default: from the folder name)')
    .option('--label <text>', 'a description')
    .option('--use', 'make it the active workspace')
    .option('--json', 'as JSON')
    .addHelpText('after', examples('workspace add . --use', 'workspace add ~/code/shop --slug shop --label "Web shop"'))
    .action(run(add))
  workspace
    .command('list')
    .description('list the workspaces; * marks the active one')
    .option('--json', 'as JSON')
    .addHelpText('after', examples('workspace list', 'workspace list --json'))
    .action(run(list))
  withSlug(workspace, 'remove', 'remove a workspace; the folder stays').action(run(remove))
  workspace
    .command('show')
    .description('show a workspace, and whether its folder exists and is trusted')
    .argument('[slug]', 'default: the active workspace')
    .option('--json', 'as JSON')
    .addHelpText('after', examples('workspace show', 'workspace show shop --json'))
    .action(run(show))
  withSlug(workspace, 'use', 'make a workspace the active one').action(run(use))
  withSlug(workspace, 'trust', 'allow the adapters in its folder .agentproto/adapters').action(run(trust))
  withSlug(workspace, 'distrust', 'disallow the adapters in its folder again').action(run(distrust))
}

const withSlug = (workspace: Command, name: string, description: string): Command =>
  workspace
    .command(name)
    .description(description)
    .argument('<slug>')
    .option('--json', 'as JSON')
    .addHelpText('after', examples(`workspace ${name} shop`))

async function add(context: CliContext, path: string, { json, ...options }: AddOptions): Promise<void> {
  const { slug, label, use: makeActive } = options
  const request = { path: resolve(context.cwd, path), ...defined({ slug, label, use: makeActive }) }
  const entry = { action: 'workspace-add', workspace: slug, path: request.path, use: makeActive }
  const workspace = await withAudit(context, entry, () => openWorkspaces(context).add(request))
  if (json === true) printJson(context, workspace)
  else print(context.stdout, workspace.slug)
}

/** With `--json`, the file as AIP-46 defines it. */
async function list(context: CliContext, { json }: JsonOption): Promise<void> {
  const file = await openWorkspaces(context).list()
  if (json === true) return printJson(context, file)
  if (file.workspaces.length === 0)
    return print(context.stdout, 'No workspaces. Add this folder with: agentproto workspace add . --use')
  const rows = await Promise.all(
    file.workspaces.map(async (each) => ({ ...each, active: each.slug === file.active, exists: await exists(each) })),
  )
  const paint = paintFor(context, context.stdout)
  printTable(
    context,
    [
      { title: ' ', cell: ({ active }) => (active ? '*' : ''), paint: paint.green },
      { title: 'SLUG', cell: ({ slug }) => slug, paint: paint.cyan },
      {
        title: 'FOLDER',
        cell: (row) => (row.exists ? row.path : `${row.path} (missing)`),
        shrinkTo: 12,
        paint: (text, row) => (row.exists ? text : paint.red(text)),
      },
      { title: 'LABEL', cell: ({ label }) => oneLine(label ?? ''), shrinkTo: 8, dropOrder: 1 },
    ],
    rows,
  )
}

async function remove(context: CliContext, slug: string, { json }: JsonOption): Promise<void> {
  await withAudit(context, { action: 'workspace-remove', workspace: slug }, () => openWorkspaces(context).remove(slug))
  if (json === true) printJson(context, { slug, removed: true })
  else print(context.stderr, `Removed ${slug}. Its folder is unchanged.`)
}

async function use(context: CliContext, slug: string, { json }: JsonOption): Promise<void> {
  const entry = { action: 'workspace-use', workspace: slug }
  const workspace = await withAudit(context, entry, () => openWorkspaces(context).use(slug))
  if (json === true) printJson(context, workspace)
  else print(context.stderr, `Sessions now start in ${workspace.path}`)
}

async function show(context: CliContext, slug: string | undefined, { json }: JsonOption): Promise<void> {
  const { active } = await openWorkspaces(context).list()
  const name = slug ?? active
  if (name === undefined) {
    throw new AgentprotoError('workspace_not_found', 'No workspace is active', {
      hint: 'Make this folder the active workspace with: agentproto workspace add . --use',
    })
  }
  const workspace = await findWorkspace(context, name)
  const details = {
    ...workspace,
    active: name === active,
    exists: await exists(workspace),
    trusted: (await openTrust(context).list()).some(({ path }) => path === realPath(workspace.path)),
  }
  if (json === true) return printJson(context, details)
  print(
    context.stdout,
    Object.entries(details).map(([key, value]) => `${key.padEnd(9)}  ${oneLine(String(value))}`),
  )
}

async function trust(context: CliContext, slug: string, { json }: JsonOption): Promise<void> {
  const workspace = await findWorkspace(context, slug)
  const entry = { action: 'workspace-trust', workspace: slug, path: workspace.path }
  const { path } = await withAudit(context, entry, () => openTrust(context).trust(workspace.path))
  if (json === true) return printJson(context, { slug, path, trusted: true })
  const adapters = await readdir(join(path, '.agentproto', 'adapters')).catch(() => [])
  const found = adapters.length === 0 ? 'none now' : adapters.map(oneLine).join(', ')
  print(context.stderr, `The adapters in ${path} can be started, now and after every change to them: ${found}`)
}

async function distrust(context: CliContext, slug: string, { json }: JsonOption): Promise<void> {
  const { path } = await findWorkspace(context, slug)
  const entry = { action: 'workspace-distrust', workspace: slug, path }
  const wasTrusted = await withAudit(context, entry, () => openTrust(context).distrust(path))
  if (json === true) return printJson(context, { slug, path, trusted: false })
  print(context.stderr, wasTrusted ? `The adapters in ${path} are ignored again.` : `${path} was not trusted.`)
}

/** @throws `workspace_not_found`, naming the known ones */
async function findWorkspace(context: CliContext, slug: string): Promise<Workspace> {
  const { workspaces } = await openWorkspaces(context).list()
  const found = workspaces.find((workspace) => workspace.slug === slug)
  if (found !== undefined) return found
  const known = workspaces.map((each) => each.slug).join(', ')
  throw new AgentprotoError('workspace_not_found', 'No workspace has this slug', {
    expected: known === '' ? 'a workspace; there are none yet' : `one of ${known}`,
    given: slug,
    hint: 'Add one with: agentproto workspace add <folder>',
  })
}

/** Trust is stored by real path. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const openWorkspaces = (context: CliContext): WorkspaceService =>
  createWorkspaces({ ...filesOf(context), defaultCwd: context.cwd })

const openTrust = (context: CliContext): WorkspaceTrust => createWorkspaceTrust(filesOf(context))

const filesOf = (context: CliContext) => ({
  home: homeOf(context).root,
  onWarning: (message: string) => warn(context, message),
})

const exists = ({ path }: Workspace): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
