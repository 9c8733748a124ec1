// How much code one HTTP prompt with `wait` runs on the server: the functions and files of our packages that precise coverage
// counts between two prompts. `--list` names them. Reads the built packages: run `pnpm build` first.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createHttp } from './http-client.mjs'

/** Enough that every lazy part of the way is loaded, and few enough that nothing is inlined away from the counters. */
const WARM_UP = 5

await (process.send === undefined ? measure() : serve())

async function measure() {
  const home = await mkdtemp(join(tmpdir(), 'agentproto-prompt-path-'))
  const env = { ...process.env, AGENTPROTO_DEMO_HOME: home }
  const server = fork(fileURLToPath(import.meta.url), [home], { env, execArgv: [] })
  try {
    const [address] = await once(server, 'message')
    const http = createHttp(address)
    const { id } = await http.call('POST', '/sessions/agent', { adapter: 'demo', cwd: home })
    const prompt = () => http.call('POST', `/sessions/${id}/prompt`, { prompt: 'x', wait: true })
    for (let i = 0; i < WARM_UP; i += 1) await prompt()
    // Until what the start and the warm-up save later is saved: it is not on the way of this prompt.
    await setTimeout(1_000)
    await ask(server, 'reset')
    await prompt()
    print(await ask(server, 'take'))
    http.close()
  } finally {
    if (server.connected) await ask(server, 'close')
    server.disconnect()
    await rm(home, { recursive: true, force: true })
  }
}

async function ask(server, question) {
  server.send(question)
  const [answer] = await once(server, 'message')
  return answer
}

function print(called) {
  const named = called.filter(({ name }) => name !== '')
  const files = new Set(called.map(({ file }) => file))
  if (process.argv.includes('--list'))
    for (const file of files)
      console.log(
        file,
        named
          .filter((each) => each.file === file)
          .map(({ name }) => name)
          .join(' '),
      )
  console.log(`one HTTP prompt with wait: ${named.length} named functions in ${files.size} files`)
  console.log(`  goal: at most 150 in at most 50`)
}

/** The child: a gateway that counts its own calls. */
async function serve() {
  const { createGateway } = await import('@agentproto/runtime')
  const inspector = new Session()
  inspector.connect()
  await inspector.post('Profiler.enable')
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const home = process.argv[2]
  const gateway = await createGateway({ home: join(home, 'home'), cwd: home, checkpoints: { enabled: false } })
  const { url, token } = await gateway.listen({ port: 0 })
  // Taking the counts also resets them.
  const counts = async () => (await inspector.post('Profiler.takePreciseCoverage')).result
  const answers = {
    reset: async () => void (await counts()),
    take: async () => calledIn(await counts()),
    close: () => gateway.close(),
  }
  process.on('message', (question) => {
    void answers[question]().then((answer) => process.send(answer ?? []))
    if (question === 'close') process.once('disconnect', () => process.exit())
  })
  process.send({ url, token })
}

const OURS = /\/packages\/((?!.*\/node_modules\/).+\.js)$/

function calledIn(scripts) {
  return scripts.flatMap(({ url, functions }) => {
    const file = OURS.exec(url)?.[1]
    if (file === undefined) return []
    return functions
      .filter(({ ranges: [{ count }] }) => count > 0)
      .map(({ functionName: name, ranges: [{ startOffset }] }) => ({ file, name, startOffset }))
  })
}
