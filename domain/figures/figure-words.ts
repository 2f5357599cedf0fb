/** What each number counts, for people who act on it: the cards of the pages and docs/figures.md show these words. */

interface FigureWords {
  readonly title: string
  readonly means: string
}

export const FIGURE_WORDS = {
  visits: {
    title: 'Visits',
    means:
      'Somebody came to your website: the pages that one browser viewed without a break of half an hour, from one source. Crawlers, automated browsers, agents and tests are not among them.',
  },
  copied: {
    title: 'Copied',
    means: 'Visits in which the install command was copied, by a button or by selecting it.',
  },
  installs: {
    title: 'Installs',
    means:
      'Machines that installed your product in this time, each once: its first completed install or first run. Upgrades and reinstalls are not among them, nor CI, containers and tests unless you count them. A machine is not a person.',
  },
  conversion: {
    title: 'Conversion',
    means:
      'Of the visits that began in this time, the share that led to an install within seven days. Visits of the last seven days may still do so. Installs from CI, containers and tests never count here.',
  },
  match_rate: {
    title: 'Match rate',
    means:
      'Of the installs that were looked up and decided, the share that has a visit. The others are installs all the same; the page Match rate says why they have no visit.',
  },
  known_source: {
    title: 'Known source',
    means:
      'Installs whose visit names where it came from: a campaign, a search engine, another website. A visit that names nothing is Direct.',
  },
  ran: {
    title: 'Ran',
    means:
      'The installed product ran for the first time. Of installs: those that completed and ran within seven days. On the funnel: visits whose install has run.',
  },
  upgrades: {
    title: 'Upgrades',
    means: 'A machine that had your product reported another version. An upgrade is no install.',
  },
  reinstalls: {
    title: 'Reinstalls',
    means:
      'A machine that had your product completed an install again, of the same version. A reinstall is no install.',
  },
  page_views: {
    title: 'Page views',
    means:
      'Single views of pages with the SDK. The quota counts them, those of automated browsers and agents too, but not those of crawlers. Figures put page views of people together to visits.',
  },
  install_events: {
    title: 'Install events',
    means:
      'Everything that installers reported: started, completed, ran for the first time; also upgrades, reinstalls, CI, containers and tests. The quota counts them.',
  },
} as const satisfies Readonly<Record<string, FigureWords>>

export type FigureName = keyof typeof FIGURE_WORDS
