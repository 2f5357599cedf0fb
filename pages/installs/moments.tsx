/** Everything in order of time, as a table: the same as the picture, for people who cannot see it. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { statusText, verdictText } from '../parts/install-words.ts'
import { spanText } from '../parts/numbers.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Moment } from '../parts/time.tsx'
import { originText } from './origin.tsx'
import { deadlineOf, isStillOpen, type DeliveryLane, type Story, type VisitLane } from './story.ts'

interface HappenedMoment {
  readonly at: number
  readonly what: string
  readonly detail: string
  /** The reference that finds its lines in Logs. */
  readonly reference: string | null
}

interface MomentTableProps {
  readonly story: Story
  readonly organization: string
  readonly event: string
}

export function MomentTable({ story, organization, event }: MomentTableProps): ReactNode {
  return (
    <section aria-labelledby="moments">
      <h2 id="moments">In the order of time</h2>
      <div className="wide">
        <table className="list stacks moments">
          <TableHead columns={['When', 'What', 'More', 'Logs']} />
          <tbody>
            {momentsOfStory(story, event).map(({ at, what, detail, reference }) => (
              <tr key={`${at} ${what} ${detail}`}>
                <td>
                  <Moment ms={at} />
                  <small>{distance(at - story.installedAtMs)}</small>
                </td>
                <th scope="row">{what}</th>
                <td className="detail">{detail}</td>
                <td>
                  {reference !== null && (
                    <Link to="/app/$organization/logs" params={{ organization }} search={{ reference }}>
                      lines<span className="unseen"> of Logs: {what}</span>
                    </Link>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function distance(ms: number): string {
  return ms === 0 ? '' : `${spanText(ms)} ${ms < 0 ? 'before' : 'after'}`
}

function momentsOfStory({ visits, deliveries, installedAtMs }: Story, event: string): readonly HappenedMoment[] {
  const install = { at: installedAtMs, what: 'The install was reported', detail: '', reference: event }
  return [...visits.flatMap(ofVisit), install, ...deliveries.flatMap(ofDelivery)].sort((a, b) => a.at - b.at)
}

function ofVisit(lane: VisitLane): readonly HappenedMoment[] {
  const { visit, visitId: reference, isChosen, verdict, times } = lane
  const from = visit === null ? 'A visit that is not kept' : originText(visit)
  const of = (at: number | null, what: string, detail = from): readonly HappenedMoment[] =>
    at === null ? [] : [{ at, what, detail, reference }]
  const judged = `${from}; ${isChosen ? 'chosen, ' : ''}${verdictText(verdict)}`
  return [
    ...of(times.issuedAtMs, 'A visit began', judged),
    ...of(times.activatedAtMs, 'The browser confirmed the marker'),
    ...of(times.copiedAtMs, 'The command was copied'),
    ...of(times.revokedAtMs, 'A newer visit replaced it'),
  ]
}

function ofDelivery(lane: DeliveryLane): readonly HappenedMoment[] {
  const { destination, attempts, delivery } = lane
  const reference = delivery?.job_id ?? null
  const tries = attempts.map((attempt) => ({
    at: attempt.started_at_ms,
    what: `Try ${attempt.number} for ${destination}`,
    detail: `${attempt.response_status === 0 ? 'no answer' : attempt.response_status}, ${attempt.outcome}`,
    reference,
  }))
  const deadline = deadlineOf(lane)
  const next = delivery?.next_attempt_at_ms ?? null
  return [
    ...tries,
    ...(next === null || !isStillOpen(lane)
      ? []
      : [{ at: next, what: `Next try for ${destination}`, detail: '', reference: null }]),
    ...(deadline === null
      ? []
      : [{ at: deadline, what: `Deadline of ${destination}`, detail: statusText(lane.status), reference: null }]),
  ]
}
