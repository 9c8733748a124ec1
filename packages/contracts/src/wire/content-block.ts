import * as z from 'zod'

/** Content of prompts and of tool calls. The shapes are ACP's, which MCP shares. */
export const contentBlockSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({
    type: z.literal('image'),
    /** Base64. */
    data: z.string(),
    mimeType: z.string(),
    uri: z.string().optional(),
  }),
  z.strictObject({
    type: z.literal('audio'),
    /** Base64. */
    data: z.string(),
    mimeType: z.string(),
  }),
  z.strictObject({
    type: z.literal('resource_link'),
    uri: z.string(),
    name: z.string(),
    mimeType: z.string().optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    size: z.number().optional(),
  }),
  z.strictObject({
    type: z.literal('resource'),
    resource: z.strictObject({
      uri: z.string(),
      mimeType: z.string().optional(),
      /** Either text ... */
      text: z.string().optional(),
      /** ... or base64. */
      blob: z.string().optional(),
    }),
  }),
])
export type ContentBlock = Readonly<z.infer<typeof contentBlockSchema>>
