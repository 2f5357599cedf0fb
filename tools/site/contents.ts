/** What the site's sidebar shows, in the order in which people need it. A test checks that no page of docs/ is missing. */

interface Chapter {
  readonly title: string
  /** Markdown files below docs/; with a leading slash, of the repository's root. */
  readonly pages: readonly string[]
}

export const CHAPTERS: readonly Chapter[] = [
  { title: 'Begin', pages: ['quickstart.md', 'vm.md', 'kubernetes.md', 'gitops.md', 'figures.md', 'glossary.md'] },
  {
    title: 'Tasks',
    pages: [
      'tasks/campaigns.md',
      'tasks/spend.md',
      'tasks/funnel.md',
      'tasks/match-rate.md',
      'tasks/unmatched.md',
      'tasks/one-install.md',
      'tasks/deliveries.md',
      'tasks/ga4.md',
      'connect.md',
      'tasks/commands.md',
      'tasks/agents.md',
      'tasks/erasure.md',
    ],
  },
  { title: 'Website and installer', pages: ['sdk.md', 'hook.md', 'hook-recipes.md'] },
  {
    title: 'Dashboard',
    pages: [
      'overview.md',
      'one-week.md',
      'weekly-mail.md',
      'alerts.md',
      'dashboard.md',
      'people.md',
      'share-a-report.md',
      'use-the-api.md',
      'deliveries.md',
      'streams.md',
      'webhooks.md',
      'slack.md',
    ],
  },
  {
    title: 'Run it',
    pages: [
      'operations.md',
      'data.md',
      'runbooks.md',
      'kafka.md',
      'redis.md',
      'clickhouse.md',
      'clickhouse-views.md',
      '/SECURITY.md',
    ],
  },
  {
    title: 'Reference',
    pages: [
      'api.md',
      'dashboard-api.md',
      'errors.md',
      'limits.md',
      'kafka-topics.md',
      'roles.md',
      'resources.md',
      'conditions.md',
      'settings.md',
      'chart-values.md',
      'receipts.md',
      'versions.md',
      '/CHANGELOG.md',
    ],
  },
  { title: 'Evidence', pages: ['performance.md', 'evidence.md'] },
  { title: 'Change it', pages: ['/ARCHITECTURE.md', '/CONTRIBUTING.md', 'add-a-provider.md'] },
]

/** Where a page of the list lies in the repository. */
export function fileOf(page: string): string {
  return page.startsWith('/') ? page.slice(1) : `docs/${page}`
}
