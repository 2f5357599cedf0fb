/** One install as a picture along a time axis: visits on the left, the install in the middle, deliveries on the right. */

import type { CSSProperties, ReactNode } from 'react'

import { statusText, verdictText } from '../parts/install-words.ts'
import { spanText } from '../parts/numbers.tsx'
import { originText } from './origin.tsx'
import { scaleOf, type Scale } from './scale.ts'
import { deadlineOf, isStillOpen, type DeliveryLane, type Story, type VisitLane, type VisitTimes } from './story.ts'

/** In pixels. Labels are above the tracks, so that both fit a phone. */
const HEAD = 44
const LANE = 64
const TRACK = 46

interface PictureProps {
  readonly story: Story
  /** A sentence that describes the whole picture. */
  readonly sentence: string
  readonly nowMs: number
}

/** Hidden from screen readers: the table below has the same content. */
export function Picture({ story, sentence, nowMs }: PictureProps): ReactNode {
  const { visits, deliveries, installedAtMs } = story
  const scale = scaleOf(story, nowMs)
  const height = HEAD + LANE * (Math.max(1, visits.length) + Math.max(1, deliveries.length)) + 12
  const laneAt = (place: number): number => HEAD + LANE * place
  const afterVisits = laneAt(Math.max(1, visits.length))
  const middle = scale.at(installedAtMs)
  return (
    <figure className="picture card" role="img" aria-label={sentence}>
      <div className="stage" style={{ height }} aria-hidden>
        <svg width="100%" height={height}>
          <Axis scale={scale} middle={middle} height={height} />
          {visits.map((lane, place) => (
            <VisitTrack key={lane.key} lane={lane} scale={scale} y={laneAt(place) + TRACK} middle={middle} />
          ))}
          {deliveries.map((lane, place) => (
            <DeliveryTrack
              key={lane.destination}
              lane={lane}
              scale={scale}
              middle={middle}
              y={afterVisits + LANE * place + TRACK}
            />
          ))}
          <circle className="install" cx={`${middle}%`} cy={HEAD - 8} r={6} />
        </svg>
        <span className="install-name" style={{ left: `${middle}%` }}>
          Install
        </span>
        {visits.length === 0 && <Label top={laneAt(0)} title="No visit" text="no receipt and no token came along" />}
        {visits.map((lane, place) => (
          <Label
            key={lane.key}
            top={laneAt(place)}
            title={visitTitle(lane)}
            text={verdictText(lane.verdict)}
            tone={lane.isChosen ? 'chosen' : ''}
          />
        ))}
        {deliveries.length === 0 && (
          <Label top={afterVisits} title="No delivery" text="the website has no destination" />
        )}
        {deliveries.map((lane, place) => (
          <Label
            key={lane.destination}
            top={afterVisits + LANE * place}
            title={lane.destination}
            text={deliveryText(lane, installedAtMs)}
            tone={lane.status}
          />
        ))}
      </div>
      <Legend hasDeliveries={deliveries.some(({ attempts }) => attempts.length > 0)} hasVisits={visits.length > 0} />
    </figure>
  )
}

interface LabelProps {
  readonly top: number
  readonly title: string
  readonly text: string
  readonly tone?: string
}

function Label({ top, title, text, tone = '' }: LabelProps): ReactNode {
  return (
    <p className={`lane ${tone}`} style={{ top }}>
      <strong>{title}</strong> <span>{text}</span>
    </p>
  )
}

function visitTitle({ isChosen, visit, visitId }: VisitLane): string {
  if (visitId === null) return 'A receipt'
  return `${isChosen ? '★ ' : ''}${visit === null ? 'A visit that is not kept' : originText(visit)}`
}

function deliveryText(lane: DeliveryLane, installedAtMs: number): string {
  const deadline = deadlineOf(lane)
  const tries = lane.attempts.length
  const after = tries === 0 ? '' : ` after ${tries} ${tries === 1 ? 'try' : 'tries'}`
  const until =
    isStillOpen(lane) && deadline !== null ? `, until ${spanText(deadline - installedAtMs)} after the install` : ''
  return `${statusText(lane.status)}${after}${until}`
}

function Axis({ scale, middle, height }: { readonly scale: Scale; readonly middle: number; readonly height: number }) {
  return (
    <g className="axis">
      {scale.ticks.map(({ at, text, isMain }) => (
        <g key={at} className={isMain ? 'main' : 'fine'}>
          <line x1={`${at}%`} x2={`${at}%`} y1={HEAD - 18} y2={height} />
          <text x={`${at}%`} y={HEAD - 24} textAnchor="middle">
            {at < middle ? `−${text}` : `+${text}`}
          </text>
        </g>
      ))}
      <line className="middle" x1={`${middle}%`} x2={`${middle}%`} y1={HEAD - 8} y2={height} />
      {scale.nowMs !== null && (
        <g className="now">
          <line x1={`${scale.at(scale.nowMs)}%`} x2={`${scale.at(scale.nowMs)}%`} y1={HEAD - 18} y2={height} />
          <text x={`${scale.at(scale.nowMs)}%`} y={height - 2} textAnchor="middle">
            now
          </text>
        </g>
      )}
    </g>
  )
}

interface TrackProps {
  readonly scale: Scale
  readonly y: number
  readonly middle: number
}

/** From the visit to the end of its receipt; the line of the chosen visit reaches the install. */
function VisitTrack({ lane, scale, y, middle }: TrackProps & { readonly lane: VisitLane }): ReactNode {
  const { times, isChosen } = lane
  const { issuedAtMs, endsAtMs } = times
  if (issuedAtMs === null || endsAtMs === null) return null
  const from = `${scale.at(issuedAtMs)}%`
  const to = isChosen ? middle : scale.at(endsAtMs)
  return (
    <g className={isChosen ? 'visit chosen' : 'visit'}>
      <line x1={from} x2={`${to}%`} y1={y} y2={y} />
      <circle cx={from} cy={y} r={isChosen ? 6 : 4.5} />
      {marksOf(times, scale).map(({ className, x, text, shift }) => (
        <Mark key={className} className={className} x={x} y={y} text={text} shift={shift} />
      ))}
      {isChosen ? (
        <circle className="end" cx={`${to}%`} cy={y} r={4} />
      ) : (
        <Mark className="ended" x={to} y={y} text="×" shift={0} />
      )}
    </g>
  )
}

interface MarkPlace {
  readonly className: string
  /** Percent of the width. */
  readonly x: number
  readonly text: string
  /** Pixels to the right. */
  readonly shift: number
}

/** Marks that are closer than this would overprint each other on a phone, in percent and in pixels. */
const NEAR = 5
const MARK_WIDTH = 15

/** In their order; one that is too near to the one before stands right beside it. */
function marksOf({ activatedAtMs, copiedAtMs }: VisitTimes, scale: Scale): readonly MarkPlace[] {
  const marks = [
    { className: 'confirmed', at: activatedAtMs, text: '✓' },
    { className: 'copied', at: copiedAtMs, text: '▣' },
  ].flatMap(({ at, ...mark }) => (at === null ? [] : [{ ...mark, x: scale.at(at) }]))
  const inOrder = marks.toSorted((a, b) => a.x - b.x)
  return inOrder.map((mark, place) => {
    const before = inOrder[place - 1]
    const isNear = before !== undefined && mark.x - before.x < NEAR
    return isNear ? { ...mark, x: before.x, shift: MARK_WIDTH } : { ...mark, shift: 0 }
  })
}

/** Drawn above its line, so that neighbouring marks stay legible. */
function Mark({ x, y, text, className, shift }: MarkPlace & { readonly y: number }) {
  return (
    <text
      className={`mark ${className}`}
      x={`${x}%`}
      dx={shift}
      y={className === 'ended' ? y + 5 : y - 8}
      textAnchor="middle"
    >
      {text}
    </text>
  )
}

/** From the install to the provider's deadline, with each attempt. */
function DeliveryTrack({ lane, scale, y, middle }: TrackProps & { readonly lane: DeliveryLane }): ReactNode {
  const deadline = deadlineOf(lane)
  const last = lane.attempts.at(-1)
  const next = lane.delivery?.next_attempt_at_ms ?? null
  return (
    <g className={`delivery ${lane.status}`}>
      {deadline !== null && (
        <>
          <line className="room" x1={`${middle}%`} x2={`${scale.at(deadline)}%`} y1={y} y2={y} />
          <line
            className="deadline"
            x1={`${scale.at(deadline)}%`}
            x2={`${scale.at(deadline)}%`}
            y1={y - 8}
            y2={y + 8}
          />
        </>
      )}
      {last !== undefined && (
        <line className="done" x1={`${middle}%`} x2={`${scale.at(last.started_at_ms)}%`} y1={y} y2={y} />
      )}
      {lane.attempts.map(({ attempt_id: id, started_at_ms: at, outcome }) => {
        const isGood = outcome === 'delivered' || outcome === 'accepted'
        return isGood ? (
          <circle key={id} className="attempt good" cx={`${scale.at(at)}%`} cy={y} r={6} />
        ) : (
          <Cross key={id} x={scale.at(at)} y={y} />
        )
      })}
      {next !== null && isStillOpen(lane) && <Next x={scale.at(next)} y={y} />}
    </g>
  )
}

/** Its shape distinguishes it from a success. */
function Cross({ x, y }: { readonly x: number; readonly y: number }): ReactNode {
  return (
    <svg className="attempt bad" x={`${x}%`} y={y} overflow="visible">
      <path d="M-5-5 5 5M-5 5 5-5" />
    </svg>
  )
}

/** A circle would be a visit. */
function Next({ x, y }: { readonly x: number; readonly y: number }): ReactNode {
  return (
    <svg className="attempt next" x={`${x}%`} y={y} overflow="visible">
      <path d="M-5-6 6 0-5 6z" />
    </svg>
  )
}

const SIGNS = {
  visits: [
    ['○', 'visit'],
    ['★', 'chosen visit'],
    ['✓', 'browser keeps the marker'],
    ['▣', 'command copied'],
    ['×', 'no longer counts'],
  ],
  deliveries: [
    ['●', 'taken by the provider'],
    ['✕', 'a try that failed'],
    ['▷', 'next try'],
    ['┃', 'deadline'],
  ],
} as const

function Legend({ hasVisits, hasDeliveries }: { readonly hasVisits: boolean; readonly hasDeliveries: boolean }) {
  const shown = [...(hasVisits ? SIGNS.visits : []), ...(hasDeliveries ? SIGNS.deliveries : [])]
  const gap: CSSProperties = shown.length === 0 ? { display: 'none' } : {}
  return (
    <p className="legend" style={gap} aria-hidden>
      {shown.map(([sign, text]) => (
        <span key={text}>
          <b>{sign}</b> {text}
        </span>
      ))}
    </p>
  )
}
