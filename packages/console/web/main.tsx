import { render } from 'preact'
import './style.css'
import './parts/key-help.css'
import './parts/patch.css'
import './changes/changes.css'
import './hosts/hosts.css'
import './sessions/sessions.css'
import './settings/settings.css'
import './requests/request.css'
import { App } from './app.js'
import { Gateway } from './gateway/gateway.js'

const root = document.getElementById('console')
if (root !== null) render(<App gateway={new Gateway(document.baseURI)} />, root)
