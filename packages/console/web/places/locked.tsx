import { useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'

/** What a browser without a login gets: how to get in, and nothing else. */
export function Locked({ gateway }: { readonly gateway: Gateway }) {
  const [problem, setProblem] = useState('')
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const code = new FormData(event.currentTarget as HTMLFormElement).get('code')
    const isRight = typeof code === 'string' && (await gateway.logIn(code.trim()))
    setProblem(isRight ? '' : 'The gateway does not know this code: it was used before, or is too old.')
  }
  return (
    <main class="locked">
      <h1>agentproto</h1>
      <p>On the machine of the gateway, run:</p>
      <pre>agentproto open</pre>
      <p>It opens this page with a code that works once. Or enter the code here:</p>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          Code <input name="code" autocomplete="off" autocapitalize="none" spellcheck={false} required />
        </label>
        <button type="submit">Log in</button>
      </form>
      <p role="alert">{problem}</p>
    </main>
  )
}
