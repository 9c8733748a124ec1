#!/usr/bin/env node
// agentproto-keeper FOLDER [OPTIONS]: holds the pipes of agents. See docs/keeper.md. One import, before anything runs: the files
// may be replaced by an upgrade while it lives.
await import('../dist/agentproto-keeper.js')
