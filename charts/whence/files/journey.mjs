/** Sends a visit and an install through the Service, as a browser and an installer would, and exits with 0 if they match. */

import { createHash, randomBytes } from 'node:crypto'

const [base, project, timeoutS] = process.argv.slice(2)
const origin = `https://${project}.invalid`
const page = `${origin}/install`
const untilMs = Date.now() + Number(timeoutS) * 1_000
const ANSWER_MS = 5_000
const PAUSE_MS = 1_000

/** The answer's body, or why there is none; never throws for what waiting may mend. */
async function post(path, body, headers = {}) {
  try {
    const response = await fetch(`${base}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    const answer = await response.json()
    return response.ok ? { answer } : { why: `${path}: ${response.status} ${answer.error}` }
  } catch (error) {
    return { why: `${path}: ${error.cause?.message ?? error.message}` }
  }
}

async function journey() {
  const urlId = `url_${createHash('sha256').update(page).digest('hex').slice(0, 16)}`
  const visit = await post('/v1/visits', { project, url_id: urlId, page_url: page }, { origin })
  if (visit.why !== undefined) return visit.why
  const { receipt } = visit.answer.marker
  const active = await post('/v1/visits/activate', { project, receipt }, { origin })
  if (active.why !== undefined) return active.why
  const install = {
    project,
    event_id: randomBytes(16).toString('hex'),
    installation_id: randomBytes(16).toString('hex'),
    event_type: 'install_completed',
    receipts: [receipt],
  }
  const told = await post('/v1/events', install)
  if (told.why !== undefined) return told.why
  console.log(`install ${install.event_id}: ${told.answer.resolution}`)
  return told.answer.resolution === 'matched' ? null : `the install is ${told.answer.resolution}, not matched`
}

let why = 'no time to begin'
while (why !== null && Date.now() < untilMs) {
  why = await journey()
  if (why === null) break
  console.log(`not yet: ${why}`)
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
}
if (why === null) console.log('A visit and an install went through and were tied together.')
process.exitCode = why === null ? 0 : 1
