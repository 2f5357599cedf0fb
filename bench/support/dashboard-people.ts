/** People for benchmarks of the dashboard: their organisations, and how they are signed in. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { connectTools } from '../../bin/tools/control.ts'
import { installPath, organization, resource, website, type Manifest } from '../../fixtures/service/manifests.ts'
import { urlIdOf, visitBody } from '../../fixtures/service/requests.ts'
import type { DueRequest } from './open-loop.ts'

export const WEBSITES_EACH = 20
export const MEMBERS_EACH = 20

export function emailOf(place: number): string {
  return `person-${place}@bench.dev`
}

export function organizationName(place: number): string {
  return `org-${place}`
}

/** An organisation with its websites, an install path and Owners; `place` counts organisations. */
export function organizationObjects(place: number): readonly Manifest[] {
  const organizationRef = { name: organizationName(place) }
  const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => place * count + index)
  return [
    organization(organizationName(place)),
    installPath(`cli-${place}`, { organizationRef }),
    ...range(WEBSITES_EACH).map((index) => website(`site-${index}`, { organizationRef, providers: ['ga4'] })),
    ...range(MEMBERS_EACH).map((index) =>
      resource('Member', `person-${index}`, { organizationRef, email: emailOf(index), role: 'Owner' }),
    ),
  ]
}

/** The same as files for the embedded program; resolves once they are written. */
export async function writeOrganizations(folder: string, count: number): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (let place = 0; place < count; place += 1) {
    const documents = organizationObjects(place).map((object) => JSON.stringify(object))
    await writeFile(join(folder, `${organizationName(place)}.yaml`), documents.join('\n---\n'))
  }
}

/**
 * Visits of all websites of `writeOrganizations` in turns, each from its own address: with enough of them no limit is reached.
 */
export function siteVisits(organizations: number): () => DueRequest {
  let visits = 0
  return () => {
    const place = visits++
    const project = `site-${place % (organizations * WEBSITES_EACH)}`
    const origin = `https://${project}.example`
    const address = `${20 + (place >> 16)}.${(place >> 8) & 255}.${place & 255}.1`
    const page = `${origin}/install`
    return {
      path: '/v1/visits',
      headers: { 'Content-Type': 'application/json', Origin: origin, 'X-Forwarded-For': address },
      body: JSON.stringify(visitBody({ project, page_url: page, url_id: urlIdOf(page) })),
    }
  }
}

/** Headers of the dashboard's own pages, from a client address of its own. */
export function ownPage(cookie: string, place: number): Readonly<Record<string, string>> {
  const address = `198.${18 + (place >> 16)}.${(place >> 8) & 255}.${place & 255}`
  return { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-For': address, Cookie: cookie }
}

/**
 * The cookie of a new session of each, as the operator of the service can create them.
 * @throws if the program that holds the data folder does not answer
 */
export async function signInAll(url: string, data: string, emails: readonly string[]): Promise<readonly string[]> {
  const tools = await connectTools(data)
  if (tools === null) throw new Error('the dashboard does not answer its tools')
  const cookies: string[] = []
  for (const [place, email] of emails.entries()) {
    const link = await tools.signInLink({ email, ownerOf: null })
    const token = /#link=([\w-]{43})/.exec(link)?.[1] ?? ''
    const headers = { ...ownPage('', place), 'Content-Type': 'application/json' }
    const signedIn = await fetch(`${url}/api/sign-in/link`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ token }),
    })
    if (!signedIn.ok) throw new Error(`somebody was not signed in: ${signedIn.status} ${await signedIn.text()}`)
    cookies.push(signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '')
  }
  return cookies
}
