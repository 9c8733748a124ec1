import { AgentprotoError } from '@agentproto/contracts'

/** Checks what can be checked without a connection. @throws `invalid_request` */
export function parseWebhookUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (url === undefined || !isWeb || url.username !== '' || url.password !== '')
    // The address may hold a secret: it is not quoted.
    throw new AgentprotoError('invalid_request', 'The address notify.webhook.url is not valid', {
      expected: 'https://host/path, without a user or a password',
    })
  return url
}
