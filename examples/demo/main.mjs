// Shows agentproto with nothing but Node: a gateway, a workspace, an agent that remembers, a permission, and the end.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@agentproto/client'
import { createGateway } from '@agentproto/runtime'
import { narrate, showTurn } from './transcript.mjs'

const scratch = await mkdtemp(join(tmpdir(), 'agentproto-demo-'))
const project = join(scratch, 'my-project')
await mkdir(project)
// The demo agent stores its conversations in XDG_STATE_HOME. Nothing of this demo should remain.
const env = { ...process.env, XDG_STATE_HOME: join(scratch, 'state') }
const gateway = await createGateway({ home: join(scratch, 'home'), env })

try {
  const { url, token } = await gateway.listen({ port: 0 })
  narrate(`A gateway listens on ${url}, with a temporary home.`)
  await converse(createClient({ url, token }))
  narrate('Done: no process is left, and the temporary home is deleted.')
} finally {
  await gateway.close()
  await rm(scratch, { recursive: true, force: true })
}

async function converse({ sessions, workspaces }) {
  const workspace = await workspaces.add({ path: project, use: true })
  narrate(`The folder ${workspace.path} is now the workspace "${workspace.slug}".`)

  const { id, cwd } = await sessions.start({ adapter: 'demo', label: 'demonstration' })
  narrate(`A session of the demo agent runs in ${cwd}.`)
  const lines = sessions.stream(id)[Symbol.asyncIterator]()

  narrate('Two turns. The second asks for the text of the first:')
  await sessions.promptAndWait(id, { prompt: 'The password of the day is "teal".' })
  await showTurn(lines)
  const memory = await sessions.promptAndWait(id, { prompt: 'recall' })
  await showTurn(lines)
  check(memory.text.includes('teal'), 'The agent forgot the first turn')

  narrate('The agent asks for permission to write a file, and gets it:')
  const { turn } = await sessions.prompt(id, { prompt: 'ask notes.txt written with permission' })
  await allow(sessions, id)
  await sessions.waitTurn(id, turn)
  await showTurn(lines)
  const written = await readFile(join(project, 'notes.txt'), 'utf8')
  check(written.includes('written with permission'), 'The file was not written')

  await sessions.kill(id)
  await lines.return?.()
  narrate(`The session is ${(await sessions.get(id)).status}, and its process tree has ended.`)
}

/** Waits for the permission request, and grants it once. */
async function allow(sessions, id) {
  for await (const event of sessions.events(id)) {
    if (event.type !== 'agent-prompt') continue
    const option = event.request.options.find(({ kind }) => kind === 'allow_once')
    await sessions.answer(id, event.requestId, { optionId: option.optionId })
    return
  }
}

function check(holds, otherwise) {
  if (!holds) throw new Error(otherwise)
}
