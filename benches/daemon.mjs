// The gateway as a process of its own, so that the client's work is not counted as its.
import { createGateway } from '@agentproto/runtime'

const [home, cwd] = process.argv.slice(2)
const gateway = await createGateway({
  home,
  cwd,
  env: { ...process.env, AGENTPROTO_DEMO_HOME: cwd },
  onProblem: (problem) => console.error(problem),
})
const { url, token } = await gateway.listen({ port: 0 })
process.send({ url, token })
process.on('message', () => void gateway.close().then(() => process.disconnect()))
