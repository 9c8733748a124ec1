import { existsSync } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { AgentprotoError, defined, type Workspace, type WorkspaceService } from '@agentproto/contracts'
import { createWorkspaces, createWorkspaceTrust, type WorkspaceTrust } from '@agentproto/workspaces'
import type { CliCommand, CommandResult } from '../cli-command.js'
import { warn, type CliContext } from '../cli-context.js'
import { homeOf } from '../daemon/daemon-record.js'
import { withAudit } from '../home-audit.js'
import { tableFor } from '../render/table.js'
import { oneLine } from '../render/printable.js'

const HELP = `
Examples:
  $ agentproto workspace add . --use
  $ agentproto workspace add ~/code/shop --slug shop --label "Web shop"
  $ agentproto workspace use shop

A session runs in --cwd, else in its --workspace, else in this folder when it is in a workspace, else in the active workspace.
An adapter decides what is run: trust a workspace only if you trust everyone who can write to its folder.`

interface AddOptions {
  readonly slug?: string
  readonly label?: string
  readonly use?: boolean
}

/** These commands edit the workspaces file, under a lock, and need no gateway. */
export function define(workspace: CliCommand): void {
  workspace.description('name the folders that sessions run in').addHelpText('after', HELP)
  workspace
    .subcommand('add', 'add a folder, and print the slug of the workspace')
    .argument('[path]', 'the folder', '.')
    .option('--slug <slug>', 'its name (default: from the folder name)')
    .option('--label <text>', 'a description')
    .option('--use', 'make it the active workspace')
    .json()
    .examples('workspace add . --use', 'workspace add ~/code/shop --slug shop --label "Web shop"')
    .run(add)
  workspace
    .subcommand('list', 'list the workspaces; * marks the active one')
    .json()
    .examples('workspace list', 'workspace list --json')
    .run(list)
  withSlug(workspace, 'remove', 'remove a workspace; the folder stays').run(remove)
  workspace
    .subcommand('show', 'show a workspace, and whether its folder exists and is trusted')
    .argument('[slug]', 'default: the active workspace')
    .json()
    .examples('workspace show', 'workspace show shop --json')
    .run(show)
  withSlug(workspace, 'use', 'make a workspace the active one').run(use)
  withSlug(workspace, 'trust', 'allow the adapters in its folder .agentproto/adapters').run(trust)
  withSlug(workspace, 'distrust', 'disallow the adapters in its folder again').run(distrust)
}

const withSlug = (workspace: CliCommand, name: string, description: string): CliCommand =>
  workspace.command(name).description(description).argument('<slug>').json().examples(`workspace ${name} shop`)

async function add(context: CliContext, path: string, options: AddOptions): Promise<CommandResult> {
  const { slug, label, use: makeActive } = options
  const request = { path: resolve(context.cwd, path), ...defined({ slug, label, use: makeActive }) }
  const entry = { action: 'workspace-add', workspace: slug, path: request.path, use: makeActive }
  const workspace = await withAudit(context, entry, () => openWorkspaces(context).add(request))
  return { json: workspace, text: workspace.slug }
}

/** With `--json`, the file as AIP-46 defines it. */
async function list(context: CliContext): Promise<CommandResult> {
  const file = await openWorkspaces(context).list()
  if (file.workspaces.length === 0)
    return { json: file, text: 'No workspaces. Add this folder with: agentproto workspace add . --use' }
  const text = tableFor<Workspace>(context, file.workspaces, (paint) => [
    { title: ' ', cell: ({ slug }) => (slug === file.active ? '*' : ''), paint: paint.green },
    { title: 'SLUG', cell: ({ slug }) => slug, paint: paint.cyan },
    {
      title: 'FOLDER',
      cell: ({ path }) => (existsSync(path) ? path : `${path} (missing)`),
      shrinkTo: 12,
      paint: (cell, { path }) => (existsSync(path) ? cell : paint.red(cell)),
    },
    { title: 'LABEL', cell: ({ label }) => oneLine(label ?? ''), shrinkTo: 8, dropOrder: 1 },
  ])
  return { json: file, text }
}

async function remove(context: CliContext, slug: string): Promise<CommandResult> {
  await withAudit(context, { action: 'workspace-remove', workspace: slug }, () => openWorkspaces(context).remove(slug))
  return { json: { slug, removed: true }, note: `Removed ${slug}. Its folder is unchanged.` }
}

async function use(context: CliContext, slug: string): Promise<CommandResult> {
  const entry = { action: 'workspace-use', workspace: slug }
  const workspace = await withAudit(context, entry, () => openWorkspaces(context).use(slug))
  return { json: workspace, note: `Sessions now start in ${workspace.path}` }
}

async function show(context: CliContext, slug: string | undefined): Promise<CommandResult> {
  const { active } = await openWorkspaces(context).list()
  const name = slug ?? active
  if (name === undefined) {
    throw new AgentprotoError('workspace_not_found', 'No workspace is active', {
      hint: 'Make this folder the active workspace with: agentproto workspace add . --use',
    })
  }
  const workspace = await findWorkspace(context, name)
  // Trust is stored by real path.
  const real = await realpath(workspace.path).catch(() => workspace.path)
  const trusted = (await openTrust(context).list()).some(({ path }) => path === real)
  const details = { ...workspace, active: name === active, exists: existsSync(workspace.path), trusted }
  const text = Object.entries(details).map(([key, value]) => `${key.padEnd(9)}  ${oneLine(String(value))}`)
  return { json: details, text }
}

async function trust(context: CliContext, slug: string): Promise<CommandResult> {
  const workspace = await findWorkspace(context, slug)
  const entry = { action: 'workspace-trust', workspace: slug, path: workspace.path }
  const { path } = await withAudit(context, entry, () => openTrust(context).trust(workspace.path))
  const adapters = await readdir(join(path, '.agentproto', 'adapters')).catch(() => [])
  const found = adapters.length === 0 ? 'none now' : adapters.map(oneLine).join(', ')
  const note = `The adapters in ${path} can be started, now and after every change to them: ${found}`
  return { json: { slug, path, trusted: true }, note }
}

async function distrust(context: CliContext, slug: string): Promise<CommandResult> {
  const { path } = await findWorkspace(context, slug)
  const entry = { action: 'workspace-distrust', workspace: slug, path }
  const wasTrusted = await withAudit(context, entry, () => openTrust(context).distrust(path))
  const note = wasTrusted ? `The adapters in ${path} are ignored again.` : `${path} was not trusted.`
  return { json: { slug, path, trusted: false }, note }
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
    hint: 'List them with: agentproto workspace list',
    data: { known: workspaces.map((each) => each.slug) },
  })
}

const openWorkspaces = (context: CliContext): WorkspaceService =>
  createWorkspaces({ ...filesOf(context), defaultCwd: context.cwd })

const openTrust = (context: CliContext): WorkspaceTrust => createWorkspaceTrust(filesOf(context))

const filesOf = (context: CliContext) => ({
  home: homeOf(context).root,
  onWarning: (message: string) => warn(context, message),
})
