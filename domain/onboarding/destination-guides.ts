/** How a destination is connected, provider by provider: which values to fetch, where they stand in the provider's own words, and how a pasted one is read. */

import { hasInvisible, withoutEdges } from '../schema/pasted-text.ts'
import { isObject } from '../strict-json.ts'
import { PROVIDER_DESCRIPTORS, type ProviderId } from '../providers/index.ts'

/** A value that a person fetches. */
export interface GuideField {
  /** Of a setting: its name in the provider's block. Of a secret: its key in a Secret. */
  readonly name: string
  readonly label: string
  /** Where it stands, in the provider's words. */
  readonly where: string
  readonly example: string
  readonly isSecret: boolean
  readonly isOptional?: true
  /** It has several lines. */
  readonly isLong?: true
  /** What is meant by what people paste, its edges aside. */
  readonly meant?: (pasted: string) => string
}

/** One of several sets of values that a provider takes. */
export interface GuideWay {
  readonly title: string
  readonly fields: readonly GuideField[]
}

export interface DestinationGuide {
  readonly provider: ProviderId
  /** What must be there before, a sentence each. */
  readonly before: readonly string[]
  /** The settings, which every way needs. */
  readonly settings: readonly GuideField[]
  /** Of credentials; one of them is chosen if there are several. */
  readonly ways: readonly [GuideWay, ...GuideWay[]]
  /** What to look at once it is live, a sentence each. */
  readonly after: readonly string[]
}

const setting = (field: Omit<GuideField, 'isSecret'>): GuideField => ({ ...field, isSecret: false })
const secret = (field: Omit<GuideField, 'isSecret'>): GuideField => ({ ...field, isSecret: true })

const plainDigits = (pasted: string): string => pasted.replace(/[\s-]/g, '')

/** From a number, a resource name (`customers/1/conversionActions/42`), or an address of the page with `ctId=42`. */
const conversionAction = (pasted: string): string =>
  /conversionActions\/(\d+)/.exec(pasted)?.[1] ?? /[?&#]ctId=(\d+)/.exec(pasted)?.[1] ?? pasted

export const DESTINATION_GUIDES: readonly DestinationGuide[] = [
  {
    provider: 'ga4',
    before: [
      'Your website carries the Google tag of the stream: it sets the cookie by which GA4 knows a visitor.',
      'Under Admin, Custom definitions, add install_path, platform and install_kind with the scope Event: GA4 shows parameters only then.',
    ],
    settings: [
      setting({
        name: 'measurementId',
        label: 'Measurement ID',
        where: 'In Google Analytics: Admin, Data collection and modification, Data streams, your web stream.',
        example: 'G-ABC1234567',
        meant: (pasted) => pasted.toUpperCase(),
      }),
    ],
    ways: [
      {
        title: 'An API secret',
        fields: [
          secret({
            name: 'api-secret',
            label: 'Secret value',
            where: 'On the page of that stream: Measurement Protocol API secrets, Create.',
            example: 'AbCdEfGhIjKlMnOpQrStUv',
          }),
        ],
      },
    ],
    after: [
      'Reports, Realtime shows install_completed within seconds, other reports within a day.',
      'With the first install, mark install_completed as a key event under Admin, Events.',
    ],
  },
  {
    provider: 'google_ads',
    before: [
      'A conversion action of your own: Goals, Conversions, Summary, New conversion action, Import, CRMs, files or other data sources, Track conversions from clicks.',
      'Auto-tagging is on: Admin, Account settings, Auto-tagging.',
      'In the Google Cloud project of the credentials, the Data Manager API is enabled.',
    ],
    settings: [
      setting({
        name: 'customerId',
        label: 'Customer ID',
        where: 'In Google Ads: at the top right, beside the name of the account that owns the conversion action.',
        example: '123-456-7890',
        meant: plainDigits,
      }),
      setting({
        name: 'conversionActionId',
        label: 'Conversion action',
        where:
          'Open the conversion action: the number behind ctId= in the address of that page. The whole address will do.',
        example: '987654321',
        meant: conversionAction,
      }),
      setting({
        name: 'loginCustomerId',
        label: 'Customer ID of the manager account',
        where: 'Only if you reach the account through a manager account (MCC): its number at the top right.',
        example: '111-222-3333',
        isOptional: true,
        meant: plainDigits,
      }),
    ],
    ways: [
      {
        title: 'A service account',
        fields: [
          secret({
            name: 'service-account.json',
            label: 'Key file',
            where:
              'In Google Cloud: IAM and admin, Service accounts, your account, Keys, Add key, JSON; paste the whole file. Then add the address of the service account as a user in Google Ads: Admin, Access and security.',
            example: '{ "type": "service_account", … }',
            isLong: true,
          }),
        ],
      },
      {
        title: 'An OAuth client',
        fields: [
          secret({
            name: 'client-id',
            label: 'Client ID',
            where: 'In Google Cloud: APIs and services, Credentials, your OAuth 2.0 client.',
            example: '1234-abc.apps.googleusercontent.com',
          }),
          secret({
            name: 'client-secret',
            label: 'Client secret',
            where: 'On the same page.',
            example: 'GOCSPX-…',
          }),
          secret({
            name: 'refresh-token',
            label: 'Refresh token',
            where:
              'Of a user with access to the account, granted to that client for the scope https://www.googleapis.com/auth/datamanager. A token for the scope adwords alone is refused.',
            example: '1//0abc…',
          }),
        ],
      },
    ],
    after: [
      'Goals, Conversions, Summary shows the action as recording conversions, some hours after the first install.',
    ],
  },
  {
    provider: 'meta',
    before: ['A dataset (pixel) in Events Manager, whose pixel is on your website.'],
    settings: [
      setting({
        name: 'pixelId',
        label: 'Dataset ID',
        where: 'In Events Manager: Datasets, your dataset, Settings.',
        example: '1234567890123456',
        meant: plainDigits,
      }),
      setting({
        name: 'testEventCode',
        label: 'Test event code',
        where:
          'In Events Manager: your dataset, Test events, Server. A trial is shown there; without a code it is only checked here.',
        example: 'TEST12345',
        isOptional: true,
      }),
    ],
    ways: [
      {
        title: 'An access token',
        fields: [
          secret({
            name: 'access-token',
            label: 'Access token',
            where:
              'In the same Settings: Conversions API, Set up with Dataset Quality API or manually, Generate access token.',
            example: 'EAAB…',
          }),
        ],
      },
    ],
    after: [
      'Events Manager, Overview shows CLIInstall, received from the server, within half an hour.',
      'Make a custom conversion from CLIInstall to optimise campaigns for it.',
    ],
  },
  {
    provider: 'tiktok',
    before: ['A pixel in Events Manager (Web), which is on your website.'],
    settings: [
      setting({
        name: 'pixelCode',
        label: 'Pixel ID',
        where: 'In TikTok Ads Manager: Tools, Events, Web events, Manage; below the name of the pixel.',
        example: 'C4ABCDE1234567890XYZ',
        meant: (pasted) => pasted.toUpperCase(),
      }),
      setting({
        name: 'testEventCode',
        label: 'Test event code',
        where: 'On the page of the pixel: Test events. A trial is shown there; without a code it is only checked here.',
        example: 'TEST12345',
        isOptional: true,
      }),
    ],
    ways: [
      {
        title: 'An access token',
        fields: [
          secret({
            name: 'access-token',
            label: 'Access token',
            where: 'On the page of the pixel: Settings, Events API, Generate access token.',
            example: '0123456789abcdef…',
          }),
        ],
      },
    ],
    after: ['The page of the pixel, Overview, shows Download from the server, some minutes after the first install.'],
  },
  {
    provider: 'x',
    before: ['A conversion event in Events Manager: Add events, with the type Download or Custom.'],
    settings: [
      setting({
        name: 'pixelId',
        label: 'Pixel ID',
        where: 'In X Ads: Tools, Events Manager, your event source.',
        example: 'o87ne',
      }),
      setting({
        name: 'eventId',
        label: 'Event ID',
        where: 'There, the ID of the event: tw, the pixel, and a name of its own.',
        example: 'tw-o87ne-abc12',
      }),
    ],
    ways: [
      {
        title: 'A pixel token',
        fields: [
          secret({
            name: 'pixel-token',
            label: 'Access token',
            where: 'In Events Manager: Install pixel, Manual, Conversions API, Generate access token.',
            example: 'abc123…',
          }),
        ],
      },
    ],
    after: ['Events Manager shows the event as active within a day of the first install.'],
  },
]

/** A value as it was meant, or what is wrong with it: completes a sentence that begins with the label. */
export type ReadValue = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly why: string }

/** Without what came along when it was pasted: space around it, quotes, hyphens of a number. */
export function readPasted(provider: ProviderId, field: GuideField, pasted: string): ReadValue {
  const bare = withoutEdges(pasted).replace(/^(["'`])(.*)\1$/s, '$2')
  const value = field.meant?.(bare) ?? bare
  if (value === '') return field.isOptional === true ? { ok: true, value } : { ok: false, why: 'is missing' }
  const why = field.isSecret ? faultOfSecret(field, value) : faultOfSetting(provider, field, value)
  return why === null ? { ok: true, value } : { ok: false, why }
}

/** By the pattern and length of the block's schema, without a validator: browsers run this. */
function faultOfSetting(provider: ProviderId, { name }: GuideField, value: string): string | null {
  const { pattern, patternMeaning, maxLength } = PROVIDER_DESCRIPTORS[provider].block.schema.properties?.[name] ?? {}
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) return patternMeaning ?? 'does not fit'
  return maxLength !== undefined && value.length > maxLength ? `must have at most ${maxLength} characters` : null
}

function faultOfSecret({ isLong }: GuideField, value: string): string | null {
  if (isLong === true) return isKeyFile(value) ? null : 'must be the whole JSON file, with client_email and private_key'
  if (hasInvisible(value) || value.includes(' ')) return 'must not have spaces or line breaks in it'
  return null
}

function isKeyFile(text: string): boolean {
  try {
    const file: unknown = JSON.parse(text)
    return isObject(file) && [file['client_email'], file['private_key']].every((each) => typeof each === 'string')
  } catch {
    return false
  }
}
