/** Every export of a file is imported. Each check is first tried on something that it must refuse. */

import { expect } from 'chai'

import { unusedExports, unusedValues } from './exports.ts'
import { ENTRIES } from './imports.ts'
import { PRODUCT_FOLDERS, sourceFiles } from './source-files.ts'

const sample = (path: string, text: string) => ({ path, text })

/** Parts of a file that a test looks at by themselves, since by way of the whole it would see too little of them. */
const FOR_TESTS: readonly string[] = [
  'api/openapi/words.ts#FIELD_WORDS',
  'dashboard/billing/reconcile.ts#reconcilePlans',
  'dashboard/people/expired.ts#deleteExpired',
  'delivery/facts-writer/facts-writer.ts#restAfter',
  'delivery/retention.ts#deleteOlder',
  'delivery/rollup/rollup.ts#rollUp',
  'delivery/version-guard.ts#HOLD_MS',
  'domain/collection/hook-script.ts#HOOK_BLOCK_LINES',
  'domain/collection/install.ts#gaOf',
  'domain/delivery/attempts.ts#MAX_ATTEMPTS',
  'domain/delivery/attempts.ts#backoffMs',
  'domain/delivery/attempts.ts#retryAfterMs',
  'domain/model.ts#RECEIPT_VERDICTS',
  'domain/privacy/redact.ts#redactText',
  'domain/reasons.ts#ACTIVITY_TYPES',
  'operator/apply/publisher.ts#createPublisher',
  'ports/facts/engine/self-test.ts#EngineUnfit',
  'ports/facts/engine/self-test.ts#changedSettings',
  'ports/facts/migrate.ts#MigrationRefused',
  'ports/shared/lmdb/committer.ts#StorageFailed',
  'runtime/catalog/folder-watch.ts#settleFiles',
  'runtime/catalog/source.ts#CatalogRefused',
  'runtime/keyring.ts#SecretProblem',
  'runtime/keyring.ts#hmacSha256',
  'runtime/logger.ts#withoutSecrets',
  'runtime/logger.ts#redactValue',
  'runtime/logger.ts#textLine',
  'stand-ins/google-ads.ts#checkGoogleAdsRequest',
  'stand-ins/meta.ts#checkMetaRequest',
  'stand-ins/tiktok.ts#checkTiktokRequest',
  'stand-ins/x.ts#checkXRequest',
]

describe('exports', () => {
  it('without an import are found, in every form', () => {
    const a = sample(
      'api/a.ts',
      'export const one = 1, two = 2\nexport function three() {}\nexport class Four {}\nexport interface Five {}\nexport type Six = 6\nconst own = 7',
    )
    const all = ['one', 'two', 'three', 'Four', 'Five', 'Six'].map((name) => `api/a.ts#${name}`)
    expect(unusedExports([a], [])).to.deep.equal(all)
    expect(unusedValues([a], [])).to.deep.equal(all.slice(0, 4))
    const user = sample(
      'api/b.ts',
      "import { one as uno, type Five } from './a.ts'\nexport { three } from './a.ts'\ntype X = import('./a.ts').Six",
    )
    expect(unusedExports([a], [user])).to.deep.equal(['api/a.ts#two', 'api/a.ts#Four'])
    expect(unusedExports([a], [sample('api/b.ts', "import './a.ts'")])).to.deep.equal(all)
    expect(unusedExports([a], [sample('bin/b.ts', "const a = await import('../api/a.ts')")])).to.deep.equal([])
    expect(unusedExports([a], [sample('bin/b.ts', "import * as a from '../api/a.ts'")])).to.deep.equal([])
  })

  const product = sourceFiles(PRODUCT_FOLDERS, ['.ts', '.tsx'])
  const programs = sourceFiles(['bench', 'tools', 'examples'], ['.ts'])
  const isEntry = (each: string): boolean => ENTRIES.includes(each.split('#')[0] ?? '')

  it('of the product are imported by another file', () => {
    const tests = sourceFiles(['test', 'fixtures'], ['.ts', '.tsx'])
    expect(unusedExports(product, [...programs, ...tests]).filter((each) => !isEntry(each))).to.deep.equal([])
  })

  it('of values exist only for tests if the list says so', () => {
    expect(unusedValues(product, programs).filter((each) => !isEntry(each))).to.have.members(FOR_TESTS)
  })
})
