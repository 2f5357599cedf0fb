/** Google Ads, called through the Data Manager API. */

import { days, digits, secretName } from './block-parts.ts'
import type { ProviderDescriptor } from './descriptor.ts'
import { plainDigits, guideSecret, guideSetting } from './guide.ts'

/** From a number, a resource name (`customers/1/conversionActions/42`), or an address of the page with `ctId=42`. */
const conversionAction = (pasted: string): string =>
  /conversionActions\/(\d+)/.exec(pasted)?.[1] ?? /[?&#]ctId=(\d+)/.exec(pasted)?.[1] ?? pasted

export const googleAds = {
  id: 'google_ads',
  name: 'Google Ads',
  isAdvertising: true,
  // A click counts for at most 90 days, but its receipt expires after 30.
  maxAgeMs: days(30),
  dedupeMs: null,
  identifiers: {
    gclid: 'text',
    wbraid: 'text',
    gbraid: 'text',
    gcl_aw: 'text',
    session_attributes: 'long text',
    gad_source: 'text',
    gad_campaignid: 'text',
  },
  identifierWords: {
    wbraid: 'Click ID of an app campaign on the web.',
    gbraid: 'Click ID of an app campaign.',
    gcl_aw: "Click ID in Google's cookie `_gcl_aw`.",
    session_attributes:
      'Session attributes, as the Google tag gives them. Without them they are made from the landing.',
    gad_source: 'What Google adds to the address of an ad, as `gad_campaignid`; a part of the session attributes.',
    gad_campaignid: 'Likewise.',
  },
  clickParameters: ['gclid', 'wbraid', 'gbraid', 'dclid'],
  site: { source: 'google', category: 'search', names: ['google.*'], ads: { name: 'Google Ads', medium: 'cpc' } },
  block: {
    field: 'googleAds',
    schema: {
      type: 'object',
      description: 'A conversion action of Google Ads.',
      required: ['customerId', 'conversionActionId', 'credentialsRef'],
      properties: {
        customerId: { ...digits, description: 'The account that owns the conversion action.' },
        conversionActionId: { ...digits, description: 'The number of the conversion action, not its resource name.' },
        loginCustomerId: { ...digits, description: 'The manager account, if it is used for access.' },
        consent: {
          type: 'string',
          description:
            'What the visitors of this website consented to. If absent, consent is unspecified, and Google discards the event in Europe.',
          enum: ['Unspecified', 'NotPersonalized', 'Granted'],
        },
        credentialsRef: {
          type: 'object',
          description: 'A Secret with the keys client-id, client-secret and refresh-token, or service-account.json.',
          required: ['name'],
          properties: { name: secretName },
        },
      },
    },
    secret: {
      refField: 'credentialsRef',
      sets: [
        { 'client-id': 'clientId', 'client-secret': 'clientSecret', 'refresh-token': 'refreshToken' },
        { 'service-account.json': 'serviceAccountJson' },
      ],
    },
  },
  guide: {
    before: [
      'A conversion action of your own: Goals, Conversions, Summary, New conversion action, Import, CRMs, files or other data sources, Track conversions from clicks.',
      'Auto-tagging is on: Admin, Account settings, Auto-tagging.',
      'In the Google Cloud project of the credentials, the Data Manager API is enabled.',
    ],
    settings: [
      guideSetting({
        name: 'customerId',
        label: 'Customer ID',
        where: 'In Google Ads: at the top right, beside the name of the account that owns the conversion action.',
        example: '123-456-7890',
        meant: plainDigits,
      }),
      guideSetting({
        name: 'conversionActionId',
        label: 'Conversion action',
        where:
          'Open the conversion action: the number behind ctId= in the address of that page. The whole address will do.',
        example: '987654321',
        meant: conversionAction,
      }),
      guideSetting({
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
          guideSecret({
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
          guideSecret({
            name: 'client-id',
            label: 'Client ID',
            where: 'In Google Cloud: APIs and services, Credentials, your OAuth 2.0 client.',
            example: '1234-abc.apps.googleusercontent.com',
          }),
          guideSecret({
            name: 'client-secret',
            label: 'Client secret',
            where: 'On the same page.',
            example: 'GOCSPX-…',
          }),
          guideSecret({
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
  api: {
    url: 'https://datamanager.googleapis.com',
    setting: 'googleAdsUrl',
    what: 'the Google Data Manager API',
  },
  tokens: {
    url: 'https://oauth2.googleapis.com',
    setting: 'googleOauthUrl',
    what: 'Google sign-in, which issues access tokens',
  },
} as const satisfies ProviderDescriptor
