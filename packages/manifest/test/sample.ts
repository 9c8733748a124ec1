/** A whole, valid manifest; tests change one thing of it at a time. */
export const SAMPLE = `---
name: sample
id: sample-agent
description: An agent for tests.
version: 1.2.3
bin: sample-agent
bin_args: [acp]
install:
  - method: npm
    package: "@sample/agent"
  - method: curl
    url: https://sample.example/install.sh
    verify_sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
version_check:
  cmd: sample-agent --version
  parse: (\\d+\\.\\d+\\.\\d+)
  range: ">=1.0.0 <3"
requires:
  os: [linux, darwin]
  arch: [x64, arm64]
setup:
  - id: region
    kind: prompt
    prompt: Which region?
    type: select
    options: [eu, us]
    persist:
      env: SAMPLE_REGION
  - id: daemon
    kind: cmd
    cmd: sample-agent daemon install --region \${input.region}
    skip_if:
      cmd: sample-agent daemon status
auth:
  state:
    paths: ["~/.sample/auth.json"]
    env: [SAMPLE_API_KEY]
  login:
    cmd: sample-agent login
    interactive: true
  refresh:
    cmd: sample-agent refresh
    every: PT12H
  expiry:
    detect: exit_code:41
sandbox:
  provider: local
  env:
    passthrough: [HTTPS_PROXY]
    set:
      SAMPLE_TELEMETRY: "0"
  network:
    egress: [api.sample.example, "*.sample.example"]
protocol: acp
acp: ./ACP.md
session:
  mode: resumable
  idle_timeout_ms: 900000
models:
  default: sample-large
  allowed: [sample-large, sample-small]
  env:
    default: SAMPLE_MODEL
    sample: SAMPLE_API_KEY
capabilities:
  streaming: true
  tool_calls: true
  resumable: true
modes:
  - id: default
  - id: plan
    description: Plans only.
    bin_args_append: ["--permission-mode", "plan"]
    env:
      SAMPLE_PLAN: "1"
options:
  - id: model
    type: enum
    enum: [sample-large, sample-small]
    default: sample-large
    bin_args_template: ["--model", "{value}"]
  - id: max_turns
    type: integer
    min: 1
    max: 200
    bin_args_template: ["--max-turns={value}"]
  - id: auto
    type: boolean
    bin_args_append_when_true: ["--auto"]
  - id: persona
    type: string
    default: plain
    env:
      SAMPLE_PERSONA: "{value}"
continuation:
  default: pinned-session
  supported: [pinned-session, native-resume, none]
examples:
  - goal: Say hello
    prompt: Hello
tags: [sample, test]
metadata:
  agentproto:
    verified: true
---
# Sample

Text for people.
`

/** The sample with one text replaced; a text that is not there fails the test. */
export function sampleWith(from: string, to: string): string {
  if (!SAMPLE.includes(from)) throw new Error(`The sample does not hold ${from}`)
  return SAMPLE.replace(from, () => to)
}
