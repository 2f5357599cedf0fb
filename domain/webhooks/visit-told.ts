/** What an event about an install says of its visit: names of sources and campaigns and a path; no address, no query, no identifier. */

import { printable } from '../../common/printable.ts'
import type { Visit } from '../collection/visit-fields.ts'
import type { OwnedWebsite, VisitId } from '../model.ts'
import type { NoticedEvent } from './events.ts'

interface ToldVisit extends OwnedWebsite {
  readonly visitId: VisitId
}

/** The visit that the event is about; null if it is about none. */
export function visitToldBy({ type, organization, website, data }: NoticedEvent): ToldVisit | null {
  const visitId = data['visitId']
  return type === 'install.matched' && typeof visitId === 'string' ? { organization, website, visitId } : null
}

/** The event with what its visit says. An empty text: the visit has none; an empty source is a direct visit. */
export function withVisit(event: NoticedEvent, { traffic, landingPage }: Visit): NoticedEvent {
  const told = {
    source: toldText(traffic.source),
    medium: toldText(traffic.medium),
    campaign: toldText(traffic.campaign),
    landingPath: withoutMail(URL.parse(landingPage)?.pathname ?? ''),
  }
  return { ...event, data: { ...event.data, ...told } }
}

const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:)?\/\/|^[^\s/?#]+\.[a-z]{2,}[/?#]/i

const MAIL_ADDRESS = /[^\s/@]+@[^\s/@]+\.[^\s/@]+/g

/**
 * A text that a visitor or an installer gave, without what steers a terminal and without mail addresses. Of an address of the web only the host is
 * told, which is its name.
 */
export function toldText(text: string): string {
  const shown = withoutMail(text.trim())
  if (!ADDRESS.test(shown)) return shown
  const url = URL.parse(shown.includes('//') ? shown.replace(/^\/\//, 'https://') : `https://${shown}`)
  return url === null ? '' : url.hostname.replace(/^www\./, '')
}

function withoutMail(text: string): string {
  return printable(text).replace(MAIL_ADDRESS, '…')
}
