/** The time of day as lists show it: with its date unless that is today's. */

interface ShownClock {
  readonly ms: number
  readonly nowMs: number
}

/** Texts for a time zone, the viewer's if absent. */
export function clockTexts(timeZone?: string): (moment: ShownClock) => string {
  const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', timeZone })
  const date = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone })
  const year = new Intl.DateTimeFormat(undefined, { year: 'numeric', timeZone })
  const datedYear = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone })
  return ({ ms, nowMs }) => {
    const time = clock.format(ms)
    if (year.format(ms) !== year.format(nowMs)) return `${datedYear.format(ms)}, ${time}`
    return date.format(ms) === date.format(nowMs) ? time : `${date.format(ms)}, ${time}`
  }
}
