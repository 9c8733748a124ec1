// The person who answers what agents ask, over every end of the gateway.
import { callUntilAnswered } from './daemon.mjs'

/** @returns `stop`, which resolves to the answers that were accepted, by request */
export function answerRequests(current, fault) {
  const answered = new Map()
  let isStopped = false
  const work = answer()
  return {
    answered,
    stop: async () => {
      isStopped = true
      await work
      return answered
    },
  }

  async function answer() {
    while (!isStopped) {
      const { requests } = await callUntilAnswered(current, { method: 'GET', path: '/requests' })
      await Promise.all(requests.map(answerOne))
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async function answerOne({ sessionId, requestId, state, request }) {
    if (state !== 'pending') fault(`${sessionId}: request ${requestId} is ${state}`)
    const body =
      request.kind === 'permission'
        ? { optionId: request.options.find(({ kind }) => kind === 'allow_once')?.optionId }
        : { action: 'accept', content: { colour: 'green' } }
    const path = `/sessions/${sessionId}/requests/${requestId}`
    try {
      await callUntilAnswered(current, { method: 'POST', path, body })
      answered.set(requestId, sessionId)
    } catch (error) {
      // An earlier call was accepted and its answer lost, or the turn has ended.
      if (error.code === 'request_resolved' || error.code === 'session_not_found') return
      fault(`${sessionId}: request ${requestId} was not answered: ${error.code}`)
    }
  }
}
