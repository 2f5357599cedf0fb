/** The steps of the set-up in words. The API says which are done; what there is to paste follows from the answers. */

import type { SetUpSnippet } from '../../domain/onboarding/snippet.ts'
import type { ShownInstallFilters } from '../data/installs.ts'
import type { ShownVisitFilters } from '../data/visits.ts'

export interface Step {
  /** As the API calls it. */
  readonly id: string
  readonly title: string
  /** What to do, or if there is nothing to do, what to look for. */
  readonly how: string
  /** Which texts of the set-up belong here, and what is said if the answers need none. */
  readonly pastes?: { readonly step: SetUpSnippet['step']; readonly none: string | null }
  /** What everybody pastes, whatever the answers. */
  readonly snippet?: { readonly what: string; readonly text: (website: string) => string }
  /** What `count` counts: singular and plural, to follow the number. */
  readonly counted: readonly [one: string, many: string]
  /** The list that holds what it counts, and its further filters. */
  readonly proof:
    | { readonly list: 'visits'; readonly more: ShownVisitFilters }
    | { readonly list: 'installs'; readonly more: ShownInstallFilters }
    | { readonly list: 'deliveries' | 'resources' }
}

export const STEPS: readonly Step[] = [
  {
    id: 'website_accepted',
    title: 'A website is registered',
    how: 'Visits are taken from its addresses alone. With kubectl or Git it is this object; change the address.',
    snippet: { what: 'the website', text: websiteYaml },
    pastes: { step: 'scan', none: null },
    counted: ['website', 'websites'],
    proof: { list: 'resources' },
  },
  {
    id: 'visit_seen',
    title: 'The script is on your website',
    how: 'Put it into your pages, publish them, then open one.',
    pastes: {
      step: 'script',
      none: 'No script can stand there. For pages of your own, choose their kind above as well: it can be pasted in addition.',
    },
    counted: ['visit', 'visits'],
    proof: { list: 'visits', more: {} },
  },
  {
    id: 'marker_activated',
    title: 'Browsers keep a marker',
    how: 'Nothing to paste: the script leaves it by itself. With tokens only there is none. Private windows and Safari keep none, so look with another browser.',
    counted: ['visit with a marker', 'visits with a marker'],
    proof: { list: 'visits', more: { step: 'activated' } },
  },
  {
    id: 'command_copied',
    title: 'Visitors copy the install command',
    how: 'Mark it, publish the page, then press its button. The page goes on showing the plain command; what is copied carries what the answers above say.',
    pastes: { step: 'command', none: 'Nothing to mark: this command can carry nothing from there.' },
    counted: ['visit with a copied command', 'visits with a copied command'],
    proof: { list: 'visits', more: { step: 'copied' } },
  },
  {
    id: 'hook_reached',
    title: 'The installer reports',
    how: 'It can neither end your installer nor hold it for more than seconds. Then install once, on the machine whose browser opened the page.',
    pastes: { step: 'report', none: null },
    counted: ['reported event', 'reported events'],
    proof: { list: 'installs', more: {} },
  },
  {
    id: 'install_matched',
    title: 'An install is matched to its visit',
    how: 'Nothing to paste: it follows from the steps before.',
    counted: ['matched install', 'matched installs'],
    proof: { list: 'installs', more: { kind: 'install', resolution: 'matched' } },
  },
  {
    id: 'provider_accepted',
    title: 'A provider takes what is delivered',
    how: 'Add a destination; Validate is the mode to begin with. The plan Free has none: whoever runs this service can set a larger one in the Organization.',
    snippet: { what: 'the destination', text: destinationYaml },
    counted: ['delivery', 'deliveries'],
    proof: { list: 'deliveries' },
  },
  {
    id: 'destination_live',
    title: 'A destination is live',
    how: 'Once deliveries are accepted, set its mode from Validate to Live. From then on they count at the provider.',
    snippet: { what: 'the mode', text: () => 'mode: Live' },
    counted: ['live destination', 'live destinations'],
    proof: { list: 'resources' },
  },
]

function websiteYaml(): string {
  return [
    'apiVersion: whence.dev/v1alpha1',
    'kind: Website',
    'metadata: { name: my-website }',
    'spec:',
    '  organizationRef: { name: my-organization }',
    '  primaryOrigin: https://www.example.com',
  ].join('\n')
}

function destinationYaml(website: string): string {
  return [
    'apiVersion: v1',
    'kind: Secret',
    'metadata: { name: my-ga4 }',
    'stringData: { api-secret: your-api-secret }',
    '---',
    'apiVersion: whence.dev/v1alpha1',
    'kind: Destination',
    'metadata: { name: my-ga4 }',
    'spec:',
    `  websiteRef: { name: ${website} }`,
    '  provider: ga4',
    '  mode: Validate',
    '  ga4:',
    '    measurementId: G-XXXXXXXXXX',
    '    apiSecretRef: { name: my-ga4, key: api-secret }',
  ].join('\n')
}
