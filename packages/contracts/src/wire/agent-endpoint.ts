import * as z from 'zod'

/** Where an agent that runs elsewhere is reached: never the value of a header. */
export const agentEndpoint = z.object({
  url: z.string(),
  headers: z.array(z.string()).describe('Their names'),
  secrets: z.array(z.string()).describe('Slugs of the secrets in them'),
})
