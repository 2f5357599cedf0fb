/** Checks the website and the page's origin at the service. These requests are not counted. */

import { textOf, memberOf } from '../../../domain/strict-json.ts'
import { ok, problem, type Tell } from './finding.ts'
import { failureReason, type PageSetup } from './page.ts'

const ASK_MS = 10_000
/**
 * Has the form of a receipt but is not genuine. The service checks the origin first, so a refusal of the receipt means
 * that the origin is registered.
 */
const NO_RECEIPT = 'A'.repeat(43)

interface ServiceCheck extends PageSetup {
  readonly origin: string
  /** The install path whose hook is requested; the first one if undefined. */
  readonly path: string | undefined
}

export async function checkService(check: ServiceCheck, tell: Tell): Promise<void> {
  try {
    if (!(await isWebsiteKnown(check, tell))) return
    await askOrigin(check, tell)
    await checkHook(check, tell)
  } catch (error) {
    tell(
      problem(
        'website',
        `${check.serviceUrl} cannot be reached from here: ${failureReason(error)}. Is the service up, and does its name resolve?`,
      ),
    )
  }
}

async function isWebsiteKnown({ serviceUrl, website }: ServiceCheck, tell: Tell): Promise<boolean> {
  const answer = await fetchAnswer(`${serviceUrl}v1/projects/${encodeURIComponent(website)}/browser-config`)
  if (answer.status === 200) {
    tell(ok('website', `The service knows the website "${website}".`))
    return true
  }
  const isUnknown = (await refusalCode(answer)) === 'website_not_found'
  tell(
    problem(
      'website',
      isUnknown
        ? `The service knows no website "${website}": take the ID of your Website resource (spec.id, else metadata.name), and see \`whencectl lint\`.`
        : `${serviceUrl} answers with status ${answer.status} and not as Whence does: is it the right address?`,
    ),
  )
  return false
}

/** Activates a made-up receipt: the origin is checked before the receipt. */
async function askOrigin({ serviceUrl, website, origin }: ServiceCheck, tell: Tell): Promise<void> {
  const answer = await fetchAnswer(`${serviceUrl}v1/visits/activate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ project: website, receipt: NO_RECEIPT }),
  })
  const code = await refusalCode(answer)
  if (code === 'receipt_not_found') tell(ok('origin', `${origin} is registered for the website.`))
  else if (code === 'origin_not_allowed')
    tell(
      problem('origin', `${origin} is not registered for the website "${website}": add it to its additionalDomains.`),
    )
  else
    tell(
      problem(
        'origin',
        `Whether ${origin} is registered could not be determined: the service answers ${answer.status} ${code}.`,
      ),
    )
}

async function checkHook({ serviceUrl, website, path }: ServiceCheck, tell: Tell): Promise<void> {
  const place = path === undefined ? '' : `/paths/${encodeURIComponent(path)}`
  const url = `${serviceUrl}v1/projects/${encodeURIComponent(website)}${place}/report.sh`
  const answer = await fetchAnswer(url)
  if (answer.ok && (await answer.text()).startsWith('#!/bin/sh')) tell(ok('hook', `The hook is at ${url}`))
  else if (answer.status === 404)
    tell(problem('hook', `${url} is not there: name an install path of the website's organisation.`))
  else tell(problem('hook', `${url} answers with status ${answer.status} and not with the hook.`))
}

function fetchAnswer(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(ASK_MS) })
}

async function refusalCode(answer: Response): Promise<string> {
  const body: unknown = await answer.json().catch(() => ({}))
  return textOf(memberOf(body, 'error'))
}
