/** Types of events that webhooks send, in words. Unknown ones are shown as they are. */

const EVENTS: Readonly<Record<string, string>> = {
  'install.matched': 'An install was matched',
  'install.unmatched': 'An install has no visit',
  'delivery.failed': 'A delivery failed for good',
  'delivery.expired': 'A delivery came too late',
  'destination.paused': 'A destination paused itself',
  'quota.reached': 'The quota of the month is used up',
  'limit.reached': 'A limit was reached',
  'plan.changed': 'The plan changed',
  'member.joined': 'A member joined',
  'stream.failing': 'A log stream fails',
  'summary.weekly': 'The numbers of a week',
  'website.not_accepted': 'A website is not accepted',
  'alert.opened': 'An alert was opened',
  'alert.closed': 'An alert was closed',
  test: 'Test',
}

export function eventWords(type: string): string {
  return EVENTS[type] ?? type
}
