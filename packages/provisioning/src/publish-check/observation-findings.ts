import type { AgentObservation } from '@agentproto/contracts/agent'
import { finding, type PublishFinding, type Verdict } from './publish-finding.js'

/** What the measured handshake of an agent says. */
export const observationFindings = (observation: AgentObservation): readonly PublishFinding[] => [
  finding('handshake', handshake(observation)),
  finding('stdout', stdout(observation)),
  finding('session', session(observation)),
  finding('exit', exit(observation)),
  finding('left', left(observation)),
]

function handshake({ agentName, agentVersion, protocolVersion, handshakeMs, capabilities }: AgentObservation): Verdict {
  const agent = agentName === undefined ? '' : [agentName, agentVersion].filter(Boolean).join(' ')
  const offers = Object.entries(capabilities).flatMap(([name, isOffered]) => (isOffered === true ? [name] : []))
  const seen = `version ${protocolVersion} after ${handshakeMs} ms; offers ${offers.join(', ') || 'nothing'}`
  return agent === '' ? { verdict: 'pass', seen } : { verdict: 'pass', seen: `${agent}, ${seen}`, agent }
}

function stdout({ stdoutNoise: { lines, first = '' } }: AgentObservation): Verdict {
  if (lines === 0) return { verdict: 'pass', seen: 'nothing else' }
  const expected = 'messages of JSON-RPC alone'
  return { verdict: 'fail', expected, seen: `${lines} other ${lines === 1 ? 'line' : 'lines'}: ${first}` }
}

function session({ session: opened, logins }: AgentObservation): Verdict {
  if (opened === 'opened') return { verdict: 'pass', seen: 'it opens without a login' }
  const { code, message, agentCode } = opened.refused
  const refusal = `${message}${agentCode === undefined ? '' : ` (${agentCode})`}`
  if (code !== 'auth_required')
    return { verdict: 'fail', expected: 'a session, or error -32000 for a login', seen: refusal }
  if (logins.length === 0)
    return { verdict: 'fail', expected: 'the ways to log in, in authMethods', seen: `none, and a refusal: ${refusal}` }
  return { verdict: 'pass', seen: `it is refused until a login: ${logins.map(({ name }) => name).join(', ')}` }
}

function exit({ ends, endMs }: AgentObservation): Verdict {
  if (ends === 'stdin') return { verdict: 'pass', seen: `after ${endMs} ms` }
  return { verdict: 'fail', expected: 'its own end', seen: `it was ended by ${ends}, ${endMs} ms after its stdin` }
}

function left({ leaves: { processes, files, bytes } }: AgentObservation): Verdict {
  if (processes.length > 0)
    return { verdict: 'fail', expected: 'no process', seen: `${processes.join(', ')}; they were ended` }
  const wrote =
    files === 0 ? 'and no file' : `and ${files} ${files === 1 ? 'file' : 'files'} of ${bytes} bytes in its home`
  return { verdict: 'pass', seen: `no process, ${wrote}` }
}
