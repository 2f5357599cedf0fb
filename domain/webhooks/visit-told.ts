/** What an event about an install says of its visit: names of sources and campaigns and a path; no address, no query, no identifier. */

import type { Visit } from '../collection/visit-fields.ts'
import type { OwnedWebsite, VisitId } from '../model.ts'
import type { NoticedEvent } from './events.ts'
import { toldText, withoutMail } from './told-text.ts'

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
