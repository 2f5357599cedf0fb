/** Fills the tables of an embedded service that does not run: `node bench/support/fill-facts.ts FOLDER VISITS KEY_ID`. */

import { fillFolder, rollUpAll } from '../../fixtures/scale/fill.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'

const [folder = '', visits, keyId] = process.argv.slice(2)
const shape = { visits: Number(visits), untilMs: Date.now(), keyId: Number(keyId) }
await fillFolder(folder, shape)
const facts = clickhouseFacts(await openChdb(folder), { nowMs: Date.now })
await rollUpAll(facts, shape, console.log)
await facts.close()
