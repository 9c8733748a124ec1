import { Outside } from './outside.js'

/** Why something failed, in the gateway's words; they can name files. It is in the document always, so that it is read aloud. */
export function Problem({ text }: { readonly text: string }) {
  return (
    <p class="problem" role="alert">
      {text === '' ? null : <Outside text={text} />}
    </p>
  )
}
