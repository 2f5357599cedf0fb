/** The pages of an organisation: their addresses, titles and keys. */

interface PageEntry {
  readonly to: `/app/$organization/${'overview' | 'alerts' | 'live' | 'logs' | 'checklist' | 'funnel' | 'match' | 'sources' | 'campaign-links' | 'spend' | 'installs' | 'deliveries' | 'streams' | 'resources' | 'activity' | 'usage' | 'what-if' | 'support' | 'members' | 'keys' | 'links' | 'account'}`
  readonly title: string
  /** Pressed after `g`. */
  readonly key: string
}

export interface PageGroup {
  readonly title: string
  readonly pages: readonly PageEntry[]
}

/** In the order in which people need them: how it goes, what it says, who belongs to it, and apart from these what developers look at. */
export const NAVIGATION: readonly PageGroup[] = [
  {
    title: 'Start',
    pages: [
      { to: '/app/$organization/overview', title: 'Overview', key: 'v' },
      { to: '/app/$organization/alerts', title: 'Alerts', key: 'u' },
      { to: '/app/$organization/checklist', title: 'Checklist', key: 'c' },
    ],
  },
  {
    title: 'Understand',
    pages: [
      { to: '/app/$organization/funnel', title: 'Funnel', key: 'f' },
      { to: '/app/$organization/match', title: 'Match rate', key: 't' },
      { to: '/app/$organization/sources', title: 'Sources', key: 's' },
      { to: '/app/$organization/campaign-links', title: 'Campaign links', key: 'x' },
      { to: '/app/$organization/spend', title: 'Spend', key: 'n' },
      { to: '/app/$organization/installs', title: 'Installs', key: 'i' },
      { to: '/app/$organization/deliveries', title: 'Deliveries', key: 'd' },
      { to: '/app/$organization/what-if', title: 'What if', key: 'w' },
    ],
  },
  {
    title: 'Organisation',
    pages: [
      { to: '/app/$organization/usage', title: 'Plan and usage', key: 'p' },
      { to: '/app/$organization/members', title: 'Members', key: 'm' },
      { to: '/app/$organization/keys', title: 'API keys', key: 'k' },
      { to: '/app/$organization/links', title: 'Share links', key: 'b' },
      { to: '/app/$organization/activity', title: 'Activity', key: 'a' },
      { to: '/app/$organization/support', title: 'Support', key: 'h' },
      { to: '/app/$organization/account', title: 'Your account', key: 'y' },
    ],
  },
  {
    title: 'For developers',
    pages: [
      { to: '/app/$organization/live', title: 'Live', key: 'l' },
      { to: '/app/$organization/logs', title: 'Logs', key: 'o' },
      { to: '/app/$organization/resources', title: 'Resources', key: 'r' },
      { to: '/app/$organization/streams', title: 'Streams and webhooks', key: 'e' },
    ],
  },
]

export const PAGES: readonly PageEntry[] = NAVIGATION.flatMap(({ pages }) => pages)
