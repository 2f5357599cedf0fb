// The script of the page on which people sign in. It sends a link's token on a click alone: programs that look into mails
// open pages and run scripts.

const byId = (id) => document.getElementById(id)
const say = (text) => (byId('status').textContent = text)
let fragment = new URLSearchParams()

/** The token must not stay in the address bar or in the history. */
function takeFragment() {
  fragment = new URLSearchParams(location.hash.slice(1))
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search)
}

/** Where one wanted to go: a path of our pages only. */
function wantedPath() {
  const wanted = new URLSearchParams(location.search).get('return') ?? ''
  return /^\/(app\/[^/\\]|$)/.test(wanted) ? wanted : '/'
}

async function ask(method, path, body) {
  const init = { method, headers: body === undefined ? {} : { 'Content-Type': 'application/json' } }
  const response = await fetch(path, body === undefined ? init : { ...init, body: JSON.stringify(body) })
  return { status: response.status, body: response.status === 204 ? {} : await response.json() }
}

const WORDS = {
  sign_in_refused: 'The link or the code is not valid any more. Ask for a new one.',
  rate_limited: 'Too many tries. Wait a minute and try again.',
  unavailable: 'This is not available right now. Try again in a moment.',
  invitation_over: 'The invitation is for another address, or it was used, replaced or is over.',
}
const explain = ({ body }) => say(WORDS[body.error] ?? 'This did not work.')

const hideAll = () => ['by-link', 'by-mail', 'by-oidc', 'invited', 'me'].forEach((part) => (byId(part).hidden = true))

async function showMe() {
  const shown = fragment
  const me = await ask('GET', '/api/me')
  if (me.status !== 200 || shown !== fragment) return me.status === 200
  hideAll()
  say(`You are signed in as ${me.body.email}.`)
  const lines = me.body.organizations.map(({ displayName, role }) => {
    const line = document.createElement('li')
    line.textContent = `${displayName}: ${role}`
    return line
  })
  byId('organizations').replaceChildren(...lines)
  byId('me').hidden = false
  return true
}

async function acceptInvitation() {
  const invitation = fragment.get('invitation')
  if (invitation === null) return
  const answer = await ask('POST', '/api/invitations/accept', { invitation })
  if (answer.status === 200) await showMe()
  else explain(answer)
}

async function offerWays() {
  const shown = fragment
  byId('invited').hidden = !fragment.has('invitation')
  const { body } = await ask('GET', '/api/sign-in')
  // Another link was opened here meanwhile.
  if (shown !== fragment) return
  byId('by-mail').hidden = !body.mail
  byId('by-oidc').hidden = !body.oidc
  if (!body.mail && !body.oidc) say('Ask whoever runs this service for a link.')
  if (fragment.get('failed') === 'account_replaced')
    say('This address belonged to another account. Ask an owner of the organisation to invite you again.')
  else if (fragment.has('failed')) say('The identity provider did not sign you in.')
}

function on(id, act) {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault()
    if (event.isTrusted) act().catch(() => say('This is not available right now.'))
  })
}

on('by-mail', async () => {
  const answer = await ask('POST', '/api/sign-in/mail', { email: byId('email').value.trim().toLowerCase() })
  if (answer.status === 202) say('If the address may sign in, a mail with a link is on its way.')
  else explain(answer)
})
on('by-oidc', async () => {
  const answer = await ask('POST', '/api/sign-in/oidc', { returnTo: wantedPath() })
  if (answer.status === 200) location.assign(answer.body.url)
  else explain(answer)
})
on('by-link', async () => {
  const mail = fragment.get('mail')
  const code = byId('code-label').hidden ? {} : { code: byId('code').value.trim() }
  const answer =
    mail === null
      ? await ask('POST', '/api/sign-in/link', { token: fragment.get('link') })
      : await ask('POST', '/api/sign-in/mail/confirm', { token: mail, ...code })
  if (answer.body.error === 'code_required') {
    byId('code-label').hidden = false
    say('You asked for the link in another browser. Type the code from the mail.')
  } else if (answer.status === 200) location.assign(wantedPath())
  else explain(answer)
})
on('sign-out', async () => {
  await ask('POST', '/api/sign-out', {})
  location.reload()
})

async function open() {
  takeFragment()
  const shown = fragment
  hideAll()
  say('')
  byId('code-label').hidden = true
  byId('code').value = ''
  if (fragment.has('mail') || fragment.has('link')) {
    byId('by-link').hidden = false
    return
  }
  const isSignedIn = await showMe()
  if (shown !== fragment) return
  if (isSignedIn) await acceptInvitation()
  else await offerWays()
}

const openNow = () => open().catch(() => say('This is not available right now.'))
// A link that is pasted into the tab of this page changes the fragment alone.
addEventListener('hashchange', () => {
  if (location.hash !== '') openNow()
})
openNow()
