/** The pages of an organisation: their addresses, titles and keys, and the question that each answers. */

interface PageEntry {
  readonly to: `/app/$organization/${'live' | 'logs' | 'checklist' | 'funnel' | 'match' | 'sources' | 'installs' | 'deliveries' | 'streams' | 'resources' | 'activity' | 'usage' | 'what-if' | 'support' | 'members' | 'account'}`
  readonly title: string
  /** Pressed after `g`. */
  readonly key: string
  readonly question: string
}

export interface PageGroup {
  readonly title: string
  readonly pages: readonly PageEntry[]
}

export const NAVIGATION: readonly PageGroup[] = [
  {
    title: 'Watch',
    pages: [
      { to: '/app/$organization/live', title: 'Live', key: 'l', question: 'Does it work right now?' },
      {
        ...{ to: '/app/$organization/logs', title: 'Logs', key: 'o' },
        question: 'What exactly was asked, and what was the answer?',
      },
      {
        ...{ to: '/app/$organization/deliveries', title: 'Deliveries', key: 'd' },
        question: 'What is stuck, what failed, and will it expire?',
      },
      {
        ...{ to: '/app/$organization/what-if', title: 'What if', key: 'w' },
        question: 'What would another policy have made of the installs that came?',
      },
    ],
  },
  {
    title: 'Set up',
    pages: [
      {
        ...{ to: '/app/$organization/checklist', title: 'Checklist', key: 'c' },
        question: 'What is set up, and what comes next?',
      },
      {
        ...{ to: '/app/$organization/resources', title: 'Resources', key: 'r' },
        question: 'What is configured, is it in force, and who manages it?',
      },
      {
        ...{ to: '/app/$organization/streams', title: 'Streams', key: 'e' },
        question: 'Does what happens here arrive where we want it?',
      },
    ],
  },
  {
    title: 'Understand',
    pages: [
      {
        ...{ to: '/app/$organization/funnel', title: 'Funnel', key: 'f' },
        question: 'Where do we lose them on the way from a visit to a first run?',
      },
      {
        ...{ to: '/app/$organization/match', title: 'Match rate', key: 't' },
        question: 'Why is it not 100 %, and what can we do about it?',
      },
      { to: '/app/$organization/sources', title: 'Sources', key: 's', question: 'What brings installs?' },
      {
        ...{ to: '/app/$organization/installs', title: 'Installs', key: 'i' },
        question: 'Which install came from where?',
      },
    ],
  },
  {
    title: 'Organisation',
    pages: [
      {
        ...{ to: '/app/$organization/members', title: 'Members', key: 'm' },
        question: 'Who belongs here, and what may they do?',
      },
      {
        ...{ to: '/app/$organization/activity', title: 'Activity', key: 'a' },
        question: 'What happened that I should know of?',
      },
      {
        ...{ to: '/app/$organization/usage', title: 'Plan and usage', key: 'p' },
        question: "How much of the month's quota is used, and what does the plan allow?",
      },
      {
        ...{ to: '/app/$organization/support', title: 'Support', key: 'h' },
        question: 'Who helps, and what do they get to know?',
      },
      { to: '/app/$organization/account', title: 'Your account', key: 'y', question: 'Where am I signed in?' },
    ],
  },
]

export const PAGES: readonly PageEntry[] = NAVIGATION.flatMap(({ pages }) => pages)
